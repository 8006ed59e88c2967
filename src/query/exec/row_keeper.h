// Keeps copies of rows for operators that hold many: the slots of some variables, and the used
// paths of documents. State of one operator of one run, on its thread.
#pragma once

#include <span>
#include <vector>

#include "query/exec/context.h"
#include "query/exec/layout.h"

namespace sluice::query {

// The variables that an operator sets.
struct RowVariables {
  std::vector<Slot> slots;      // values
  std::vector<size_t> sources;  // documents, by their number in the layout

  void Add(const RowVariables& other);
  // On the empty side of an outer join: MISSING.
  void Clear(Context& context) const;
};

class RowKeeper {
 public:
  RowKeeper(const Layout& layout, RowVariables variables);

  size_t width() const { return width_; }
  // `row` has width() values. Restored documents borrow from it: it must stay in place.
  void Save(Context& context, Value* row) const;
  void Restore(Context& context, const Value* row) const;

 private:
  void SaveSource(Context& context, size_t number, Value** out) const;
  void RestoreSource(Context& context, size_t number, const Value** in) const;

  const Layout& layout_;
  RowVariables variables_;
  size_t width_ = 0;
};

// Rows in blocks that do not move.
class KeptRows {
 public:
  explicit KeptRows(size_t width) : width_(width == 0 ? 1 : width) {}
  // A new row of MISSINGs.
  Value* Add();
  const Value* operator[](size_t index) const {
    return &blocks_[index / kBlockRows][(index % kBlockRows) * width_];
  }
  size_t size() const { return size_; }
  void Clear();
  // The approximate memory of one row: of any row without the content of its values, and of this
  // row.
  size_t row_bytes() const { return width_ * (sizeof(Value) + 16); }
  size_t held_bytes(size_t index) const;

 private:
  static constexpr size_t kBlockRows = 256;
  const size_t width_;
  size_t size_ = 0;
  std::vector<std::vector<Value>> blocks_;
};

}  // namespace sluice::query
