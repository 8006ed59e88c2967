#include "doctype_db/migrated_documents.h"

#include <functional>

#include "base/mutex.h"

namespace sluice::doctype_db {

MigratedDocuments::Version MigratedDocuments::Version::Of(const db::DocumentView& stored) {
  return {stored.sequence, stored.cas, std::hash<std::string_view>()(stored.body)};
}

size_t MigratedDocuments::BytesOf(std::string_view key, std::string_view migrated) {
  constexpr size_t kOverhead = 200;  // of the list, the map and two strings
  return kOverhead + key.size() + migrated.size();
}

std::optional<std::string> MigratedDocuments::Find(std::string_view key,
                                                   const db::DocumentView& stored) {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second->version != Version::Of(stored)) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->migrated;
}

void MigratedDocuments::Keep(std::string_view key, const db::DocumentView& stored,
                             std::string_view migrated) {
  const size_t bytes = BytesOf(key, migrated);
  if (stored.sequence == 0 || bytes > max_bytes_) return;
  const MutexLock lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    Remove(found->second);
  } else if (bytes_ + bytes > max_bytes_ && ++asked_ % kTakenOneIn != 0) {
    return;
  }
  bytes_ += bytes;
  entries_.push_front({std::string(key), Version::Of(stored), std::string(migrated)});
  by_key_.emplace(entries_.front().key, entries_.begin());
  while (bytes_ > max_bytes_) Remove(std::prev(entries_.end()));
}

void MigratedDocuments::Remove(Entries::iterator entry) {
  bytes_ -= BytesOf(entry->key, entry->migrated);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace sluice::doctype_db
