// The words of a Lua text. Comments and blanks are left out.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::lua {

enum class TokenKind : uint8_t { kName, kNumber, kString, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kSymbol;
  std::string_view text;
  size_t offset = 0;
  uint32_t line = 1;
};

// Never fails: a string or comment without an end reaches to the end of the text.
std::vector<Token> Lex(std::string_view source);

}  // namespace sluice::lua
