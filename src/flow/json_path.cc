#include "flow/json_path.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "flow/text_form.h"
#include "json/compare.h"

namespace sluice::flow {

class JsonPathReader {
 public:
  explicit JsonPathReader(std::string_view text) : text_(text) {}

  Result<JsonPath> Read(Side side) {
    at_ = 1;
    while (at_ < text_.size()) {
      if (path_.parts_.size() >= JsonPath::kMaxSteps) return Bad("it has too many parts");
      RETURN_IF_ERROR(Next());
    }
    return Dataset(side);
  }

 private:
  using Part = JsonPath::Part;
  using Filter = JsonPath::Filter;

  std::unexpected<Status> Bad(std::string_view why) const {
    return Fail(Code::kInvalidArgument, "flow.bad_mapping",
                "'{}' is not a JSONPath: {} (character {})", text_, why, at_ + 1);
  }

  // The first part names a dataset.
  Result<JsonPath> Dataset(Side side) {
    struct Named {
      std::string_view name;
      Space space;
      bool input;
      bool output;
    };
    constexpr Named kNames[] = {{"input", Space::kInput, true, true},
                                {"model", Space::kModel, true, true},
                                {"error", Space::kError, true, false},
                                {"result", Space::kResult, false, true},
                                {"header", Space::kHeader, false, true}};
    if (!path_.parts_.empty()) {
      const Part& first = path_.parts_.front();
      for (const Named& named : kNames) {
        const bool here = side == Side::kInput ? named.input : named.output;
        if (!here || first.descend || first.keys.size() != 1 || first.keys[0] != named.name) {
          continue;
        }
        path_.space_ = named.space;
        path_.parts_.erase(path_.parts_.begin());
        return std::move(path_);
      }
    }
    return Bad("it must start with $.input, $.model or, after a task, $.result");
  }

  Status Next() {
    Part part;
    if (text_[at_] == '.') {
      ++at_;
      if (at_ < text_.size() && text_[at_] == '.') {
        part.descend = true;
        path_.definite_ = false;
        ++at_;
      }
      if (at_ < text_.size() && text_[at_] == '[' && part.descend) return Bracket(std::move(part));
      return Name(std::move(part));
    }
    if (text_[at_] == '[') return Bracket(std::move(part));
    return Bad("'.' or '[' is expected").error();
  }

  Status Name(Part part) {
    const size_t end = std::min(text_.find_first_of(".[", at_), text_.size());
    const std::string_view name = Trim(text_.substr(at_, end - at_));
    if (name.empty()) return Bad("a name is missing").error();
    at_ = end;
    if (name == "*") {
      part.kind = Part::Kind::kAll;
      path_.definite_ = false;
    } else {
      part.keys.emplace_back(name);
    }
    path_.parts_.push_back(std::move(part));
    return OkStatus();
  }

  Status Bracket(Part part) {
    const bool filter = text_.substr(at_).starts_with("[?(");
    const size_t close = filter ? text_.find(")]", at_) : text_.find(']', at_);
    if (close == text_.npos) return Bad("']' is missing").error();
    const std::string_view inside = Trim(filter ? text_.substr(at_ + 3, close - at_ - 3)
                                                : text_.substr(at_ + 1, close - at_ - 1));
    RETURN_IF_ERROR(filter ? ReadFilter(inside, &part) : ReadInside(inside, &part));
    at_ = close + (filter ? 2 : 1);
    path_.parts_.push_back(std::move(part));
    return OkStatus();
  }

  Status ReadInside(std::string_view inside, Part* part) {
    if (inside == "*") {
      part->kind = Part::Kind::kAll;
      path_.definite_ = false;
      return OkStatus();
    }
    if (inside.starts_with('\'') || inside.starts_with('"')) return ReadKeys(inside, part);
    if (const size_t colon = inside.find(':'); colon != inside.npos) {
      part->kind = Part::Kind::kSlice;
      path_.definite_ = false;
      if (colon > 0) {
        ASSIGN_OR_RETURN(part->from, Number(inside.substr(0, colon)));
      }
      if (colon + 1 < inside.size()) {
        ASSIGN_OR_RETURN(part->to, Number(inside.substr(colon + 1)));
      }
      return OkStatus();
    }
    part->kind = Part::Kind::kIndexes;
    for (const std::string_view each : SplitArguments(inside)) {
      ASSIGN_OR_RETURN(const int64_t index, Number(each));
      part->indexes.push_back(index);
    }
    if (part->indexes.size() > 1) path_.definite_ = false;
    return OkStatus();
  }

  Status ReadKeys(std::string_view inside, Part* part) {
    for (std::string_view each : SplitArguments(inside)) {
      each = Trim(each);
      if (each.size() < 2 || each.front() != each.back() ||
          (each.front() != '\'' && each.front() != '"')) {
        return Bad("a name in quotes is expected").error();
      }
      part->keys.emplace_back(each.substr(1, each.size() - 2));
    }
    if (part->keys.size() > 1) path_.definite_ = false;
    return OkStatus();
  }

  Result<int64_t> Number(std::string_view text) const {
    int64_t number = 0;
    text = Trim(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
      return Bad("a number is expected");
    }
    return number;
  }

