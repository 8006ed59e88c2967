#include "query/exec/update_program.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "json/path.h"
#include "query/exec/held_values.h"

namespace sluice::query {
namespace {

// A place in the document: names and positions from its root.
using Steps = std::vector<json::PathStep>;

const Value& At(const Value& root, const Steps& steps) {
  static const Value kMissing;
  const Value* value = &root;
  for (const json::PathStep& step : steps) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      value = &(*value)[*name];
    } else {
      value = &(*value)[json::ResolveIndex(std::get<int64_t>(step), value->size())];
    }
    if (value->is_missing()) return kMissing;
  }
  return *value;
}

// The thing that holds the last step, or null.
Value* ParentOf(Value* root, const Steps& steps) {
  Value* value = root;
  for (size_t i = 0; i + 1 < steps.size() && value != nullptr; ++i) {
    if (const auto* name = std::get_if<std::string>(&steps[i])) {
      value = value->is_object() ? value->MutableField(*name) : nullptr;
    } else {
      const size_t at = json::ResolveIndex(std::get<int64_t>(steps[i]), value->size());
      value = value->is_array() && at < value->size() ? value->MutableItem(at) : nullptr;
    }
  }
  return value;
}

void SetAt(Value* root, const Steps& steps, Value value) {
  if (steps.empty()) {
    if (!value.is_missing()) *root = std::move(value);
    return;
  }
  Value* parent = ParentOf(root, steps);
  if (parent == nullptr) return;
  if (const auto* name = std::get_if<std::string>(&steps.back())) {
    if (parent->is_object()) parent->Set(*name, std::move(value));
    return;
  }
  const size_t at = json::ResolveIndex(std::get<int64_t>(steps.back()), parent->size());
  if (!parent->is_array() || at >= parent->size()) return;
  *parent->MutableItem(at) = value.is_missing() ? Value(nullptr) : std::move(value);
}

void RemoveAt(Value* root, const Steps& steps) {
  if (steps.empty()) return;
  Value* parent = ParentOf(root, steps);
  if (parent == nullptr) return;
  if (const auto* name = std::get_if<std::string>(&steps.back())) {
    if (parent->is_object()) parent->Remove(*name);
    return;
  }
  const size_t at = json::ResolveIndex(std::get<int64_t>(steps.back()), parent->size());
  if (parent->is_array() && at < parent->size()) parent->RemoveAt(at);
}

struct Place {
  Value name;
  Steps steps;
};

// Collects the places of the members of the value at `steps`; with `within`, of everything inside
// it.
class PlaceCollector {
 public:
  PlaceCollector(Context& context, HeldValues* held, bool within)
      : context_(context), held_(held), within_(within) {}

  void Collect(const Value& value, const Steps& steps) {
    int64_t position = 0;
    for (const Value& item : value.items()) {
      if (!Add(Value(position), json::PathStep(position), item, steps)) return;
      ++position;
    }
    for (const json::Field& field : value.fields()) {
      if (!Add(field.key, json::PathStep(std::string(field.name())), field.value, steps)) return;
    }
  }
  std::vector<Place> Take() { return std::move(places_); }

 private:
  bool Add(Value name, json::PathStep step, const Value& child, const Steps& steps) {
    Steps below = steps;
    below.push_back(std::move(step));
    if (!context_.Tick()) return false;
    if (!held_->AddBytes(2 * sizeof(Place) + below.size() * sizeof(json::PathStep))) return false;
    places_.push_back({std::move(name), below});
    if (within_) Collect(child, below);
    return !context_.failed();
  }

  Context& context_;
  HeldValues* const held_;
  const bool within_;
  std::vector<Place> places_;
};

}  // namespace

class UpdateProgram::Runner {
 public:
  Runner(Context& context, const Value& before) : context_(context), before_(before) {
    result_.document = before;
  }

