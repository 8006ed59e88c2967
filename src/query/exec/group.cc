#include "query/exec/group.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "json/compare.h"
#include "query/exec/parallel.h"
#include "query/exec/row_keeper.h"
#include "query/exec/user_call.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;
// A value in a hash set: its node, and its place in the table.
constexpr size_t kSetBytes = 64;
// The memory of the table for a group besides its keys: the hash, with room for twice as many, and
// up to ten buckets while it grows.
constexpr size_t kTableBytes = 3 * sizeof(uint64_t) + 10 * sizeof(uint32_t);

using ValueSet = std::unordered_set<Value, json::ValueHash>;

// Groups by their keys: open addressing over numbers of groups, whose keys lie in one vector.
class GroupTable {
 public:
  explicit GroupTable(size_t keys) : keys_(keys), buckets_(64, kNoGroup), values_(keys) {}

  size_t size() const { return hashes_.size(); }
  const Value* keys(size_t group) const { return keys_ == 0 ? nullptr : values_[group]; }

  // The group of these keys; `*added` says whether it is new.
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
    std::copy_n(keys, keys_, values_.Add());
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
      if (!json::Equal(values_[group][i], keys[i])) return false;
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
  KeptRows values_;
};

// The aggregates of one group.
struct GroupState {
  std::vector<std::unique_ptr<Accumulator>> accumulators;
  std::vector<std::unique_ptr<ValueSet>> distinct;  // none when no aggregate is DISTINCT
  std::vector<Value> items;                         // GROUP AS
};

// Groups of rows, as one thread has seen them.
class Groups {
 public:
  explicit Groups(const GroupOptions& options)
      : options_(options),
        table_(options.keys.size()),
        keys_(options.keys.size()),
        has_distinct_(std::ranges::any_of(options.aggregates, &AggregateExpr::distinct)) {}

  size_t size() const { return groups_.size(); }
  const Value* keys(size_t group) const { return table_.keys(group); }
  GroupState& state(size_t group) { return groups_[group]; }
  size_t charged() const { return charged_; }

  void AddRow(Context& context) {
    for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = options_.keys[i].value->Get(context);
    AddValues(context, FindOrAdd(context, keys_.data()));
  }

  // Adds the groups that another thread made of later rows.
  void Merge(Context& context, Groups& other) {
    for (size_t group = 0; group < other.size() && !context.failed(); ++group) {
      GroupState& state = FindOrAdd(context, other.keys(group));
      GroupState& from = other.state(group);
      for (size_t i = 0; i < options_.aggregates.size(); ++i) {
        Change(context, *state.accumulators[i], [&](Accumulator& accumulator) {
          if (!options_.aggregates[i].distinct) {
            accumulator.Merge(*from.accumulators[i]);
            return;
          }
          for (const Value& value : *from.distinct[i]) {
            if (AddDistinct(context, state, i, value)) accumulator.Add(value);
          }
        });
      }
      for (Value& item : from.items) AddItem(context, state, std::move(item));
    }
  }

  // A statement without keys has one group, even without rows.
  void AddOnlyGroup(Context& context) {
    if (options_.keys.empty()) FindOrAdd(context, nullptr);
  }

 private:
  GroupState& FindOrAdd(Context& context, const Value* keys) {
    bool added = groups_.empty();
    const size_t group = options_.keys.empty() ? 0 : table_.FindOrAdd(keys, &added);
    return added ? AddGroup(context, keys) : groups_[group];
  }

  GroupState& AddGroup(Context& context, const Value* keys) {
    GroupState& state = groups_.emplace_back();
    size_t bytes = sizeof(GroupState) + kTableBytes + options_.keys.size() * sizeof(Value);
    for (size_t i = 0; i < options_.keys.size(); ++i) bytes += HeldBytes(keys[i]);
    state.accumulators.reserve(options_.aggregates.size());
    for (const AggregateExpr& aggregate : options_.aggregates) {
      state.accumulators.push_back(aggregate.user_function == nullptr
                                       ? aggregate.function->make()
                                       : MakeUserAccumulator(context, *aggregate.user_function));
      bytes += kPointerBytes + kMaxAccumulatorBytes + 2 * kAllocationBytes;
    }
    if (has_distinct_) {
      state.distinct.reserve(options_.aggregates.size());
      for (const AggregateExpr& aggregate : options_.aggregates) {
        state.distinct.push_back(aggregate.distinct ? std::make_unique<ValueSet>() : nullptr);
        bytes += kPointerBytes + 2 * kAllocationBytes + sizeof(ValueSet);
      }
    }
    Charge(context, bytes);
    return state;
  }

  void Charge(Context& context, size_t bytes) {
    charged_ += bytes;
    context.Charge(bytes);
  }

