// What migrations in JavaScript made of documents, for the next reader of the same one: a script
// costs as much as ten reads. Bounded in bytes; those that were not asked for longest go first.
//
// An entry is found by a document's key and whole text, so it can't be out of date. Any thread.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice::typing {

class MigratedDocuments {
 public:
  explicit MigratedDocuments(size_t max_bytes) : max_bytes_(max_bytes) {}

  std::optional<std::string> Find(std::string_view key, std::string_view stored);
  void Keep(std::string_view key, std::string_view stored, std::string_view migrated);

  size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    std::string key;
    std::string stored;
    std::string migrated;
    size_t bytes() const;
  };
  using Entries = std::list<Entry>;
  void Remove(Entries::iterator entry);  // needs the mutex

  const size_t max_bytes_;
  mutable std::mutex mutex_;  // of all below
  Entries entries_;           // the last one used first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;
  size_t bytes_ = 0;
};

}  // namespace sluice::typing
