#include "typing/migrated_documents.h"

namespace sluice::typing {

size_t MigratedDocuments::Entry::bytes() const {
  constexpr size_t kOverhead = 200;  // of the list, the map and three strings
  return kOverhead + key.size() + stored.size() + migrated.size();
}

std::optional<std::string> MigratedDocuments::Find(std::string_view key, std::string_view stored) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second->stored != stored) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->migrated;
}

void MigratedDocuments::Keep(std::string_view key, std::string_view stored,
                             std::string_view migrated) {
  Entry entry{std::string(key), std::string(stored), std::string(migrated)};
  if (entry.bytes() > max_bytes_) return;
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) Remove(found->second);
  bytes_ += entry.bytes();
  entries_.push_front(std::move(entry));
  by_key_.emplace(entries_.front().key, entries_.begin());
  while (bytes_ > max_bytes_) Remove(std::prev(entries_.end()));
}

void MigratedDocuments::Remove(Entries::iterator entry) {
  bytes_ -= entry->bytes();
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace sluice::typing
