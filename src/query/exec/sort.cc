// Sorted rows are keys, then the result. With a limit they form a heap whose top is the worst: a
// row that is not better is dropped before its result is made. Rows with equal keys stay in the
// order in which they came.
#include <algorithm>
#include <utility>

#include "query/exec/group.h"

namespace sluice::query {
namespace {

struct Row {
  std::vector<Value> keys;
  uint64_t number = 0;
  Value result;
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
    return Explained(
        "Sort",
        {{"by", std::move(keys)}, {"top", options_.limit != nullptr ? Value(true) : Value()}},
        options_.input.get());
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const SortOptions& options) : options_(options), input_(options.input->Start()) {}

    void Open(Context& context) override {
      context.Release(std::exchange(charged_, 0));
      rows_.clear();
      position_ = 0;
      orders_.clear();
      for (const SortKey& key : options_.keys) orders_.push_back(OrderOf(context, key));
      const uint64_t limit =
          options_.limit == nullptr ? UINT64_MAX : CountOf(context, *options_.limit, "LIMIT");
      skip_ = options_.offset == nullptr ? 0 : CountOf(context, *options_.offset, "OFFSET");
      keep_ = limit > UINT64_MAX - skip_ ? UINT64_MAX : limit + skip_;
      if (context.failed() || limit == 0) return;
      input_->Open(context);
      uint64_t number = 0;
      std::vector<Value> keys(options_.keys.size());
      while (input_->Next(context)) {
        for (size_t i = 0; i < keys.size(); ++i) keys[i] = options_.keys[i].value->Get(context);
        Offer(context, keys, number++);
        if (context.failed()) return;
      }
      std::ranges::sort(rows_, [this](const Row& a, const Row& b) { return Before(a, b); });
      position_ = std::min<uint64_t>(skip_, rows_.size());
    }

    bool Next(Context& context) override {
      if (context.failed() || position_ >= rows_.size()) return false;
      context.slot(options_.slot) = std::move(rows_[position_++].result);
      return true;
    }

   private:
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

    void Offer(Context& context, std::vector<Value>& keys, uint64_t number) {
      const auto worse = [this](const Row& a, const Row& b) { return Before(a, b); };
      if (rows_.size() >= keep_) {
        // The newcomer came later, so it must be better to get in.
        if (CompareKeys(keys, rows_.front().keys) >= 0) return;
        std::ranges::pop_heap(rows_, worse);
        Row& row = rows_.back();
        row.keys.swap(keys);
        row.number = number;
        row.result = options_.result->Get(context);
        std::ranges::push_heap(rows_, worse);
        keys.resize(orders_.size());
        return;
      }
      const size_t bytes = sizeof(Row) + (orders_.size() + 4) * sizeof(Value);
      charged_ += bytes;
      if (!context.Charge(bytes)) return;
      rows_.push_back({.keys = keys, .number = number, .result = options_.result->Get(context)});
      if (keep_ != UINT64_MAX) std::ranges::push_heap(rows_, worse);
    }

    const SortOptions& options_;
    std::unique_ptr<Operator> input_;
    std::vector<KeyOrder> orders_;
    std::vector<Row> rows_;
    uint64_t keep_ = 0;
    uint64_t skip_ = 0;
    uint64_t position_ = 0;
    size_t charged_ = 0;
  };

  const SortOptions options_;
};

}  // namespace

PlanPtr MakeSort(SortOptions options) { return std::make_unique<Sort>(std::move(options)); }

}  // namespace sluice::query
