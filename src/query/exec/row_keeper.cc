// A kept document: present?, key, then (if the statement asks for META()) cas, expiry, flags,
// datatype, xattrs, then the slots of both groups and the whole if it is used.
#include "query/exec/row_keeper.h"

#include <utility>

#include "query/value_size.h"

namespace sluice::query {
namespace {

constexpr size_t kMetaValues = 5;
constexpr uint8_t kAllLoaded = 3;

size_t WidthOf(const SourceLayout& source) {
  return 2 + (source.uses_meta ? kMetaValues : 0) + source.groups[0].paths.size() +
         source.groups[1].paths.size() + (source.whole ? 1 : 0);
}

}  // namespace

void RowVariables::Add(const RowVariables& other) {
  slots.insert(slots.end(), other.slots.begin(), other.slots.end());
  sources.insert(sources.end(), other.sources.begin(), other.sources.end());
}

void RowVariables::Clear(Context& context) const {
  for (const Slot slot : slots) context.slot(slot) = Value();
  for (const size_t source : sources) context.SetAbsent(source);
}

RowKeeper::RowKeeper(const Layout& layout, RowVariables variables)
    : layout_(layout), variables_(std::move(variables)), width_(variables_.slots.size()) {
  for (const size_t source : variables_.sources) width_ += WidthOf(layout_.sources()[source]);
}

void RowKeeper::Save(Context& context, Value* row) const {
  for (const Slot slot : variables_.slots) *row++ = context.slot(slot);
  for (const size_t source : variables_.sources) SaveSource(context, source, &row);
}

void RowKeeper::Restore(Context& context, const Value* row) const {
  for (const Slot slot : variables_.slots) context.slot(slot) = *row++;
  for (const size_t source : variables_.sources) RestoreSource(context, source, &row);
}

void RowKeeper::SaveSource(Context& context, size_t number, Value** out) const {
  const SourceLayout& layout = layout_.sources()[number];
  context.Load(number, GroupNumber::kFilter);
  context.Load(number, GroupNumber::kRest);
  const SourceRow& row = context.source(number);
  *(*out)++ = Value(row.present);
  *(*out)++ = Value(row.key);
  if (layout.uses_meta) {
    *(*out)++ = Value(static_cast<int64_t>(row.meta.cas));
    *(*out)++ = Value(static_cast<int64_t>(row.meta.expiry_ms));
    *(*out)++ = Value(row.meta.flags);
    *(*out)++ = Value(static_cast<int64_t>(row.meta.datatype));
    *(*out)++ = Value::Bytes(row.meta.xattrs);
  }
  for (const PathGroup& group : layout.groups) {
    for (const PathSlot& path : group.paths) *(*out)++ = context.slot(path.slot);
  }
  if (layout.whole) *(*out)++ = context.slot(layout.variable);
}

void RowKeeper::RestoreSource(Context& context, size_t number, const Value** in) const {
  const SourceLayout& layout = layout_.sources()[number];
  SourceRow& row = context.source(number);
  row = SourceRow{};
  row.loaded = kAllLoaded;
  row.present = (*in)++->AsBool();
  row.key = (*in)++->AsString();
  if (layout.uses_meta) {
    row.meta.cas = static_cast<db::Cas>((*in)++->AsInt());
    row.meta.expiry_ms = static_cast<uint64_t>((*in)++->AsInt());
    row.meta.flags = static_cast<uint32_t>((*in)++->AsInt());
    row.meta.datatype = static_cast<db::Datatype>((*in)++->AsInt());
    row.meta.xattrs = (*in)++->AsBytes();
  }
  for (const PathGroup& group : layout.groups) {
    for (const PathSlot& path : group.paths) context.slot(path.slot) = *(*in)++;
  }
  if (layout.whole) context.slot(layout.variable) = *(*in)++;
}

Value* KeptRows::Add() {
  if (size_ / kBlockRows >= blocks_.size()) blocks_.emplace_back(kBlockRows * width_);
  Value* row = &blocks_[size_ / kBlockRows][(size_ % kBlockRows) * width_];
  ++size_;
  return row;
}

size_t KeptRows::held_bytes(size_t index) const {
  size_t bytes = row_bytes();
  const Value* row = (*this)[index];
  for (size_t i = 0; i < width_; ++i) bytes += HeldBytes(row[i]);
  return bytes;
}

void KeptRows::Clear() {
  blocks_.clear();
  size_ = 0;
}

}  // namespace sluice::query
