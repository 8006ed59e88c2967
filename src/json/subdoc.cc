#include "json/subdoc.h"

#include <charconv>
#include <optional>

#include "json/members.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"
#include "json/text.h"

namespace sluice::json {
namespace {

// What one pass over a container tells about one step into it.
struct Scan {
  std::optional<Member> match;
  size_t count = 0;
  size_t last_end = 0;  // after the last member, or after the opening bracket
};

Result<Scan> ScanContainer(std::string_view text, size_t at, const PathStep& step) {
  Scan scan;
  scan.last_end = at + 1;
  const auto* name = std::get_if<std::string>(&step);
  const auto* index = std::get_if<int64_t>(&step);
  std::vector<Member> elements;  // only when one is counted from the end
  Members members(text, at);
  for (Member member; members.Next(&member); ++scan.count) {
    scan.last_end = member.end;
    if (name != nullptr && InsideEquals(member.name, *name)) scan.match = member;
    if (index != nullptr && *index == static_cast<int64_t>(scan.count)) scan.match = member;
    if (index != nullptr && *index < 0) elements.push_back(member);
  }
  if (!members.ok()) return Unexpected(MalformedDocument());
  if (!elements.empty()) {
    const size_t position = ResolveIndex(*index, elements.size());
    if (position < elements.size()) scan.match = elements[position];
  }
  return scan;
}

// Where a path leads.
struct Location {
  enum class State { kFound, kAbsent, kMismatch };

  State state = State::kFound;
  Member member;         // kFound: what is there
  size_t container = 0;  // where the last step tried was looked for: its opening bracket
  size_t step = 0;       // kAbsent: the first step that leads nowhere
  Scan scan;             // of that container
};

bool OpensFor(const PathStep& step, char bracket) {
  return bracket == (std::holds_alternative<std::string>(step) ? '{' : '[');
}

Result<Location> Locate(std::string_view text, std::span<const PathStep> steps) {
  Location location;
  const size_t root = SkipSpace(text, 0);
  location.member = {.name = {}, .start = root, .begin = root, .end = SkipValue(text, root)};
  if (location.member.end == kNoPosition) return Unexpected(MalformedDocument());
  for (location.step = 0; location.step < steps.size(); ++location.step) {
    location.container = location.member.begin;
    if (!OpensFor(steps[location.step], text[location.container])) {
      location.state = Location::State::kMismatch;
      return location;
    }
    ASSIGN_OR_RETURN(location.scan, ScanContainer(text, location.container, steps[location.step]));
    if (!location.scan.match) {
      location.state = Location::State::kAbsent;
      return location;
    }
    location.member = *location.scan.match;
  }
  return location;
}

Status NotFound(std::string_view what) {
  return Error(Code::kNotFound, "subdoc.path_not_found", "{}", what);
}

Status Mismatch(std::string_view what) {
  return Error(Code::kInvalidArgument, "subdoc.path_mismatch", "{}", what);
}

Status PathInvalid(std::string_view what) {
  return Error(Code::kInvalidArgument, "subdoc.path_invalid", "{}", what);
}

// The error of a location where something had to be.
Status RequireFound(const Location& location) {
  switch (location.state) {
    case Location::State::kFound:
      return OkStatus();
    case Location::State::kAbsent:
      return NotFound("nothing is at this path");
    case Location::State::kMismatch:
      break;
  }
  return Mismatch("the path leads through a value of another type");
}

Status AboutSpec(const Status& status, size_t index, std::string_view path) {
  return status.Prefixed(fmt::format("spec {} (path '{}')", index, path))
      .With("spec", std::to_string(index));
}

Status CheckCount(size_t count) {
  if (count <= kMaxSubdocSpecs) return OkStatus();
  return Error(Code::kInvalidArgument, "subdoc.too_many_specs",
               "{} specs, at most {} are taken at once", count, kMaxSubdocSpecs);
}

Result<std::string> LookupOne(std::string_view text, const LookupSpec& spec) {
  ASSIGN_OR_RETURN(const Path path, Path::Parse(spec.path));
  ASSIGN_OR_RETURN(const Location location, Locate(text, path.steps()));
  RETURN_IF_ERROR(RequireFound(location));
  const Member& member = location.member;
  switch (spec.op) {
    case LookupSpec::Op::kGet:
      break;
    case LookupSpec::Op::kExists:
      return "true";
    case LookupSpec::Op::kCount: {
      if (text[member.begin] != '[' && text[member.begin] != '{') {
        return Unexpected(Mismatch("only arrays and objects have a count"));
      }
      ASSIGN_OR_RETURN(const Scan scan, ScanContainer(text, member.begin, PathStep(int64_t{0})));
      return std::to_string(scan.count);
    }
  }
  return std::string(text.substr(member.begin, member.end - member.begin));
}

class Mutator {
 public:
  explicit Mutator(std::string_view document) : text_(document) {}

