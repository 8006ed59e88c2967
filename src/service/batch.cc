#include "service/batch.h"

#include <utility>

#include "service/commit_window.h"
#include "service/documents.h"
#include "service/whole_reads.h"

namespace sluice::service {

Status CheckBatchSize(size_t size, std::string_view what) {
  if (size <= kMaxBatch) return OkStatus();
  return Error(Code::kTooLarge, "batch.too_large", "a batch has at most {} {}", kMaxBatch, what);
}

Status ReadBatch(const db::Database& database, db::KeyspaceId keyspace,
                 const std::vector<std::string_view>& keys, const DocumentVisitor& visit) {
  NoteWholeRead(database, keyspace);
  const auto snapshot = database.NewSnapshot();
  for (const std::string_view key : keys) {
    RETURN_IF_ERROR(db::CheckKey(key));
    db::PinnedDocument document;
    const Result<bool> found = database.Get(keyspace, key, &document, snapshot.get());
    if (!found) {
      RETURN_IF_ERROR(visit(key, Unexpected(found.error())));
    } else {
      RETURN_IF_ERROR(visit(key, *found ? &document.view() : nullptr));
    }
  }
  return OkStatus();
}

Result<db::CommitResult> WriteTogether(db::Database& database, std::string actor,
                                       std::vector<db::Write> writes) {
  if (writes.empty()) return db::CommitResult();
  db::Commit commit;
  commit.actor = std::move(actor);
  commit.shard = database.ShardOf(writes[0].keyspace, writes[0].key);  // of any of them
  commit.writes = std::move(writes);
  db::CommitResult result = database.Apply(std::move(commit));
  if (result.status.ok()) return result;
  if (result.failed_write < 0) return Unexpected(result.status);
  return Unexpected(result.status.With("write", std::to_string(result.failed_write)));
}

std::vector<db::CommitResult> WriteEach(db::Database& database, const std::string& actor,
                                        std::vector<db::Write> writes) {
  std::vector<db::CommitResult> results(writes.size());
  CommitWindow window(database);
  for (size_t i = 0; i < writes.size(); ++i) {
    db::Commit commit = CommitOf(database, std::move(writes[i]));
    commit.actor = actor;
    window.Submit(std::move(commit),
                  [slot = &results[i]](db::CommitResult result) { *slot = std::move(result); });
  }
  window.Finish();
  return results;
}

}  // namespace sluice::service
