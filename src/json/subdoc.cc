#include "json/subdoc.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"
#include "json/text.h"
#include "json/text_index.h"
#include "json/token_members.h"

namespace sluice::json {
namespace {

// A member's place in the text.
struct Span {
  size_t start = 0;  // of the name's quote, or of the element
  size_t begin = 0;  // of the value
  size_t end = 0;    // after the value
};

Span SpanOf(const TextIndex& index, const TokenMember& member) {
  return {member.start, index.Position(member.token), index.EndOf(member.token, member.next)};
}

// The result of one pass over a container for one step of a path.
struct Scan {
  std::optional<TokenMember> match;
  Span span;  // of the match
  size_t count = 0;
  size_t last_end = 0;  // after the last member, or after the opening bracket
};

Result<Scan> ScanContainer(const TextIndex& index, size_t token, const PathStep& step) {
  Scan scan;
  const auto* name = std::get_if<std::string>(&step);
  const auto* wanted = std::get_if<int64_t>(&step);
  std::vector<TokenMember> elements;  // only when one is counted from the end
  TokenMembers members(index, token);
  TokenMember last;
  for (TokenMember member; members.Next(&member); ++scan.count) {
    last = member;
    if (name != nullptr && InsideEquals(member.name, *name)) scan.match = member;
    if (wanted != nullptr && *wanted == static_cast<int64_t>(scan.count)) scan.match = member;
    if (wanted != nullptr && *wanted < 0) elements.push_back(member);
  }
  if (!members.ok()) return Unexpected(MalformedDocument());
  if (!elements.empty()) {
    const size_t position = ResolveIndex(*wanted, elements.size());
    if (position < elements.size()) scan.match = elements[position];
  }
  if (scan.match) scan.span = SpanOf(index, *scan.match);
  scan.last_end = scan.count > 0 ? SpanOf(index, last).end : index.Position(token) + 1;
  return scan;
}

// The target of a path.
struct Location {
  enum class State { kFound, kAbsent, kMismatch };

