// Statement text into tokens. Comments are left out; a hint (/*+ ... */ or --+ ...) is kept where
// it has a meaning, directly after SELECT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/parse/ast.h"
#include "query/parse/dialect.h"
#include "query/parse/terminal.h"

namespace sluice::query {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,       // a keyword or an unquoted name
  kQuoted,     // `name` or `name`i; in Comdb2 also "name"
  kString,     // 'text' or, not in Comdb2, "text"
  kNumber,     // without a sign
  kBytes,      // x'00ff'
  kParameter,  // $name, @name, $1, @1
  kSymbol,
  kHint,
  kBody,  // { ... } of CREATE PROCEDURE, to the last brace of the text
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Terminal terminal;  // of words and symbols
  uint32_t length = 0;
  TextPlace place;
};

// The value of a string literal, from a token's text.
std::string DecodeString(std::string_view token, Dialect dialect = Dialect::kSqlpp);
// As json::NumberFromLiteral reads it: Comdb2 also knows .5, 5., 007 and 0x10.
std::string DecodeNumber(std::string_view token);
std::string DecodeBytes(std::string_view token);
std::string DecodeQuotedName(std::string_view token);
bool IgnoresCase(std::string_view quoted_name);
std::string_view HintText(std::string_view token);

// The last token is kEnd. Every string in the tokens is well formed.
Result<std::vector<Token>> Lex(std::string_view text, Dialect dialect = Dialect::kSqlpp);

// "syntax error - line L, column C, near '...', at: TOKEN; WHAT". `token` has the place and length
// of the text that was found.
Status SyntaxError(std::string_view text, const Token& token, std::string_view what);

}  // namespace sluice::query
