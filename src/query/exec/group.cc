#include "query/exec/group.h"

#include <unordered_set>
#include <utility>

#include "json/compare.h"

namespace sluice::query {
namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;
constexpr size_t kGroupBytes = 64;
constexpr size_t kAccumulatorBytes = 64;

using ValueSet = std::unordered_set<Value, json::ValueHash>;

// Groups by their keys: open addressing over numbers of groups, whose keys lie in one vector.
class GroupTable {
 public:
  explicit GroupTable(size_t keys) : keys_(keys), buckets_(64, kNoGroup) {}

  size_t size() const { return hashes_.size(); }
  const Value* keys(size_t group) const { return &values_[group * keys_]; }

  // The group of these keys; `*added` tells whether it is new.
  size_t FindOrAdd(const Value* keys, bool* added) {
    const uint64_t hash = HashOf(keys);
    size_t bucket = hash & (buckets_.size() - 1);
    for (; buckets_[bucket] != kNoGroup; bucket = (bucket + 1) & (buckets_.size() - 1)) {
      const size_t group = buckets_[bucket];
      if (hashes_[group] == hash && Same(group, keys)) {
        *added = false;
        return group;
      }
    }
    *added = true;
    const size_t group = hashes_.size();
    buckets_[bucket] = static_cast<uint32_t>(group);
    hashes_.push_back(hash);
    values_.insert(values_.end(), keys, keys + keys_);
    if (hashes_.size() * 2 > buckets_.size()) Grow();
    return group;
  }

 private:
  uint64_t HashOf(const Value* keys) const {
    uint64_t hash = 0x51ED270B;
    for (size_t i = 0; i < keys_; ++i) {
      hash = (hash ^ json::HashValue(keys[i])) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash;
  }

  bool Same(size_t group, const Value* keys) const {
    for (size_t i = 0; i < keys_; ++i) {
      if (!json::Equal(values_[group * keys_ + i], keys[i])) return false;
    }
    return true;
  }

  void Grow() {
    buckets_.assign(buckets_.size() * 4, kNoGroup);
    for (size_t group = 0; group < hashes_.size(); ++group) {
      size_t bucket = hashes_[group] & (buckets_.size() - 1);
      while (buckets_[bucket] != kNoGroup) bucket = (bucket + 1) & (buckets_.size() - 1);
      buckets_[bucket] = static_cast<uint32_t>(group);
    }
  }

  size_t keys_;
  std::vector<uint32_t> buckets_;
  std::vector<uint64_t> hashes_;
  std::vector<Value> values_;
};

// The aggregates of one group.
struct GroupState {
  std::vector<std::unique_ptr<Accumulator>> accumulators;
  std::vector<std::unique_ptr<ValueSet>> distinct;
  std::vector<Value> items;  // GROUP AS
};

class Group final : public PlanNode {
 public:
  explicit Group(GroupOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    Value keys = Value::EmptyArray();
    for (const SlotAssignment& key : options_.keys) keys.Append(Value(key.name));
    Value aggregates = Value::EmptyArray();
    for (const AggregateExpr& aggregate : options_.aggregates) {
      aggregates.Append(Value(aggregate.text));
    }
    return Explained("Group", {{"by", std::move(keys)}, {"aggregates", std::move(aggregates)}},
                     options_.input.get());
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const GroupOptions& options)
        : options_(options),
          input_(options.input->Start()),
          table_(options.keys.size()),
          keys_(options.keys.size()) {}

    void Open(Context& context) override {
      context.Release(std::exchange(charged_, 0));
      table_ = GroupTable(options_.keys.size());
      groups_.clear();
      position_ = 0;
      input_->Open(context);
      while (input_->Next(context)) AddRow(context);
      if (options_.keys.empty() && groups_.empty()) AddGroup(context);
    }

    bool Next(Context& context) override {
      if (context.failed() || position_ >= groups_.size()) return false;
      const size_t group = position_++;
      for (size_t i = 0; i < options_.keys.size(); ++i) {
        context.slot(options_.keys[i].slot) = table_.keys(group)[i];
      }
      GroupState& state = groups_[group];
      for (size_t i = 0; i < options_.aggregates.size(); ++i) {
        context.slot(options_.aggregates[i].slot) = state.accumulators[i]->Finish(context);
      }
      if (options_.group_item != nullptr) {
        context.slot(options_.group_slot) = Value::Array(std::move(state.items));
      }
      return !context.failed();
    }

   private:
    GroupState& AddGroup(Context& context) {
      GroupState& state = groups_.emplace_back();
      for (const AggregateExpr& aggregate : options_.aggregates) {
        state.accumulators.push_back(aggregate.function->make());
        state.distinct.push_back(aggregate.distinct ? std::make_unique<ValueSet>() : nullptr);
      }
      Charge(context, kGroupBytes + options_.aggregates.size() * kAccumulatorBytes +
                          options_.keys.size() * 2 * sizeof(Value));
      return state;
    }

    void Charge(Context& context, size_t bytes) {
      charged_ += bytes;
      context.Charge(bytes);
    }

    void AddRow(Context& context) {
      if (options_.keys.empty()) {
        if (groups_.empty()) AddGroup(context);
        AddValues(context, groups_[0]);
        return;
      }
      for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = options_.keys[i].value->Get(context);
      bool added = false;
      const size_t group = table_.FindOrAdd(keys_.data(), &added);
      if (added) AddGroup(context);
      AddValues(context, groups_[group]);
    }

    void AddValues(Context& context, GroupState& state) {
      static const Value kNothing;
      for (size_t i = 0; i < options_.aggregates.size(); ++i) {
        const AggregateExpr& aggregate = options_.aggregates[i];
        if (aggregate.filter != nullptr && !aggregate.filter->IsTrue(context)) continue;
        Value scratch;
        const Value& value =
            aggregate.argument == nullptr ? kNothing : aggregate.argument->Eval(context, scratch);
        if (aggregate.distinct) {
          if (!state.distinct[i]->insert(value).second) continue;
          Charge(context, kGroupBytes);
        }
        const size_t before = state.accumulators[i]->bytes();
        state.accumulators[i]->Add(value);
        const size_t after = state.accumulators[i]->bytes();
        if (after > before) Charge(context, after - before);
      }
      if (options_.group_item != nullptr) {
        state.items.push_back(options_.group_item->Get(context));
        Charge(context, kGroupBytes);
      }
    }

    const GroupOptions& options_;
    std::unique_ptr<Operator> input_;
    GroupTable table_;
    std::vector<GroupState> groups_;
    std::vector<Value> keys_;
    size_t position_ = 0;
    size_t charged_ = 0;
  };

  const GroupOptions options_;
};

}  // namespace

PlanPtr MakeGroup(GroupOptions options) { return std::make_unique<Group>(std::move(options)); }

}  // namespace sluice::query
