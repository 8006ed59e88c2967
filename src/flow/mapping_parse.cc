// The text of a mapping: its parts, and its right side.
#include <algorithm>
#include <iterator>
#include <utility>

#include "flow/mapping.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr std::string_view kArrow = "->";
constexpr size_t kMaxMappingBytes = 8 << 10;

std::unexpected<Status> Bad(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "flow.bad_mapping", "'{}' {}", text, why);
}

// The end of the left side. A `text(...)` may contain arrows: it ends with the last bracket before
// an arrow.
size_t EndOfLeft(std::string_view text) {
  if (!text.starts_with("text(")) return text.find(kArrow);
  for (size_t arrow = text.rfind(kArrow); arrow != text.npos && arrow > 0;
       arrow = text.rfind(kArrow, arrow - 1)) {
    if (Trim(text.substr(0, arrow)).ends_with(')')) return arrow;
  }
  return text.npos;
}

Result<std::vector<std::string_view>> SplitParts(std::string_view text) {
  std::vector<std::string_view> parts;
  const size_t first = EndOfLeft(text);
  if (first != text.npos) {
    parts.push_back(Trim(text.substr(0, first)));
    std::string_view rest = text.substr(first + kArrow.size());
    while (true) {
      const size_t arrow = rest.find(kArrow);
      parts.push_back(Trim(rest.substr(0, arrow)));
      if (arrow == rest.npos) break;
      rest.remove_prefix(arrow + kArrow.size());
    }
  }
  if (parts.size() < 2 || parts.size() > 3) {
    return Bad(text, "- Syntax must be (LHS -> RHS) or (LHS -> model.variable -> RHS)");
  }
  for (const std::string_view part : parts) {
    if (part.empty()) return Bad(text, "has an empty side");
  }
  return parts;
}

Result<Target> ModelTarget(Target made, std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != text.npos) {
    ASSIGN_OR_RETURN(Conversion conversion, Conversion::Parse(text.substr(colon + 1)));
    made.conversion = std::make_shared<const Conversion>(std::move(conversion));
    text = Trim(text.substr(0, colon));
  }
  ASSIGN_OR_RETURN(ModelRef ref, ModelRef::Parse(text, Path::Use::kWrite));
  if (!ref.shared && IsReservedKey(ref.path.first_key())) {
    return Fail(Code::kInvalidArgument, "flow.reserved_key",
                "'{}' overwrites the reserved state-machine key '{}'", made.text,
                ref.path.first_key());
  }
  made.space = ref.shared ? TargetSpace::kShared : TargetSpace::kModel;
  made.path = std::move(ref.path);
  return made;
}

Result<Target> FileTarget(Target made, std::string_view text, const ParseContext& context) {
  if (!text.ends_with(')')) return Bad(text, "misses its close bracket");
  std::string_view inside = Trim(text.substr(5, text.size() - 6));
  for (const std::string_view prefix : {"text:", "binary:", "json:", "append:"}) {
    if (!inside.starts_with(prefix)) continue;
    if (prefix == "append:") made.mode = Files::Mode::kAppend;
    inside = Trim(inside.substr(prefix.size()));
    break;
  }
  if (inside.empty()) return Bad(text, "names no path");
  made.space = TargetSpace::kFile;
  ASSIGN_OR_RETURN(made.content, Template::Parse(inside));
  if (made.content.constant() && context.files != nullptr) {
    RETURN_IF_ERROR(context.files->Check(Files::Area::kFile, inside));
  }
  return made;
}

Result<Target> OutputTarget(Target made, std::string_view rest) {
  if (rest == "status") {
    made.space = TargetSpace::kOutputStatus;
  } else if (rest == "header") {
    made.space = TargetSpace::kOutputHeaders;
  } else if (rest.starts_with("header.")) {
    made.space = TargetSpace::kOutputHeader;
    ASSIGN_OR_RETURN(made.content, Template::Parse(rest.substr(7)));
  } else if (rest == "body" || rest.starts_with("body.") || rest.starts_with("body[")) {
    made.space = TargetSpace::kOutputBody;
    rest.remove_prefix(4);
    if (rest.starts_with('.')) rest.remove_prefix(1);
    if (!rest.empty()) {
      ASSIGN_OR_RETURN(made.path, Path::Parse(rest, Path::Use::kWrite));
    }
  } else {
    return Bad(made.text, "- an output has status, header and body only");
  }
  return made;
}