  void AddValues(Context& context, GroupState& state) {
    static const Value kNothing;
    for (size_t i = 0; i < options_.aggregates.size(); ++i) {
      const AggregateExpr& aggregate = options_.aggregates[i];
      if (aggregate.filter != nullptr && !aggregate.filter->IsTrue(context)) continue;
      Value scratch;
      const Value& value =
          aggregate.argument == nullptr ? kNothing : aggregate.argument->Eval(context, scratch);
      if (aggregate.distinct && !AddDistinct(context, state, i, value)) continue;
      Change(context, *state.accumulators[i],
             [&](Accumulator& accumulator) { accumulator.Add(value); });
    }
    if (options_.group_item != nullptr) {
      AddItem(context, state, options_.group_item->Get(context));
    }
  }

  template <typename Step>
  void Change(Context& context, Accumulator& accumulator, const Step& step) {
    const size_t before = accumulator.bytes();
    step(accumulator);
    const size_t after = accumulator.bytes();
    if (after > before) Charge(context, after - before);
  }

  // Whether the value is new to this aggregate of the group.
  bool AddDistinct(Context& context, GroupState& state, size_t aggregate, const Value& value) {
    if (!state.distinct[aggregate]->insert(value).second) return false;
    Charge(context, kSetBytes + HeldBytes(value));
    return true;
  }

  void AddItem(Context& context, GroupState& state, Value item) {
    state.items.push_back(std::move(item));
    Charge(context, 3 * sizeof(Value) + HeldBytes(state.items.back()));
  }

  static constexpr size_t kPointerBytes = sizeof(void*);

  const GroupOptions& options_;
  GroupTable table_;
  std::deque<GroupState> groups_;  // they do not move
  std::vector<Value> keys_;
  const bool has_distinct_;
  size_t charged_ = 0;
};

class Group final : public PlanNode {
 public:
  explicit Group(GroupOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(*this); }
  Value Explain() const override {
    Value keys = Value::EmptyArray();
    for (const SlotAssignment& key : options_.keys) keys.Append(Value(key.name));
    Value aggregates = Value::EmptyArray();
    for (const AggregateExpr& aggregate : options_.aggregates) {
      aggregates.Append(Value(aggregate.text));
    }
    const bool parallel = Divisible() && options_.input->Splittable();
    return Explained("Group",
                     {{"by", std::move(keys)},
                      {"aggregates", std::move(aggregates)},
                      {"parallel", parallel ? Value(true) : Value()}},
                     options_.input.get());
  }

 private:
  // Whether merged parts give the same result as one thread.
  bool Divisible() const {
    return std::ranges::none_of(options_.aggregates, [](const AggregateExpr& aggregate) {
      return aggregate.function->rounds_in_order;
    });
  }

  class Run final : public Operator, private PartReader {
   public:
    explicit Run(const Group& plan)
        : plan_(plan),
          options_(plan.options_),
          input_(options_.input->Start()),
          groups_(std::make_unique<Groups>(options_)) {}

    void Open(Context& context) override {
      context.Release(groups_->charged());
      position_ = 0;
      groups_ = std::make_unique<Groups>(options_);
      if (!plan_.Divisible() || !ReadInParts(context, *options_.input, *this)) {
        parts_.clear();
        groups_ = std::make_unique<Groups>(options_);
        input_->Open(context);
        while (input_->Next(context)) groups_->AddRow(context);
      }
      parts_.clear();
      groups_->AddOnlyGroup(context);
    }

    bool Next(Context& context) override {
      if (context.failed() || position_ >= groups_->size()) return false;
      const size_t group = position_++;
      for (size_t i = 0; i < options_.keys.size(); ++i) {
        context.slot(options_.keys[i].slot) = groups_->keys(group)[i];
      }
      GroupState& state = groups_->state(group);
      for (size_t i = 0; i < options_.aggregates.size(); ++i) {
        context.slot(options_.aggregates[i].slot) = state.accumulators[i]->Finish(context);
      }
      if (options_.group_item != nullptr) {
        context.slot(options_.group_slot) = Value::Array(std::move(state.items));
      }
      return context.Tick();
    }

   private:
    void Begin(size_t parts) override { parts_.resize(parts); }
    size_t Read(size_t part, Operator& input, Context& context) override {
      parts_[part] = std::make_unique<Groups>(options_);
      while (input.Next(context)) parts_[part]->AddRow(context);
      return parts_[part]->charged();
    }
    void Merge(size_t part, Context& context) override {
      std::unique_ptr<Groups> added = std::move(parts_[part]);
      if (part == 0) {
        groups_ = std::move(added);
        return;
      }
      groups_->Merge(context, *added);
      context.Release(added->charged());
    }

    const Group& plan_;
    const GroupOptions& options_;
    std::unique_ptr<Operator> input_;
    std::unique_ptr<Groups> groups_;
    std::vector<std::unique_ptr<Groups>> parts_;
    size_t position_ = 0;
  };

  const GroupOptions options_;
};

}  // namespace

PlanPtr MakeGroup(GroupOptions options) { return std::make_unique<Group>(std::move(options)); }

}  // namespace sluice::query
