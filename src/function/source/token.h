// The tokens of JavaScript text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "function/source/characters.h"

namespace sluice::function {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,   // also a reserved word where it names a property
  kPrivateName,  // #name
  kKeyword,
  kPunctuator,
  kNumber,  // also a BigInt
  kString,
  kTemplate,        // `text`
  kTemplateHead,    // `text${
  kTemplateMiddle,  // }text${
  kTemplateTail,    // }text`
  kRegex,
  kSql,    // an embedded statement, put there by embedded_sql.h
  kError,  // text that can't be read; `problem` says why
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool newline_before = false;  // between this token and the one before it
  // Whether the token before it ends an operand, so that an operator or the end of the expression
  // is expected here.
  bool after_operand = false;
  uint32_t offset = 0;
  SourcePlace place;
  std::string_view text;     // as written, in the text that was tokenized
  std::string_view problem;  // kError
  // For a bracket or a part of a template: the index of the token that closes or opens it. Set by
  // LinkPartners; 0 if there is none.
  uint32_t partner = 0;

  bool Is(std::string_view punctuator) const {
    return kind == TokenKind::kPunctuator && text == punctuator;
  }
  bool IsKeyword(std::string_view word) const {
    return kind == TokenKind::kKeyword && text == word;
  }
  bool IsName(std::string_view name) const {
    return kind == TokenKind::kIdentifier && text == name;
  }
  bool IsWord() const { return kind == TokenKind::kIdentifier || kind == TokenKind::kKeyword; }
  size_t end() const { return offset + text.size(); }
};

inline bool IsOneOf(const Token& token, std::initializer_list<std::string_view> texts) {
  return std::ranges::find(texts, token.text) != texts.end();
}

// The name that an identifier stands for: its text with \u0061 and \u{61} replaced.
std::string NameOf(const Token& identifier);

}  // namespace sluice::function
