// The rows of a partition, and which of them a row's frame has. State of one run, on its thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/exec/window.h"

namespace sluice::query {

// One partition in its order. A row is identified by its position in it. Peers are rows that are
// equal in the order, and a group is all peers of a row.
class WindowPartition {
 public:
  // `rows` are numbers of rows in `columns`.
  WindowPartition(const WindowGroup& group, std::span<const KeyOrder> orders,
                  std::span<const uint32_t> rows, const KeptRows& columns);

  size_t size() const { return rows_.size(); }
  uint32_t row(size_t position) const { return rows_[position]; }
  const Value& At(size_t position, size_t column) const {
    return columns_[rows_[position]][column];
  }
  const Value& Input(size_t position, const WindowCall& call, size_t input) const {
    return At(position, call.first_column + input);
  }
  // The value of the first ORDER BY term.
  const Value& Key(size_t position) const { return At(position, order_column_); }
  const KeyOrder& order() const { return orders_[0]; }

  size_t groups() const { return group_begin_.size() - 1; }
  size_t GroupOf(size_t position) const { return group_of_[position]; }
  size_t GroupBegin(size_t group) const { return group_begin_[group]; }
  size_t GroupEnd(size_t group) const { return group_begin_[group + 1]; }
  size_t PeersBegin(size_t position) const { return GroupBegin(GroupOf(position)); }
  size_t PeersEnd(size_t position) const { return GroupEnd(GroupOf(position)); }

 private:
  bool ArePeers(size_t a, size_t b) const;

  std::span<const KeyOrder> orders_;
  std::span<const uint32_t> rows_;
  const KeptRows& columns_;
  size_t order_column_;
  std::vector<uint32_t> group_of_;
  std::vector<uint32_t> group_begin_;  // and the end of the last
};

// Positions from `begin` to before `end`, without those from `out_begin` to before `out_end`, of
// which `kept` is in after all.
struct Frame {
  size_t begin = 0;
  size_t end = 0;
  size_t out_begin = 0;
  size_t out_end = 0;
  size_t kept = SIZE_MAX;

  bool operator==(const Frame&) const = default;
  bool Has(size_t position) const {
    return position < out_begin || position >= out_end || position == kept;
  }
  // Whether some of it is left out.
  bool HasHoles() const { return out_begin < out_end; }
};

// Finds the frames of one call in one partition.
class FrameFinder {
 public:
  FrameFinder(const WindowCall& call, const WindowPartition& partition);
  // Fails the run when an offset is not as it should be.
  Frame Find(Context& context, size_t position) const;

 private:
  size_t BeginOf(Context& context, size_t position) const;
  size_t EndOf(Context& context, size_t position) const;
  // The offset of a bound; rows and groups are counted.
  size_t Count(Context& context, size_t position, size_t input) const;
  const Value& Distance(Context& context, size_t position, size_t input) const;
  // The first position whose key is not before (`past`: is behind) the one that is `distance` away.
  enum class Side : uint8_t { kNotBefore, kBehind };
  size_t FindKey(size_t position, const Value& distance, bool preceding, Side side) const;
  void Exclude(size_t position, Frame* frame) const;

  const WindowCall& call_;
  const WindowPartition& partition_;
  // The range of positions whose keys are numbers, for RANGE with an offset.
  size_t numbers_begin_ = 0;
  size_t numbers_end_ = 0;
};

}  // namespace sluice::query
