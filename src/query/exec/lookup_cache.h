// Documents that a join has looked up by key, for rows that ask for the same key again. Many rows
// often lead to few documents (orders to products); then each is read and taken apart once. Where
// keys hardly ever repeat, the cache notices and gives up.
//
// Belongs to one operator of one run, which must read the same for the same key all the time: a
// snapshot, not a transaction that writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "query/exec/context.h"
#include "query/exec/row_keeper.h"

namespace sluice::query {

class LookupCache {
 public:
  // `source`: whose documents, by its number in the layout.
  LookupCache(const Layout& layout, size_t source);

  struct Kept {
    const Value* row = nullptr;  // null: there is no such document
  };
  // Null when the key was not kept.
  const Kept* Find(std::string_view key);
  // Makes a kept document the present one. It must have a row.
  void Restore(Context& context, const Kept& kept) const { keeper_.Restore(context, kept.row); }
  // Keeps the result for the key, if there is room: the present document of the source, or that
  // there is no document.
  void Keep(Context& context, std::string_view key, bool found);

 private:
  // After kTrial lookups, at least one in kLeastHits must have been answered from the cache.
  static constexpr uint64_t kTrial = 1024;
  static constexpr uint64_t kLeastHits = 4;
  static constexpr size_t kMaxBytes = 16 << 20;
  // It takes at most 1 / kMemoryShare of the statement's memory.
  static constexpr size_t kMemoryShare = 8;
  // The approximate size of an entry without key and values.
  static constexpr size_t kEntryBytes = 96;

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  const size_t source_;
  const RowKeeper keeper_;
  KeptRows rows_;
  std::unordered_map<std::string, Kept, Hash, std::equal_to<>> kept_;
  uint64_t lookups_ = 0;
  uint64_t hits_ = 0;
  size_t bytes_ = 0;
  bool useless_ = false;
};

}  // namespace sluice::query
