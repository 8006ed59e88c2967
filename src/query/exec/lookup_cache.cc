#include "query/exec/lookup_cache.h"

#include <algorithm>

namespace sluice::query {

LookupCache::LookupCache(const Layout& layout, size_t source)
    : source_(source),
      keeper_(layout, RowVariables{.slots = {}, .sources = {source}}),
      rows_(keeper_.width()) {}

const LookupCache::Kept* LookupCache::Find(std::string_view key) {
  if (useless_) return nullptr;
  ++lookups_;
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  ++hits_;
  return &found->second;
}

void LookupCache::Keep(Context& context, std::string_view key, bool found) {
  if (!useless_ && lookups_ == kTrial && hits_ * kLeastHits < lookups_) {
    useless_ = true;
    kept_.clear();
    rows_.Clear();
    context.Release(bytes_);
    bytes_ = 0;
  }
  // Values take about twice the text they come from.
  const size_t body = found ? 2 * context.source(source_).body.size() + rows_.row_bytes() : 0;
  const size_t bytes = kEntryBytes + key.size() + body;
  // The cache must never make a statement fail: the statement's own memory comes first.
  const MemoryBudget& memory = *context.options().memory;
  const bool room = bytes_ + bytes <= std::min(kMaxBytes, memory.limit() / kMemoryShare) &&
                    memory.used() + bytes <= memory.limit() / 2;
  if (useless_ || !room || !context.Charge(bytes)) return;
  bytes_ += bytes;
  Kept kept;
  if (found) {
    Value* row = rows_.Add();
    keeper_.Save(context, row);
    kept.row = row;
  }
  kept_.emplace(key, kept);
}

}  // namespace sluice::query