  State state = State::kFound;
  size_t token = 0;      // kFound: the value's first
  Span span;             // kFound: its place
  size_t container = 0;  // the token of the container that the last step tried to enter
  size_t step = 0;       // kAbsent: the first step that leads nowhere
  Scan scan;             // of that container
};

const PathStep kFirstElement = int64_t{0};

bool OpensFor(const PathStep& step, char bracket) {
  return bracket == (std::holds_alternative<std::string>(step) ? '{' : '[');
}

Result<Location> Locate(const TextIndex& index, std::span<const PathStep> steps) {
  Location location;
  const size_t next = index.ok() ? index.Skip(0) : TextIndex::kNoToken;
  if (next != index.size()) return Unexpected(MalformedDocument());
  location.span = SpanOf(index, {.name = {}, .start = index.Position(0), .token = 0, .next = next});
  for (location.step = 0; location.step < steps.size(); ++location.step) {
    location.container = location.token;
    if (!OpensFor(steps[location.step], index.At(location.token))) {
      location.state = Location::State::kMismatch;
      return location;
    }
    ASSIGN_OR_RETURN(location.scan, ScanContainer(index, location.token, steps[location.step]));
    if (!location.scan.match) {
      location.state = Location::State::kAbsent;
      return location;
    }
    location.token = location.scan.match->token;
    location.span = location.scan.span;
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

Result<std::string> LookupOne(const TextIndex& index, const LookupSpec& spec) {
  ASSIGN_OR_RETURN(const Path path, Path::Parse(spec.path));
  ASSIGN_OR_RETURN(const Location location, Locate(index, path.steps()));
  RETURN_IF_ERROR(RequireFound(location));
  switch (spec.op) {
    case LookupSpec::Op::kGet:
      break;
    case LookupSpec::Op::kExists:
      return "true";
    case LookupSpec::Op::kCount: {
      if (index.At(location.token) != '[' && index.At(location.token) != '{') {
        return Unexpected(Mismatch("only arrays and objects have a count"));
      }
      ASSIGN_OR_RETURN(const Scan scan, ScanContainer(index, location.token, kFirstElement));
      return std::to_string(scan.count);
    }
  }
  const Span& span = location.span;
  return std::string(index.text().substr(span.begin, span.end - span.begin));
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

// Each operation indexes the text that the one before has left.
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
    value_ = Trimmed(spec.value);
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
    const TextIndex index(text_);
    ASSIGN_OR_RETURN(const Location location, Locate(index, steps()));
    if (location.state == Location::State::kAbsent) return AddAbsent(location, value_);
    RETURN_IF_ERROR(RequireFound(location));
    if (op == MutateSpec::Op::kInsert) {
      return Error(Code::kAlreadyExists, "subdoc.path_exists", "the field exists already");
    }
    Splice(location.span.begin, location.span.end, value_);
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
    const TextIndex index(text_);
    ASSIGN_OR_RETURN(const Location location, Locate(index, steps()));
    RETURN_IF_ERROR(RequireFound(location));
    Splice(location.span.begin, location.span.end, value_);
    return OkStatus();
  }

  // Leaves out every field of the name (an earlier one must not come to light) or the one element.
  // Other members keep the white space before them. Only a member that becomes the first one moves
  // to the place of the old first one, which has no comma before it.
  Status Remove() {
    if (path_.empty()) return PathInvalid("the document itself can't be removed by path");
    const TextIndex index(text_);
    ASSIGN_OR_RETURN(const Location location, Locate(index, steps()));
    RETURN_IF_ERROR(RequireFound(location));
    const auto* name = std::get_if<std::string>(&steps().back());
    size_t previous_end = index.Position(location.container) + 1;
    std::string kept = text_.substr(0, previous_end);
    std::string_view first_lead;
    bool first = true, none_kept = true;
    TokenMembers members(index, location.container);
    for (TokenMember member; members.Next(&member); first = false) {
      const Span span = SpanOf(index, member);
      const auto lead = std::string_view(text_).substr(previous_end, span.start - previous_end);
      previous_end = span.end;
      if (first) first_lead = lead;
      const bool removed =
          name != nullptr ? InsideEquals(member.name, *name) : member.token == location.token;
      if (removed) continue;
      kept += none_kept ? first_lead : lead;
      kept.append(text_, span.start, span.end - span.start);
      none_kept = false;
    }
    kept.append(text_, previous_end);
    text_ = std::move(kept);
    return OkStatus();
  }

  Status AddToArray(MutateSpec::Op op) {
    const TextIndex index(text_);
    ASSIGN_OR_RETURN(const Location location, Locate(index, steps()));
    if (location.state == Location::State::kAbsent) {
      if (!create_path_) return NotFound("no array is at this path (create_path is off)");
      return AddAbsent(location, fmt::format("[{}]", value_));
    }
    RETURN_IF_ERROR(RequireFound(location));
    if (index.At(location.token) != '[') return Mismatch("this is not an array");
    if (op == MutateSpec::Op::kArrayAddUnique) {
      RETURN_IF_ERROR(CheckAbsent(index, location.token));
    }
    ASSIGN_OR_RETURN(const Scan scan, ScanContainer(index, location.token, kFirstElement));
    return InsertElement(scan, op == MutateSpec::Op::kArrayPrepend);
  }

  // At the end, or in front of the element that the scan matched.
  Status InsertElement(const Scan& scan, bool before_match) {
    if (scan.count == 0) {
      Splice(scan.last_end, scan.last_end, value_);
    } else if (before_match) {
      Splice(scan.span.start, scan.span.start, fmt::format("{},", value_));
    } else {
      Splice(scan.last_end, scan.last_end, fmt::format(",{}", value_));
    }
    return OkStatus();
  }

  Status CheckAbsent(const TextIndex& index, size_t array) const {
    ASSIGN_OR_RETURN(const Value wanted, Parse(value_));
    TokenMembers members(index, array);
    for (TokenMember member; members.Next(&member);) {
      const Span span = SpanOf(index, member);
      const auto element = index.text().substr(span.begin, span.end - span.begin);
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
    const TextIndex text(text_);
    ASSIGN_OR_RETURN(const Location location, Locate(text, parent));
    RETURN_IF_ERROR(RequireFound(location));
    if (text.At(location.token) != '[') return Mismatch("this is not an array");
    ASSIGN_OR_RETURN(const Scan scan, ScanContainer(text, location.token, steps().back()));
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
    const TextIndex index(text_);
    ASSIGN_OR_RETURN(const Location location, Locate(index, steps()));
    if (location.state == Location::State::kAbsent) {
      outcome_ = std::to_string(delta);
      return AddAbsent(location, outcome_);
    }
    RETURN_IF_ERROR(RequireFound(location));
    const Span& span = location.span;
    int64_t value = 0;
    const char* end = text_.data() + span.end;
    const auto [stop, error] = std::from_chars(text_.data() + span.begin, end, value);
    if (error != std::errc() || stop != end) {
      return Error(Code::kInvalidArgument, "subdoc.not_number",
                   "expected a 64-bit integer to count with, found {}",
                   std::string_view(text_).substr(span.begin, span.end - span.begin).substr(0, 64));
    }
    if (__builtin_add_overflow(value, delta, &value)) {
      return Error(Code::kInvalidArgument, "subdoc.out_of_range",
                   "the counter would leave the range of a 64-bit integer");
    }
    outcome_ = std::to_string(value);
    Splice(span.begin, span.end, outcome_);
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
  const TextIndex index(document);
  std::vector<LookupResult> results(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    Result<std::string> value = LookupOne(index, specs[i]);
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
