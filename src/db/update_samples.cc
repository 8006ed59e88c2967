#include "db/update_samples.h"

#include <algorithm>
#include <utility>

#include "db/database_impl.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxUpdates = 16;          // of one commit
constexpr size_t kMaxBodyBytes = 64 << 10;  // a larger document is not compared

bool IsUpdateOfJson(const Write& write) {
  return write.kind == Write::Kind::kPut && write.intent == Write::Intent::kChange &&
         write.document.datatype == Datatype::kJson &&
         write.document.body.size() <= kMaxBodyBytes &&
         write.precondition.kind != Precondition::Kind::kAbsent && !IsTableId(write.keyspace);
}

}  // namespace

void UpdateSamples::Note(const Commit& commit, const storage::Store& store) {
  Sample sample;
  size_t bytes = 0;
  for (size_t i = 0; i < std::min(commit.writes.size(), kMaxUpdates); ++i) {
    const Write& write = commit.writes[i];
    if (!IsUpdateOfJson(write)) continue;
    sample.updates.push_back({write.keyspace, write.key, write.document.body});
    bytes += write.document.body.size();
  }
  if (sample.updates.empty()) return;
  sample.before = store.NewSnapshot();
  const auto waiting = waiting_.Lock();
  if (waiting->samples.size() >= kMaxWaiting || waiting->bytes + bytes > kMaxBytes) return;
  waiting->bytes += bytes;
  waiting->samples.push_back(std::move(sample));
}

std::vector<UpdateSamples::Sample> UpdateSamples::Take() { return waiting_.Exchange({}).samples; }

void DatabaseImpl::CompareSamples() {
  const std::vector<UpdateSamples::Sample> taken = samples.Take();
  if (taken.empty()) return;
  const std::shared_ptr<const Catalog> now = CurrentCatalog();
  for (const UpdateSamples::Sample& sample : taken) {
    for (const UpdateSamples::Update& update : sample.updates) {
      PinnedDocument before;
      const std::string row = DocumentKey(ShardOf(update.keyspace, update.key, format.shards),
                                          update.keyspace, update.key);
      const Result<bool> found =
          store->Get(storage::Family::kDocs, row, before.value(), sample.before.get());
      if (!found || !*found || !before.Decode().ok()) continue;
      if (!before->LiveAt(clock.WallMs()) || before->body.size() > kMaxBodyBytes) continue;
      FieldChanges changes = ChangedFields(before->body, update.body);
      const KeyspaceInfo* const keyspace = now->Find(update.keyspace);
      if (keyspace == nullptr) continue;
      if (const auto& policy = keyspace->policy; policy != nullptr) {
        std::erase_if(changes.changed,
                      [&](const std::string& field) { return policy->IsStamp(field); });
      }
      traffic.Updated(update.keyspace, changes);
    }
  }
}

}  // namespace sluice::db
