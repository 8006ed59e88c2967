// Checks the literals of constant bindings: `const alias = literal;` must be one declaration.
#include "function/source/tokenizer.h"
#include "function/source/transpile.h"

namespace sluice::function {
namespace {

template <typename... Args>
Status Wrong(const ConstantBinding& constant, fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument, "function.constant",
               "the constant binding '{}' must be one JavaScript expression: {}", constant.alias,
               fmt::format(format, std::forward<Args>(args)...));
}

// Keywords that an expression may have outside of brackets.
bool IsExpressionKeyword(const Token& token) {
  for (const std::string_view word :
       {"class", "delete", "extends", "false", "function", "in", "instanceof", "new", "null",
        "super", "this", "true", "typeof", "void"}) {
    if (token.text == word) return true;
  }
  return false;
}

// Whether the token is a second operand directly after another one, outside of brackets: then the
// text is not one expression. The names and heads of functions and classes are no such operands.
bool IsSecondOperand(const Token& before, const Token& token) {
  if (!token.after_operand || before.text == "async") return false;
  switch (token.kind) {
    case TokenKind::kIdentifier:
    case TokenKind::kPrivateName:
    case TokenKind::kNumber:
    case TokenKind::kString:
    case TokenKind::kRegex:
      return true;
    case TokenKind::kKeyword:
      return token.text != "in" && token.text != "instanceof" && token.text != "extends";
    default:
      return token.Is("{") && !before.Is(")") &&
             (token.newline_before || before.kind != TokenKind::kIdentifier);
  }
}

Status CheckToken(const ConstantBinding& constant, const Token& before, const Token& token) {
  if (token.Is(";")) return Wrong(constant, "found ;");
  if (token.Is(",")) return Wrong(constant, "found , outside of brackets");
  if (token.kind == TokenKind::kKeyword && !IsExpressionKeyword(token)) {
    return Wrong(constant, "found the keyword {}", token.text);
  }
  if (IsSecondOperand(before, token)) {
    return Wrong(constant, "found {} after the end of the expression", token.text);
  }
  return OkStatus();
}

}  // namespace

Status CheckConstant(const ConstantBinding& constant) {
  if (!IsPlainName(constant.alias)) {
    return Error(Code::kInvalidArgument, "function.constant",
                 "'{}' can't be the name of a constant binding: expected a JavaScript "
                 "identifier that is not reserved",
                 constant.alias);
  }
  // Read where an operand is expected, as it is after `=`.
  const std::string text = "(" + constant.literal + "\n)";
  const TokenList tokens = Tokenize(text);
  const Token& error = FirstError(tokens);
  if (error.kind == TokenKind::kError) return Wrong(constant, "{}", error.problem);
  const size_t last = CloserOf(tokens, 0);
  if (last + 2 != tokens.size()) return Wrong(constant, "a bracket closes nothing");
  if (last == 1) return Wrong(constant, "found nothing; a text needs quotes, as in \"text\"");
  for (size_t i = 1; i < last; ++i) {
    RETURN_IF_ERROR(CheckToken(constant, tokens[i - 1], tokens[i]));
    if (tokens[i].partner > i) i = tokens[i].partner;
  }
  if (!tokens[last].after_operand) return Wrong(constant, "it is not complete");
  return OkStatus();
}

}  // namespace sluice::function