  Status Apply(const MutateSpec& spec) {
    ASSIGN_OR_RETURN(path_, Path::Parse(spec.path));
    using Op = MutateSpec::Op;
    create_path_ = spec.create_path;
    outcome_.clear();
    if (spec.op == Op::kRemove) return Remove();
    if (spec.op == Op::kCounter) return Counter(spec.delta);
    RETURN_IF_ERROR(Validate(spec.value));
    const size_t start = SkipSpace(spec.value, 0);
    value_ = std::string_view(spec.value).substr(start, SkipValue(spec.value, start) - start);
    switch (spec.op) {
      case Op::kInsert:
      case Op::kUpsert:
        return SetField(spec.op);
      case Op::kReplace:
        return Replace();
      case Op::kArrayInsert:
        return ArrayInsert();
      default:
        return AddToArray(spec.op);
    }
  }

  std::string& text() { return text_; }
  // The new value of a counter.
  std::string& outcome() { return outcome_; }

 private:
  const std::vector<PathStep>& steps() const { return path_.steps(); }

  void Splice(size_t begin, size_t end, std::string_view with) {
    text_.replace(begin, end - begin, with);
  }

  Status SetField(MutateSpec::Op op) {
    if (path_.empty() || !std::holds_alternative<std::string>(steps().back())) {
      return PathInvalid("the path of an insert or upsert ends with a field's name");
    }
    ASSIGN_OR_RETURN(const Location location, Locate(text_, steps()));
    if (location.state == Location::State::kAbsent) return AddAbsent(location, value_);
    RETURN_IF_ERROR(RequireFound(location));
    if (op == MutateSpec::Op::kInsert) {
      return Error(Code::kAlreadyExists, "subdoc.path_exists", "the field exists already");
    }
    Splice(location.member.begin, location.member.end, value_);
    return OkStatus();
  }

  // Adds the field that is absent, with the objects on the way to it.
  Status AddAbsent(const Location& location, std::string_view value) {
    if (location.step + 1 < steps().size() && !create_path_) {
      return NotFound("the parent of this path is missing (create_path is off)");
    }
    std::string added = location.scan.count > 0 ? "," : "";
    size_t braces = 0;
    for (size_t i = location.step; i < steps().size(); ++i) {
      const auto* name = std::get_if<std::string>(&steps()[i]);
      if (name == nullptr) return NotFound("there is no such element, and none is made");
      if (i > location.step) {
        added += '{';
        ++braces;
      }
      AppendQuoted(*name, &added);
      added += ':';
    }
    added += value;
    added.append(braces, '}');
    Splice(location.scan.last_end, location.scan.last_end, added);
    return OkStatus();
  }

  Status Replace() {
    ASSIGN_OR_RETURN(const Location location, Locate(text_, steps()));
    RETURN_IF_ERROR(RequireFound(location));
    Splice(location.member.begin, location.member.end, value_);
    return OkStatus();
  }

  // Leaves out every field of the name (an earlier one must not come to light) or the one element.
  // What is kept stays with the white space before it; only what becomes the first member takes
  // the place of the one that was first, which has no comma before it.
  Status Remove() {
    if (path_.empty()) return PathInvalid("the document itself can't be removed by path");
    ASSIGN_OR_RETURN(const Location location, Locate(text_, steps()));
    RETURN_IF_ERROR(RequireFound(location));
    const auto* name = std::get_if<std::string>(&steps().back());
    std::string kept = text_.substr(0, location.container + 1);
    size_t previous_end = location.container + 1;
    std::string_view first_lead;
    bool first = true, none_kept = true;
    Members members(text_, location.container);
    for (Member member; members.Next(&member); previous_end = member.end, first = false) {
      const auto lead = std::string_view(text_).substr(previous_end, member.start - previous_end);
      if (first) first_lead = lead;
      const bool removed = name != nullptr ? InsideEquals(member.name, *name)
                                           : member.begin == location.member.begin;
      if (removed) continue;
      kept += none_kept ? first_lead : lead;
      kept.append(text_, member.start, member.end - member.start);
      none_kept = false;
    }
    kept.append(text_, previous_end);
    text_ = std::move(kept);
    return OkStatus();
  }

  // The array at the path, or nothing after it has been made with the value as its only element.
  Result<std::optional<Location>> ArrayOrMake() {
    ASSIGN_OR_RETURN(Location location, Locate(text_, steps()));
    if (location.state == Location::State::kAbsent) {
      if (!create_path_)
        return Unexpected(NotFound("no array is at this path (create_path is off)"));
      RETURN_IF_ERROR(AddAbsent(location, fmt::format("[{}]", value_)));
      return std::nullopt;
    }
    RETURN_IF_ERROR(RequireFound(location));
    if (text_[location.member.begin] != '[') return Unexpected(Mismatch("this is no array"));
    return location;
  }