  void Run(const UpdateAssignment& assignment) {
    if (assignment.expiration) {
      result_.expiry_ms = ExpiryOf(context_, assignment.value->Get(context_));
      return;
    }
    places_.clear();
    Loop(assignment, 0);
  }
  UpdateResult Take() { return std::move(result_); }

 private:
  void Loop(const UpdateAssignment& assignment, size_t level) {
    if (context_.failed()) return;
    if (level == assignment.loops.size()) {
      Assign(assignment);
      return;
    }
    const UpdateLoop& loop = assignment.loops[level];
    HeldValues held(context_);
    std::vector<std::vector<Place>> ranges(loop.ranges.size());
    size_t count = SIZE_MAX;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto steps = Resolve(loop.ranges[i].root, loop.ranges[i].steps);
      if (!steps) return;
      if (loop.ranges[i].itself) {
        ranges[i] = {{.name = Value(), .steps = *steps}};
        count = std::min(count, size_t{1});
        continue;
      }
      PlaceCollector places(context_, &held, loop.ranges[i].within);
      places.Collect(At(before_, *steps), *steps);
      ranges[i] = places.Take();
      count = std::min(count, ranges[i].size());
    }
    // From the end, so that an UNSET of an element does not move those still to come.
    for (size_t at = count; at-- > 0 && context_.Tick();) {
      for (size_t i = 0; i < ranges.size(); ++i) {
        const UpdateRange& range = loop.ranges[i];
        context_.slot(range.value) = At(before_, ranges[i][at].steps);
        if (range.name != 0) context_.slot(range.name) = ranges[i][at].name;
        places_[range.value] = ranges[i][at].steps;
      }
      if (loop.when == nullptr || loop.when->IsTrue(context_)) Loop(assignment, level + 1);
    }
  }

  // A target as steps from the document's root; nothing when a step is neither name nor position.
  std::optional<Steps> Resolve(Slot root, const std::vector<TargetStep>& targets) {
    Steps steps;
    if (root != 0) steps = places_[root];
    for (const TargetStep& target : targets) {
      if (const auto* name = std::get_if<std::string>(&target)) {
        steps.emplace_back(*name);
        continue;
      }
      const Value step = std::get<ExprPtr>(target)->Get(context_);
      if (step.is_string()) {
        steps.emplace_back(std::string(step.AsString()));
      } else if (step.is_int()) {
        steps.emplace_back(step.AsInt());
      } else {
        return std::nullopt;
      }
    }
    return steps;
  }

  void Assign(const UpdateAssignment& assignment) {
    const auto steps = Resolve(assignment.root, assignment.steps);
    if (!steps) return;
    if (assignment.value == nullptr) {
      RemoveAt(&result_.document, *steps);
    } else {
      SetAt(&result_.document, *steps, assignment.value->Get(context_));
    }
  }

  Context& context_;
  const Value before_;
  UpdateResult result_;
  std::map<Slot, Steps> places_;  // where the loops' variables are
};

UpdateResult UpdateProgram::Apply(Context& context, const Value& document) const {
  Runner runner(context, document);
  for (const UpdateAssignment& assignment : assignments_) runner.Run(assignment);
  return runner.Take();
}

std::optional<uint64_t> ExpiryOf(Context& context, const Value& seconds) {
  constexpr double kRelative = 30.0 * 24 * 3600;
  constexpr double kLatest = 253402300800.0;  // the year 10000
  if (!seconds.is_number() || !(seconds.ToDouble() <= kLatest)) {
    context.Fail(QueryError(QueryCode::kBadOptions,
                            "expiration takes a number of seconds, got a {}",
                            json::TypeName(seconds.type())));
    return std::nullopt;
  }
  const double number = seconds.ToDouble();
  if (number <= 0) return 0;
  const auto ms = static_cast<uint64_t>(number * 1000);
  return number < kRelative ? context.options().clock->WallMs() + ms : ms;
}

}  // namespace sluice::query
