#include "doctype_db/migrated_documents.h"

#include <functional>

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
  const auto cache = cache_.Lock();
  const auto found = cache->by_key.find(key);
  if (found == cache->by_key.end() || found->second->version != Version::Of(stored)) {
    return std::nullopt;
  }
  cache->entries.splice(cache->entries.begin(), cache->entries, found->second);
  return found->second->migrated;
}

void MigratedDocuments::Keep(std::string_view key, const db::DocumentView& stored,
                             std::string_view migrated) {
  const size_t bytes = BytesOf(key, migrated);
  if (stored.sequence == 0 || bytes > max_bytes_) return;
  const auto cache = cache_.Lock();
  if (const auto found = cache->by_key.find(key); found != cache->by_key.end()) {
    cache->Remove(found->second);
  } else if (cache->bytes + bytes > max_bytes_ && ++cache->asked % kTakenOneIn != 0) {
    return;
  }
  cache->bytes += bytes;
  cache->entries.push_front({std::string(key), Version::Of(stored), std::string(migrated)});
  cache->by_key.emplace(cache->entries.front().key, cache->entries.begin());
  while (cache->bytes > max_bytes_) cache->Remove(std::prev(cache->entries.end()));
}

void MigratedDocuments::Cache::Remove(Entries::iterator entry) {
  bytes -= BytesOf(entry->key, entry->migrated);
  by_key.erase(entry->key);
  entries.erase(entry);
}

}  // namespace sluice::doctype_db
