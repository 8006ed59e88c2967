#include "lua/lexer.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/ascii.h"

namespace sluice::lua {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

constexpr std::string_view kSymbols[] = {
    "...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>", ":="};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '-' && Peek(1) == '-') {
        SkipComment();
      } else if (IsNameStart(c)) {
        Take(TokenKind::kName, NameLength());
      } else if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
        Take(TokenKind::kNumber, NumberLength());
      } else if (c == '"' || c == '\'') {
        Take(TokenKind::kString, QuotedLength(c));
      } else if (c == '[' && LongLength(at_) > 0) {
        Take(TokenKind::kString, LongLength(at_));
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        Advance(1);
      } else {
        Take(TokenKind::kSymbol, SymbolLength());
      }
    }
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void Advance(size_t bytes) {
    line_ += static_cast<uint32_t>(std::count(text_.begin() + static_cast<ptrdiff_t>(at_),
                                              text_.begin() + static_cast<ptrdiff_t>(at_ + bytes),
                                              '\n'));
    at_ += bytes;
  }

  void Take(TokenKind kind, size_t length) {
    tokens_.push_back(
        {.kind = kind, .text = text_.substr(at_, length), .offset = at_, .line = line_});
    Advance(length);
  }

  void SkipComment() {
    const size_t length = at_ + 2 < text_.size() && text_[at_ + 2] == '[' ? LongLength(at_ + 2) : 0;
    if (length > 0) return Advance(length + 2);
    Advance(std::min(text_.find('\n', at_), text_.size()) - at_);
  }

  size_t NameLength() const {
    size_t end = at_;
    while (end < text_.size() && IsNamePart(text_[end])) ++end;
    return end - at_;
  }

  size_t NumberLength() const {
    const bool hex = text_[at_] == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
    size_t end = at_;
    while (end < text_.size()) {
      const char c = text_[end];
      const char before = end > at_ ? static_cast<char>(text_[end - 1] | 0x20) : '\0';
      const bool sign = (c == '+' || c == '-') && before == (hex ? 'p' : 'e');
      if (!IsNamePart(c) && !sign && (c != '.' || text_.substr(end, 2) == "..")) break;
      ++end;
    }
    return end - at_;
  }

  size_t QuotedLength(char quote) const {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, text_.size()) - at_;
  }

  // The length of [[...]] or [=[...]=] at `from`; 0 for another token.
  size_t LongLength(size_t from) const {
    size_t level = 0;
    while (from + 1 + level < text_.size() && text_[from + 1 + level] == '=') ++level;
    if (from + 1 + level >= text_.size() || text_[from + 1 + level] != '[') return 0;
    const std::string close = "]" + std::string(level, '=') + "]";
    const size_t end = text_.find(close, from + 2 + level);
    return (end == std::string_view::npos ? text_.size() : end + close.size()) - from;
  }

  size_t SymbolLength() const {
    for (const std::string_view symbol : kSymbols) {
      if (text_.substr(at_, symbol.size()) == symbol) return symbol.size();
    }
    return 1;
  }

  const std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Lex(std::string_view source) { return Lexer(source).Run(); }

}  // namespace sluice::lua