  Status ReadFilter(std::string_view inside, Part* part) {
    part->kind = Part::Kind::kFilter;
    path_.definite_ = false;
    if (!inside.starts_with("@.")) return Bad("a filter starts with '@.'").error();
    constexpr std::pair<std::string_view, Filter::Compare> kSigns[] = {
        {"==", Filter::Compare::kEqual},     {"!=", Filter::Compare::kNotEqual},
        {"<=", Filter::Compare::kLessEqual}, {">=", Filter::Compare::kMoreEqual},
        {"<", Filter::Compare::kLess},       {">", Filter::Compare::kMore}};
    Filter filter;
    std::string_view name = inside;
    for (const auto& [sign, compare] : kSigns) {
      const size_t found = inside.find(sign);
      if (found == inside.npos) continue;
      filter.compare = compare;
      name = inside.substr(0, found);
      ASSIGN_OR_RETURN(filter.value, Literal(Trim(inside.substr(found + sign.size()))));
      break;
    }
    name = Trim(name.substr(2));
    while (true) {
      const size_t dot = name.find('.');
      filter.keys.emplace_back(Trim(name.substr(0, dot)));
      if (filter.keys.back().empty()) return Bad("a name is missing in the filter").error();
      if (dot == name.npos) break;
      name.remove_prefix(dot + 1);
    }
    part->filter = std::make_shared<const Filter>(std::move(filter));
    return OkStatus();
  }

  Result<json::Value> Literal(std::string_view text) const {
    if (text == "true") return true;
    if (text == "false") return false;
    if (text == "null") return nullptr;
    if (text.size() >= 2 && text.front() == text.back() &&
        (text.front() == '\'' || text.front() == '"')) {
      return json::Value(text.substr(1, text.size() - 2));
    }
    const auto number = ParseNumber(text);
    if (!number)
      return Bad("a filter compares with a number, a text in quotes, true, false or null");
    return json::Value(*number);
  }

  const std::string_view text_;
  size_t at_ = 0;
  JsonPath path_;
};

Result<JsonPath> JsonPath::Parse(std::string_view text, Side side) {
  return JsonPathReader(text).Read(side);
}

bool JsonPath::Matches(const Filter& filter, const json::Value& at) {
  const json::Value* value = &at;
  for (const std::string& key : filter.keys) value = &(*value)[std::string_view(key)];
  if (value->is_missing()) return false;
  if (filter.compare == Filter::Compare::kExists) return true;
  if (filter.compare == Filter::Compare::kEqual) return *value == filter.value;
  if (filter.compare == Filter::Compare::kNotEqual) return *value != filter.value;
  const bool alike = (value->is_number() && filter.value.is_number()) ||
                     (value->is_string() && filter.value.is_string());
  if (!alike) return false;
  const auto order = json::Compare(*value, filter.value);
  switch (filter.compare) {
    case Filter::Compare::kLess:
      return order < 0;
    case Filter::Compare::kLessEqual:
      return order <= 0;
    case Filter::Compare::kMore:
      return order > 0;
    default:
      return order >= 0;
  }
}

Status JsonPath::Select(const Part& part, const json::Value& at, Found* found) {
  found->work += 1 + at.size();
  if (found->work > kMaxWork) {
    return Error(Code::kTooLarge, "flow.bad_argument", "a JSONPath looks at more than {} values",
                 kMaxWork);
  }
  const auto size = static_cast<int64_t>(at.size());
  const auto place = [size](int64_t index) { return index < 0 ? index + size : index; };
  const auto add = [&](const json::Value& value) {
    if (part.kind != Part::Kind::kFilter || Matches(*part.filter, value))
      found->values.push_back(&value);
  };
  switch (part.kind) {
    case Part::Kind::kKeys:
      for (const std::string& key : part.keys) {
        if (const json::Value* value = at.Find(key)) found->values.push_back(value);
      }
      return OkStatus();
    case Part::Kind::kIndexes:
      if (!at.is_array()) return OkStatus();
      for (const int64_t index : part.indexes) {
        if (place(index) >= 0 && place(index) < size) found->values.push_back(&at[place(index)]);
      }
      return OkStatus();
    case Part::Kind::kSlice: {
      if (!at.is_array()) return OkStatus();
      const int64_t from = std::max<int64_t>(0, place(part.from.value_or(0)));
      const int64_t to = std::min(size, place(part.to.value_or(size)));
      for (int64_t i = from; i < to; ++i) found->values.push_back(&at[i]);
      return OkStatus();
    }
    case Part::Kind::kAll:
    case Part::Kind::kFilter:
      for (const json::Value& item : at.items()) add(item);
      for (const json::Field& field : at.fields()) add(field.value);
      return OkStatus();
  }
  return OkStatus();
}

Status JsonPath::Descend(const Part& part, const json::Value& at, Found* found) {
  RETURN_IF_ERROR(Select(part, at, found));
  for (const json::Value& item : at.items()) RETURN_IF_ERROR(Descend(part, item, found));
  for (const json::Field& field : at.fields()) RETURN_IF_ERROR(Descend(part, field.value, found));
  return OkStatus();
}

Result<json::Value> JsonPath::Search(const json::Value& root) const {
  Found found{{&root}};
  for (const Part& part : parts_) {
    Found next{{}, found.work};
    for (const json::Value* at : found.values) {
      RETURN_IF_ERROR(part.descend ? Descend(part, *at, &next) : Select(part, *at, &next));
    }
    found = std::move(next);
  }
  if (definite_) return found.values.empty() ? json::Value() : *found.values.front();
  json::Value list = json::Value::EmptyArray();
  for (const json::Value* value : found.values) list.Append(*value);
  return list;
}

}  // namespace sluice::flow
