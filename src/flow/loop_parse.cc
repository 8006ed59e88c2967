#include "flow/loop_parse.h"

#include <utility>
#include <vector>

#include "flow/mapping.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

template <typename... Args>
Status BadLoop(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument, "flow.bad_loop", "{}",
               fmt::format(format, std::forward<Args>(args)...));
}

// A variable that the loop changes.
Result<ModelRef> ParseCounted(std::string_view text) {
  ASSIGN_OR_RETURN(ModelRef ref, ModelRef::Parse(text, Path::Use::kWrite));
  if (!ref.shared && IsReservedKey(ref.path.first_key())) {
    return Fail(Code::kInvalidArgument, "flow.bad_loop",
                "'{}' overwrites the reserved state-machine key '{}'", ref.text,
                ref.path.first_key());
  }
  return ref;
}

// A variable that is true or not. Whoever writes an expression would get a variable of that name.
Result<ModelRef> ParseFlag(std::string_view text) {
  if (Trim(text).find_first_of(" \t=<>!&|") != std::string_view::npos) {
    return Fail(Code::kInvalidArgument, "flow.bad_loop",
                "'{}' must be one model variable that is true or false, not an expression",
                Trim(text));
  }
  return ModelRef::Parse(text);
}

std::vector<std::string_view> SplitSegments(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(';');
    parts.push_back(Trim(text.substr(0, end)));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Status ParseStart(std::string_view text, Loop* loop) {
  const size_t equals = text.find('=');
  const auto number =
      equals == text.npos ? std::nullopt : ParseWholeNumber(text.substr(equals + 1));
  if (!number) return BadLoop("check for-loop initializer. e.g. 'model.n = 0', found '{}'", text);
  auto ref = ParseCounted(text.substr(0, equals));
  if (!ref) return BadLoop("check for-loop initializer: {}", ref.error().message());
  loop->start_ref = *std::move(ref);
  loop->start = *number;
  return OkStatus();
}

Result<Loop::Operand> ParseOperand(std::string_view text) {
  Loop::Operand operand;
  text = Trim(text);
  if (text.starts_with("model.")) {
    ASSIGN_OR_RETURN(operand.ref, ModelRef::Parse(text));
    return operand;
  }
  const auto number = ParseWholeNumber(text);
  if (!number) {
    return Unexpected(
        BadLoop("check for-loop syntax. e.g. 'for (model.n = 0; model.n < 3; "
                "model.n++)': '{}' is neither a model variable nor a number",
                text));
  }
  operand.number = *number;
  return operand;
}

Status ParseCompare(std::string_view text, Loop* loop) {
  constexpr std::pair<std::string_view, Loop::Compare> kSigns[] = {
      {"<=", Loop::Compare::kLessEqual},
      {">=", Loop::Compare::kMoreEqual},
      {"<", Loop::Compare::kLess},
      {">", Loop::Compare::kMore}};
  for (const auto& [sign, compare] : kSigns) {
    const size_t at = text.find(sign);
    if (at == text.npos) continue;
    loop->compare = compare;
    ASSIGN_OR_RETURN(loop->left, ParseOperand(text.substr(0, at)));
    ASSIGN_OR_RETURN(loop->right, ParseOperand(text.substr(at + sign.size())));
    if (!loop->left.ref && !loop->right.ref) {
      return BadLoop(
          "'for' loop has invalid comparator or sequencer: '{}' compares no model "
          "variable",
          text);
    }
    return OkStatus();
  }
  return BadLoop("'for' loop has invalid comparator or sequencer: '{}' must have <, <=, > or >=",
                 text);
}

Status ParseCounter(std::string_view text, Loop* loop) {
  std::string_view name = text;
  const bool up = text.starts_with("++") || text.ends_with("++");
  const bool down = text.starts_with("--") || text.ends_with("--");
  if (up == down || text.size() < 3) {
    return BadLoop(
        "'for' loop has invalid comparator or sequencer: '{}' must be model.n++, "
        "model.n--, ++model.n or --model.n",
        text);
  }
  const bool before = text.starts_with("++") || text.starts_with("--");
  name = Trim(before ? text.substr(2) : text.substr(0, text.size() - 2));
  auto ref = ParseCounted(name);
  if (!ref)
    return BadLoop("'for' loop has invalid comparator or sequencer: {}", ref.error().message());
  loop->counter = *std::move(ref);
  loop->delta = up ? 1 : -1;
  return OkStatus();
}

Status ParseFor(std::string_view inside, Loop* loop) {
  loop->kind = Loop::Kind::kFor;
  std::vector<std::string_view> parts = SplitSegments(inside);
  if (parts.size() != 2 && parts.size() != 3) {
    return BadLoop("'for' loop should have 2 or 3 segments. Actual: {}", parts.size());
  }
  if (parts.size() == 3) {
    if (!parts[0].empty()) RETURN_IF_ERROR(ParseStart(parts[0], loop));
    parts.erase(parts.begin());
  }
  RETURN_IF_ERROR(ParseCompare(parts[0], loop));
  RETURN_IF_ERROR(ParseCounter(parts[1], loop));
  const auto counts = [&](const Loop::Operand& operand) {
    return operand.ref && operand.ref->text == loop->counter.text;
  };
  if (counts(loop->left) || counts(loop->right)) return OkStatus();
  return BadLoop(
      "'for' loop has invalid comparator or sequencer: '{}' does not look at {}, which '{}' counts",
      parts[0], loop->counter.text, parts[1]);
}

Status ParseWhile(std::string_view inside, Loop* loop) {
  loop->kind = Loop::Kind::kWhile;
  if (inside.find(';') != inside.npos) return BadLoop("'while' loop should have only one value");
  auto ref = ParseFlag(inside);
  if (!ref) return BadLoop("'while' should use a model key: {}", ref.error().message());
  loop->running = *std::move(ref);
  return OkStatus();
}

}  // namespace

Status ParseLoopStatement(std::string_view text, Loop* loop) {
  text = Trim(text);
  const size_t open = text.find('(');
  if (open == text.npos || !text.ends_with(')')) {
    return BadLoop("Please check loop.statement: '{}' must be for (...) or while (...)", text);
  }
  const std::string_view word = Trim(text.substr(0, open));
  const std::string_view inside = Trim(text.substr(open + 1, text.size() - open - 2));
  loop->text = text;
  if (word == "for") return ParseFor(inside, loop);
  if (word == "while") return ParseWhile(inside, loop);
  return BadLoop("loop.statement must be 'for' or 'while', found '{}'", word);
}

Status ParseLoopCondition(std::string_view text, Loop* loop) {
  text = Trim(text);
  const size_t open = text.find('(');
  const size_t close = text.find(')');
  const bool shaped =
      open != text.npos && close != text.npos && open < close && Trim(text.substr(0, open)) == "if";
  const std::string_view act = shaped ? Trim(text.substr(close + 1)) : std::string_view();
  if (act != "break" && act != "continue") {
    return BadLoop("loop condition(s) syntax error - {}", text);
  }
  auto ref = ParseFlag(text.substr(open + 1, close - open - 1));
  if (!ref) return BadLoop("loop condition(s) syntax error - {}: {}", text, ref.error().message());
  loop->conditions.push_back(
      {*std::move(ref), act == "break" ? Loop::Act::kBreak : Loop::Act::kContinue});
  return OkStatus();
}

}  // namespace sluice::flow
