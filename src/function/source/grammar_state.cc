#include "function/source/grammar_state.h"

#include <algorithm>
#include <initializer_list>

namespace sluice::function {
namespace {}  // namespace

bool GrammarState::name_expected(bool newline_before) const {
  if (previous_.Is(".") || previous_.Is("?.")) return true;
  if (top().kind == BracketKind::kObject) return previous_.Is("{") || previous_.Is(",");
  if (top().kind != BracketKind::kClass) return false;
  if (previous_.kind == TokenKind::kIdentifier) {
    return newline_before || IsOneOf(previous_, {"static", "get", "set", "async"});
  }
  return previous_.Is("{") || previous_.Is("}") || previous_.Is(";") ||
         (newline_before && !operand_expected_);
}

bool GrammarState::ClosesSome(const Token& token) const {
  return std::ranges::any_of(open_, [&](const Open& open) { return Closes(open, token); });
}

bool GrammarState::Closes(const Open& open, const Token& token) {
  switch (open.kind) {
    case BracketKind::kProgram:
      return false;
    case BracketKind::kParenthesis:
    case BracketKind::kHead:
    case BracketKind::kForHead:
    case BracketKind::kParameters:
      return token.Is(")");
    case BracketKind::kSquare:
      return token.Is("]");
    case BracketKind::kBlock:
    case BracketKind::kObject:
    case BracketKind::kClass:
      return token.Is("}");
    case BracketKind::kTemplate:
      return token.kind == TokenKind::kTemplateMiddle || token.kind == TokenKind::kTemplateTail;
  }
  return false;
}

void GrammarState::Saw(const Token& token) {
  const bool new_line = token.newline_before && !operand_expected_ && in_statements();
  const bool at_statement = statement_expected_ || new_line;
  switch (token.kind) {
    case TokenKind::kEnd:
      return;
    case TokenKind::kIdentifier:
      SawWord(token);
      break;
    case TokenKind::kKeyword:
      SawKeyword(token, at_statement);
      break;
    case TokenKind::kPunctuator:
      SawPunctuator(token);
      break;
    case TokenKind::kTemplateHead:
      open_.push_back({.kind = BracketKind::kTemplate, .ends_operand = true, .token = token});
      ExpectOperand();
      break;
    case TokenKind::kTemplateMiddle:
      top().questions = 0;
      ExpectOperand();
      break;
    case TokenKind::kTemplateTail:
      Close();
      break;
    default:
      EndOperand();
      break;
  }
  // The parenthesis of `for await (` belongs to `for`.
  if (!(token.IsKeyword("await") && previous_.IsKeyword("for"))) previous_ = token;
  previous_at_statement_ = at_statement;
}

void GrammarState::SawWord(const Token& token) {
  if (token.text == "of" && top().kind == BracketKind::kForHead && !operand_expected_) {
    ExpectOperand();
  } else {
    EndOperand();
  }
}

void GrammarState::SawKeyword(const Token& token, bool at_statement) {
  if (IsOneOf(token, {"this", "super", "null", "true", "false"})) return EndOperand();
  const bool async = previous_.IsName("async") && previous_at_statement_;
  const Pending pending = at_statement || async ? Pending::kDeclaration : Pending::kExpression;
  if (token.text == "function") top().function = pending;
  if (token.text == "class") top().class_body = pending;
  if (IsOneOf(token, {"else", "do", "try", "finally", "export", "default"})) {
    ExpectStatement();
  } else {
    ExpectOperand();
  }
}

void GrammarState::SawPunctuator(const Token& token) {
  const char c = token.text.size() == 1 ? token.text[0] : '\0';
  if (c == '(') return OpenParenthesis(token);
  if (c == '{') return OpenBrace(token);
  if (c == ')' || c == ']' || c == '}') return Close();
  if ((token.text == "++" || token.text == "--") && !operand_expected_ && !token.newline_before) {
    return;
  }
  bool statement = false;
  if (c == '[') {
    open_.push_back({.kind = BracketKind::kSquare, .ends_operand = true, .token = token});
  } else if (c == '?') {
    ++top().questions;
  } else if (c == ':' && top().questions > 0) {
    --top().questions;
  } else if (c == ':' || c == ';') {
    statement = in_statements();
    top().questions = 0;
    top().function = top().class_body = Pending::kNone;
  }
  statement ? ExpectStatement() : ExpectOperand();
}

void GrammarState::OpenParenthesis(const Token& token) {
  Open open{.kind = BracketKind::kParenthesis, .ends_operand = true, .token = token};
  if (top().function != Pending::kNone) {
    open.kind = BracketKind::kParameters;
    open.of_expression = top().function == Pending::kExpression;
    top().function = Pending::kNone;
  } else if (previous_.kind == TokenKind::kKeyword) {
    if (IsOneOf(previous_, {"if", "while", "with", "switch", "catch"})) {
      open.kind = BracketKind::kHead;
      open.ends_operand = false;
    } else if (previous_.text == "for") {
      open.kind = BracketKind::kForHead;
      open.ends_operand = false;
    }
  }
  open_.push_back(open);
  ExpectOperand();
}

void GrammarState::OpenBrace(const Token& token) {
  Open open{.kind = BracketKind::kBlock, .token = token};
  const bool returned = previous_.kind == TokenKind::kKeyword && token.newline_before &&
                        IsOneOf(previous_, {"return", "break", "continue"});
  if (top().class_body != Pending::kNone) {
    open.kind = BracketKind::kClass;
    open.ends_operand = top().class_body == Pending::kExpression;
    top().class_body = Pending::kNone;
  } else if (previous_.Is(")") && closed_.kind == BracketKind::kParameters) {
    open.ends_operand = closed_.of_expression;
  } else if (previous_.Is("=>")) {
    open.ends_operand = true;
  } else if (operand_expected_ && !statement_expected_ && !returned &&
             !previous_.IsKeyword("catch")) {
    open.kind = BracketKind::kObject;
    open.ends_operand = true;
  }
  open_.push_back(open);
  open.kind == BracketKind::kBlock ? ExpectStatement() : ExpectOperand();
}

void GrammarState::Close() {
  closed_ = top();
  open_.pop_back();
  closed_.ends_operand ? EndOperand() : ExpectStatement();
}

}  // namespace sluice::function