Result<Target> ParseTarget(std::string_view text, const ParseContext& context) {
  Target made;
  made.text = std::string(text);
  if (text.ends_with('.') || text.ends_with(':')) return Bad(text, "is incomplete");
  if (text.starts_with("model.")) return ModelTarget(std::move(made), text);
  if (text.starts_with("ext:")) {
    made.space = TargetSpace::kExternal;
    ASSIGN_OR_RETURN(made.content, Template::Parse(Trim(text.substr(4))));
    return made;
  }
  if (context.side == Side::kOutput) {
    if (text.starts_with("output.")) return OutputTarget(std::move(made), text.substr(7));
    if (text.starts_with("file(")) return FileTarget(std::move(made), text, context);
    if (text != "decision") {
      return Bad(text,
                 "can't be written by an output mapping: use output, model, ext:, file(...) "
                 "or, in a decision task, decision");
    }
    made.space = TargetSpace::kDecision;
    return made;
  }
  if (text == "*") {
    made.space = TargetSpace::kWholeBody;
  } else if (text == "header") {
    made.space = TargetSpace::kHeaders;
  } else if (text.starts_with("header.")) {
    made.space = TargetSpace::kHeader;
    ASSIGN_OR_RETURN(made.content, Template::Parse(text.substr(7)));
  } else {
    ASSIGN_OR_RETURN(made.path, Path::Parse(text, Path::Use::kWrite));
  }
  return made;
}

// A value that is known not to be a map can't be mapped to all headers.
Status CheckMap(const Mapping& mapping) {
  const bool needs_map =
      mapping.to.space == TargetSpace::kHeaders || mapping.to.space == TargetSpace::kOutputHeaders;
  const bool constant =
      mapping.from.space == Space::kConstant || mapping.from.space == Space::kText;
  if (!needs_map || !constant || mapping.from.constant.is_object()) return OkStatus();
  const std::string_view side =
      mapping.to.space == TargetSpace::kOutputHeaders ? "output" : "input";
  return Error(Code::kInvalidArgument, "flow.bad_mapping",
               "Invalid {} mapping '{}', expect: Map, Actual: {}", side, mapping.text,
               mapping.from.space == Space::kText ? "String" : TypeNameOf(mapping.from.constant));
}

Result<Mapping> MakeMapping(std::string_view left, std::string_view right,
                            const ParseContext& context) {
  if (left == right) return Bad(fmt::format("{} -> {}", left, right), "maps a thing to itself");
  if (left.ends_with('.')) return Bad(left, "is incomplete");
  Mapping made;
  made.text = fmt::format("{} -> {}", left, right);
  ASSIGN_OR_RETURN(made.from, ParseExpression(left, context));
  const bool negated = right.starts_with("!model.");
  ASSIGN_OR_RETURN(made.to, ParseTarget(right.substr(negated ? 1 : 0), context));
  made.to.negated = negated;
  RETURN_IF_ERROR(CheckMap(made));
  return made;
}

}  // namespace

bool IsReservedKey(std::string_view key) {
  constexpr std::string_view kReserved[] = {"cid",   "instance", "flow", "ttl",
                                            "trace", "none",     "run"};
  return std::find(std::begin(kReserved), std::end(kReserved), key) != std::end(kReserved);
}

Result<std::vector<Mapping>> ParseMapping(std::string_view text, const ParseContext& context) {
  text = Trim(text);
  if (text.size() > kMaxMappingBytes) {
    return Fail(Code::kTooLarge, "flow.too_large", "a mapping has more than {} bytes",
                kMaxMappingBytes);
  }
  ASSIGN_OR_RETURN(const auto parts, SplitParts(text));
  std::vector<Mapping> made;
  if (parts.size() == 2) {
    if (parts[1].starts_with('!'))
      return Bad(text, "has a ! on its right side: use !model.x on the left");
    ASSIGN_OR_RETURN(Mapping mapping, MakeMapping(parts[0], parts[1], context));
    made.push_back(std::move(mapping));
    return made;
  }
  std::string_view middle = parts[1];
  if (!middle.starts_with("model.") && !middle.starts_with("!model.")) {
    return Bad(text, "- the middle of three parts must be a model variable");
  }
  // `a -> !model.b -> c`: b is set to the opposite, and c gets the value of b.
  ASSIGN_OR_RETURN(Mapping first, MakeMapping(parts[0], middle, context));
  if (middle.starts_with('!')) middle.remove_prefix(1);
  const std::string_view variable = Trim(middle.substr(0, middle.find(':')));
  ASSIGN_OR_RETURN(Mapping second, MakeMapping(variable, parts[2], context));
  made.push_back(std::move(first));
  made.push_back(std::move(second));
  return made;
}

}  // namespace sluice::flow
