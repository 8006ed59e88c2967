// Sorted rows are keys, then the result. With a limit they form a heap whose top is the worst: a
// row that is not better is dropped before its result is made. Rows with equal keys stay in the
// order in which they came. Threads sort their parts of a scan, which then are merged.
#include <algorithm>
#include <utility>

#include "query/exec/group.h"
#include "query/exec/parallel.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

struct Row {
  std::vector<Value> keys;
  uint64_t number = 0;
  Value result;
};

// The vector of rows may have twice the room that it needs, and while it grows, half of that again.
constexpr size_t kSortedRowBytes = 3 * sizeof(Row);

size_t RowBytes(const Row& row) {
  size_t bytes = query::HeldBytes(row.result);
  for (const Value& key : row.keys) bytes += query::HeldBytes(key);
  return bytes;
}

// Rows of a scan, or of a part of it.
struct SortedRows {
  std::vector<Row> rows;
  uint64_t read = 0;  // rows that were looked at
  size_t charged = 0;
};

class Sort final : public PlanNode {
 public:
  explicit Sort(SortOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    Value keys = Value::EmptyArray();
    for (const SortKey& key : options_.keys) {
      keys.Append(Value(key.text + (key.descending ? " DESC" : "")));
    }
    return Explained("Sort",
                     {{"by", std::move(keys)},
                      {"top", options_.limit != nullptr ? Value(true) : Value()},
                      {"parallel", options_.input->Splittable() ? Value(true) : Value()}},
                     options_.input.get());
  }

 private:
  class Run final : public Operator, private PartReader {
   public:
    explicit Run(const SortOptions& options) : options_(options), input_(options.input->Start()) {}

    void Open(Context& context) override {
      context.Release(kept_.charged);
      kept_ = SortedRows();
      position_ = 0;
      orders_.clear();
      for (const SortKey& key : options_.keys) orders_.push_back(OrderOf(context, key));
      const uint64_t limit =
          options_.limit == nullptr ? UINT64_MAX : CountOf(context, *options_.limit, "LIMIT");
      const uint64_t skip =
          options_.offset == nullptr ? 0 : CountOf(context, *options_.offset, "OFFSET");
      keep_ = limit > UINT64_MAX - skip ? UINT64_MAX : limit + skip;
      if (context.failed() || limit == 0) return;
      if (!ReadInParts(context, *options_.input, *this)) {
        parts_.clear();
        kept_ = SortedRows();
        input_->Open(context);
        Collect(context, *input_, &kept_);
      }
      context.AddSorted(kept_.read);
      parts_.clear();
      position_ = std::min<uint64_t>(skip, kept_.rows.size());
    }

    bool Next(Context& context) override {
      if (context.failed() || position_ >= kept_.rows.size()) return false;
      context.slot(options_.slot) = std::move(kept_.rows[position_++].result);
      return context.Tick();
    }

   private:
    void Begin(size_t parts) override { parts_.resize(parts); }
    size_t Read(size_t part, Operator& input, Context& context) override {
      Collect(context, input, &parts_[part]);
      return parts_[part].charged;
    }
    // Among equal rows, those of earlier parts come first.
    void Merge(size_t part, Context&) override {
      SortedRows added = std::exchange(parts_[part], {});
      std::vector<Row>& rows = kept_.rows;
      const auto middle = static_cast<ptrdiff_t>(rows.size());
      rows.insert(rows.end(), std::make_move_iterator(added.rows.begin()),
                  std::make_move_iterator(added.rows.end()));
      std::inplace_merge(
          rows.begin(), rows.begin() + middle, rows.end(),
          [this](const Row& a, const Row& b) { return CompareKeys(a.keys, b.keys) < 0; });
      if (rows.size() > keep_) rows.resize(keep_);
      kept_.charged += added.charged;
      kept_.read += added.read;
    }

    // All rows of the input that may be among the first, sorted.
    void Collect(Context& context, Operator& input, SortedRows* kept) const {
      std::vector<Value> keys(options_.keys.size());
      while (!context.failed() && input.Next(context)) {
        for (size_t i = 0; i < keys.size(); ++i) keys[i] = options_.keys[i].value->Get(context);
        Offer(context, keys, kept->read++, kept);
      }
      if (context.failed()) return;
      SortInRuns(context, kept->rows, [this](const Row& a, const Row& b) { return Before(a, b); });
    }

    int CompareKeys(const std::vector<Value>& a, const std::vector<Value>& b) const {
      for (size_t i = 0; i < orders_.size(); ++i) {
        if (const int compared = CompareKey(a[i], b[i], orders_[i]); compared != 0) return compared;
      }
      return 0;
    }

    bool Before(const Row& a, const Row& b) const {
      const int compared = CompareKeys(a.keys, b.keys);
      return compared != 0 ? compared < 0 : a.number < b.number;
    }

    void Offer(Context& context, std::vector<Value>& keys, uint64_t number,
               SortedRows* kept) const {
      std::vector<Row>& rows = kept->rows;
      const auto worse = [this](const Row& a, const Row& b) { return Before(a, b); };
      if (rows.size() >= keep_) {
        // The newcomer came later, so it must be better to get in.
        if (CompareKeys(keys, rows.front().keys) >= 0) return;
        std::ranges::pop_heap(rows, worse);
        Row& row = rows.back();
        const size_t before = RowBytes(row);
        row.keys.swap(keys);
        row.number = number;
        row.result = options_.result->Get(context);
        const size_t after = RowBytes(row);
        std::ranges::push_heap(rows, worse);
        keys.resize(orders_.size());
        if (after <= before) return;
        kept->charged += after - before;
        context.Charge(after - before);
        return;
      }
      rows.push_back({.keys = keys, .number = number, .result = options_.result->Get(context)});
      const size_t bytes = kSortedRowBytes + orders_.size() * sizeof(Value) + kAllocationBytes +
                           RowBytes(rows.back());
      kept->charged += bytes;
      if (!context.Charge(bytes)) return;
      if (keep_ != UINT64_MAX) std::ranges::push_heap(rows, worse);
    }

    const SortOptions& options_;
    std::unique_ptr<Operator> input_;
    std::vector<KeyOrder> orders_;
    SortedRows kept_;
    std::vector<SortedRows> parts_;
    uint64_t keep_ = 0;
    uint64_t position_ = 0;
  };

  const SortOptions options_;
};

}  // namespace

PlanPtr MakeSort(SortOptions options) { return std::make_unique<Sort>(std::move(options)); }

}  // namespace sluice::query
