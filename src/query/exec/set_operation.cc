// UNION, INTERSECT, EXCEPT over results. ALL keeps repetitions: of INTERSECT as many as both sides
// have, of EXCEPT as many as the left has more. Without it each result comes once.
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json/compare.h"
#include "query/exec/steps.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

constexpr size_t kDistinctBytes = 96;

class SetOperationNode final : public PlanNode {
 public:
  explicit SetOperationNode(SetOperationOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    static constexpr std::string_view kNames[] = {"Union", "Intersect", "Except"};
    std::string name(kNames[static_cast<size_t>(options_.op)]);
    if (options_.all) name += "All";
    return Explained(
        name, {{"left", options_.left.root->Explain()}, {"right", options_.right.root->Explain()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const SetOperationOptions& options)
        : options_(options),
          left_(options.left.root->Start()),
          right_(options.right.root->Start()) {}

    void Open(Context& context) override {
      context.Release(std::exchange(charged_, 0));
      seen_.clear();
      right_counts_.clear();
      on_right_ = false;
      if (options_.op != SetOperator::kUnion) ReadRight(context);
      left_->Open(context);
    }

    bool Next(Context& context) override {
      while (NextInput(context)) {
        const Value& value = context.slot(options_.result);
        if (options_.op != SetOperator::kUnion && !Chosen(value)) continue;
        if (options_.all) return true;
        if (!seen_.insert(value).second) continue;
        return Keep(context, value);
      }
      return false;
    }

   private:
    bool NextInput(Context& context) {
      if (!on_right_) {
        if (left_->Next(context)) {
          context.slot(options_.result) = context.slot(options_.left.result);
          return true;
        }
        if (options_.op != SetOperator::kUnion || context.failed()) return false;
        on_right_ = true;
        right_->Open(context);
      }
      if (!right_->Next(context)) return false;
      context.slot(options_.result) = context.slot(options_.right.result);
      return true;
    }

    bool Keep(Context& context, const Value& value) {
      const size_t bytes = kDistinctBytes + HeldBytes(value);
      charged_ += bytes;
      return context.Charge(bytes);
    }

    void ReadRight(Context& context) {
      right_->Open(context);
      while (right_->Next(context)) {
        const Value& value = context.slot(options_.right.result);
        if (++right_counts_[value] == 1 && !Keep(context, value)) return;
      }
    }

    bool Chosen(const Value& value) {
      const bool keep_found = options_.op == SetOperator::kIntersect;
      const auto found = right_counts_.find(value);
      if (found == right_counts_.end() || found->second == 0) return !keep_found;
      if (options_.all) --found->second;
      return keep_found;
    }

    const SetOperationOptions& options_;
    std::unique_ptr<Operator> left_;
    std::unique_ptr<Operator> right_;
    bool on_right_ = false;
    size_t charged_ = 0;
    std::unordered_set<Value, json::ValueHash> seen_;
    std::unordered_map<Value, size_t, json::ValueHash> right_counts_;
  };

  const SetOperationOptions options_;
};

}  // namespace

PlanPtr MakeSetOperation(SetOperationOptions options) {
  return std::make_unique<SetOperationNode>(std::move(options));
}

}  // namespace sluice::query
