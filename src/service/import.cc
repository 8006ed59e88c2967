#include "service/import.h"

#include <iterator>
#include <utility>

#include "service/documents.h"

namespace sluice::service {
namespace {

template <typename T>
void KeepFirst(uint64_t number, T what, std::map<uint64_t, T>* list) {
  list->emplace(number, std::move(what));
  if (list->size() > ImportOutcome::kMaxReported) list->erase(std::prev(list->end()));
}

}  // namespace

Import::Import(db::Database& database, ImportOptions options)
    : database_(database), options_(std::move(options)), window_(database) {}

void Import::Write(uint64_t number, db::Write write) {
  if (options_.insert) write.precondition = db::Precondition::Absent();
  const bool replaced = IsThere(write);
  db::Commit commit = CommitOf(database_, std::move(write));
  commit.actor = options_.actor;
  window_.Submit(std::move(commit), [this, number, replaced](const db::CommitResult& result) {
    if (result.status.ok()) {
      Done(number, result.writes.front(), replaced);
    } else {
      Fail(number, result.status);
    }
  });
}

void Import::Fail(uint64_t number, const Status& why) {
  const auto outcome = outcome_.Lock();
  ++outcome->failed;
  KeepFirst(number, why, &outcome->errors);
}

void Import::Done(uint64_t number, const db::WriteResult& written, bool replaced) {
  const auto outcome = outcome_.Lock();
  const bool stored = written.diverted_to.empty();
  if (replaced && stored) ++outcome->replaced;
  ++(stored ? outcome->imported : outcome->quarantined);
  if (written.violation.ok()) return;
  if (stored) ++outcome->violated;
  KeepFirst(number, written, &outcome->violations);
}

// Whether the key is there, or was given before: those are not all committed yet. Others who write
// at the same time may make it wrong.
bool Import::IsThere(const db::Write& write) {
  if (!keys_.insert(write.key).second) return true;
  db::PinnedDocument present;
  const auto found = database_.read_forms().GetStored(write.keyspace, write.key, &present);
  return found && *found;
}

ImportOutcome Import::Finish() {
  window_.Finish();
  return outcome_.Exchange({});
}

}  // namespace sluice::service