  Status AddToArray(MutateSpec::Op op) {
    ASSIGN_OR_RETURN(const std::optional<Location> array, ArrayOrMake());
    if (!array) return OkStatus();
    const size_t begin = array->member.begin;
    if (op == MutateSpec::Op::kArrayAddUnique) RETURN_IF_ERROR(CheckAbsent(begin));
    ASSIGN_OR_RETURN(const Scan scan, ScanContainer(text_, begin, PathStep(int64_t{0})));
    return InsertElement(scan, op == MutateSpec::Op::kArrayPrepend);
  }

  // At the end, or in front of the element that the scan matched.
  Status InsertElement(const Scan& scan, bool before_match) {
    if (scan.count == 0) {
      Splice(scan.last_end, scan.last_end, value_);
    } else if (before_match) {
      Splice(scan.match->start, scan.match->start, fmt::format("{},", value_));
    } else {
      Splice(scan.last_end, scan.last_end, fmt::format(",{}", value_));
    }
    return OkStatus();
  }

  Status CheckAbsent(size_t array) const {
    ASSIGN_OR_RETURN(const Value wanted, Parse(value_));
    Members members(text_, array);
    for (Member member; members.Next(&member);) {
      const auto element = std::string_view(text_).substr(member.begin, member.end - member.begin);
      ASSIGN_OR_RETURN(const Value value, Parse(element, {.max_bytes = element.size()}));
      if (value == wanted) {
        return Error(Code::kAlreadyExists, "subdoc.path_exists", "the array has this element");
      }
    }
    return members.ok() ? OkStatus() : MalformedDocument();
  }

  Status ArrayInsert() {
    const auto* index = path_.empty() ? nullptr : std::get_if<int64_t>(&steps().back());
    if (index == nullptr || *index < 0) {
      return PathInvalid("the path of an array insert ends with a position such as [0]");
    }
    const auto parent = std::span(steps()).first(steps().size() - 1);
    ASSIGN_OR_RETURN(const Location location, Locate(text_, parent));
    RETURN_IF_ERROR(RequireFound(location));
    if (text_[location.member.begin] != '[') return Mismatch("this is no array");
    ASSIGN_OR_RETURN(const Scan scan, ScanContainer(text_, location.member.begin, steps().back()));
    if (static_cast<size_t>(*index) > scan.count) {
      return NotFound(fmt::format("the array has only {} elements", scan.count));
    }
    return InsertElement(scan, scan.match.has_value());
  }

  Status Counter(int64_t delta) {
    if (delta == 0) {
      return Error(Code::kInvalidArgument, "subdoc.delta_invalid", "a counter needs a delta");
    }
    if (path_.empty()) return PathInvalid("a counter needs a path");
    ASSIGN_OR_RETURN(const Location location, Locate(text_, steps()));
    if (location.state == Location::State::kAbsent) {
      outcome_ = std::to_string(delta);
      return AddAbsent(location, outcome_);
    }
    RETURN_IF_ERROR(RequireFound(location));
    const Member& member = location.member;
    int64_t value = 0;
    const char* end = text_.data() + member.end;
    const auto [stop, error] = std::from_chars(text_.data() + member.begin, end, value);
    if (error != std::errc() || stop != end) {
      return Error(
          Code::kInvalidArgument, "subdoc.not_number",
          "expected a 64-bit integer to count with, found {}",
          std::string_view(text_).substr(member.begin, member.end - member.begin).substr(0, 64));
    }
    if (__builtin_add_overflow(value, delta, &value)) {
      return Error(Code::kInvalidArgument, "subdoc.out_of_range",
                   "the counter would leave the range of a 64-bit integer");
    }
    outcome_ = std::to_string(value);
    Splice(member.begin, member.end, outcome_);
    return OkStatus();
  }

  std::string text_;
  Path path_;
  std::string_view value_;
  bool create_path_ = false;
  std::string outcome_;
};

}  // namespace

Result<std::vector<LookupResult>> Lookup(std::string_view document,
                                         std::span<const LookupSpec> specs) {
  RETURN_IF_ERROR(CheckCount(specs.size()));
  std::vector<LookupResult> results(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    Result<std::string> value = LookupOne(document, specs[i]);
    if (value) {
      results[i].value = std::move(*value);
    } else {
      results[i].status = AboutSpec(value.error(), i, specs[i].path);
    }
  }
  return results;
}

Result<MutateResult> Mutate(std::string_view document, std::span<const MutateSpec> specs) {
  RETURN_IF_ERROR(CheckCount(specs.size()));
  MutateResult result;
  Mutator mutator(document);
  for (size_t i = 0; i < specs.size(); ++i) {
    if (Status status = mutator.Apply(specs[i]); !status.ok()) {
      return Unexpected(AboutSpec(status, i, specs[i].path));
    }
    result.values.push_back(std::move(mutator.outcome()));
  }
  RETURN_IF_ERROR(Validate(mutator.text()));
  result.document = std::move(mutator.text());
  return result;
}

}  // namespace sluice::json
