// Rows are kept with everything that the calls need of them. Then, for each group of calls, the
// numbers of the rows are sorted by partition and order, and each call is computed partition by
// partition.
#include "query/exec/window.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "json/compare.h"
#include "query/exec/window_functions.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

// The memory of a row's number in the sort, with the sort's own room, and of its place among its
// peers.
constexpr size_t kNumberBytes = 5 * sizeof(uint32_t);
// The memory that a call may use for a row in the frame: a node of a map.
constexpr size_t kFrameBytes = 80;

class Window final : public PlanNode {
 public:
  explicit Window(WindowOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    Value calls = Value::EmptyArray();
    for (const WindowGroup& group : options_.groups) {
      for (const WindowCall& call : group.calls) calls.Append(Value(call.text));
    }
    return Explained("Window", {{"calls", std::move(calls)}}, options_.input.get());
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const WindowOptions& options)
        : options_(options), input_(options.input->Start()), columns_(options.columns) {}

    void Open(Context& context) override {
      context.Release(std::exchange(charged_, 0));
      position_ = 0;
      Read(context);
      results_.assign(rows_->size() * options_.calls, Value());
      size_t first_call = 0;
      for (const WindowGroup& group : options_.groups) {
        if (context.failed()) return;
        ComputeGroup(context, group, first_call);
        first_call += group.calls.size();
      }
    }

    bool Next(Context& context) override {
      if (context.failed() || position_ >= rows_->size()) return false;
      keeper_->Restore(context, (*rows_)[position_]);
      Value* result = &results_[position_++ * options_.calls];
      for (const WindowGroup& group : options_.groups) {
        for (const WindowCall& call : group.calls) context.slot(call.slot) = std::move(*result++);
      }
      return true;
    }

   private:
    void Read(Context& context) {
      if (!keeper_) keeper_.emplace(context.layout(), options_.variables);
      rows_.emplace(keeper_->width());
      columns_.Clear();
      input_->Open(context);
      while (input_->Next(context)) {
        keeper_->Save(context, rows_->Add());
        ReadColumns(context, columns_.Add());
        const size_t last = rows_->size() - 1;
        const size_t bytes = rows_->held_bytes(last) + columns_.held_bytes(last) + kNumberBytes +
                             options_.calls * (sizeof(Value) + kFrameBytes);
        if (!Charge(context, bytes)) return;
      }
    }

    void ReadColumns(Context& context, Value* column) {
      for (const WindowGroup& group : options_.groups) {
        for (const ExprPtr& key : group.partition_by) *column++ = key->Get(context);
        for (const SortKey& key : group.order_by) *column++ = key.value->Get(context);
        for (const WindowCall& call : group.calls) {
          for (size_t i = 0; i < call.inputs.size(); ++i) {
            *column++ = i == call.filter ? Value(call.inputs[i]->IsTrue(context))
                                         : call.inputs[i]->Get(context);
          }
        }
      }
    }

    bool Charge(Context& context, size_t bytes) {
      charged_ += bytes;
      return context.Charge(bytes);
    }

    void ComputeGroup(Context& context, const WindowGroup& group, size_t first_call) {
      std::vector<KeyOrder> orders;
      for (const SortKey& key : group.order_by) orders.push_back(OrderOf(context, key));
      std::vector<uint32_t> numbers(rows_->size());
      std::iota(numbers.begin(), numbers.end(), 0);
      SortInRuns(context, numbers, [&](uint32_t a, uint32_t b) {
        const int compared = ComparePartitions(group, a, b);
        return compared != 0 ? compared < 0 : CompareOrder(group, orders, a, b) < 0;
      });
      size_t end = 0;
      for (size_t begin = 0; begin < numbers.size() && !context.failed(); begin = end) {
        end = begin + 1;
        while (end < numbers.size() && context.Tick() &&
               ComparePartitions(group, numbers[begin], numbers[end]) == 0) {
          ++end;
        }
        const WindowPartition partition(group, orders,
                                        std::span(numbers).subspan(begin, end - begin), columns_);
        ComputePartition(context, group, partition, first_call);
      }
    }

    void ComputePartition(Context& context, const WindowGroup& group,
                          const WindowPartition& partition, size_t first_call) {
      for (size_t i = 0; i < group.calls.size(); ++i) {
        ComputeWindowCall(context, group.calls[i], partition, [&](size_t position, Value result) {
          if (result.is_array()) Charge(context, ApproximateBytes(result));
          const size_t row = partition.row(position);
          results_[row * options_.calls + first_call + i] = std::move(result);
        });
      }
    }

    int ComparePartitions(const WindowGroup& group, uint32_t a, uint32_t b) const {
      for (size_t i = 0; i < group.partition_by.size(); ++i) {
        const size_t column = group.first_column + i;
        const auto compared = json::Compare(columns_[a][column], columns_[b][column]);
        if (compared != 0) return compared < 0 ? -1 : 1;
      }
      return 0;
    }

    int CompareOrder(const WindowGroup& group, const std::vector<KeyOrder>& orders, uint32_t a,
                     uint32_t b) const {
      for (size_t i = 0; i < orders.size(); ++i) {
        const size_t column = group.first_column + group.partition_by.size() + i;
        const int compared = CompareKey(columns_[a][column], columns_[b][column], orders[i]);
        if (compared != 0) return compared;
      }
      return 0;
    }

    const WindowOptions& options_;
    std::unique_ptr<Operator> input_;
    std::optional<RowKeeper> keeper_;
    std::optional<KeptRows> rows_;
    KeptRows columns_;
    std::vector<Value> results_;  // of all calls, row by row
    size_t position_ = 0;
    size_t charged_ = 0;
  };

  const WindowOptions options_;
};

}  // namespace

PlanPtr MakeWindow(WindowOptions options) {
  size_t columns = 0;
  for (WindowGroup& group : options.groups) {
    group.first_column = columns;
    columns += group.partition_by.size() + group.order_by.size();
    for (WindowCall& call : group.calls) {
      call.first_column = columns;
      columns += call.inputs.size();
    }
    options.calls += group.calls.size();
  }
  options.columns = columns;
  return std::make_unique<Window>(std::move(options));
}

}  // namespace sluice::query
