// Divides JavaScript text into tokens, as ECMAScript 2022 defines them, without comments and
// hashbang.
//
// Text that can't be read (a string without an end, a bracket that closes nothing) becomes a kError
// token with its place, and reading goes on after it. So the tokenizer can also read past an
// embedded SQL++ statement. A tokenizer is a value: copy it to read ahead.
#pragma once

#include <string_view>

#include "function/source/grammar_state.h"
#include "function/source/token.h"

namespace sluice::function {

// Deepest nesting of brackets and templates.
inline constexpr size_t kMaxSourceNesting = 500;

class Tokenizer {
 public:
  // `text` outlives the tokenizer and its tokens.
  explicit Tokenizer(std::string_view text) : text_(text) {}

  // At the end it returns kEnd, each time.
  Token Next();
  // The state of the grammar before the next token.
  const GrammarState& state() const { return state_; }
  // Where the next token begins.
  size_t NextOffset();
  // Continues at `offset`, as if the text from `from` to there were an operand. Returns it as kSql.
  Token SkipOperand(const Token& from, size_t offset);

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool StartsWith(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // To the next token, or to a comment that has no end.
  void SkipToToken();
  bool SkipComment();
  void SkipLine();
  Token Read();
  Token Take(TokenKind kind, size_t length);
  Token Fail(size_t length, std::string_view problem);
  Token End();

  size_t NameLength(size_t from) const;
  size_t EscapeLength(size_t from) const;
  Token Word();
  Token PrivateName();
  Token Number();
  size_t Digits(size_t from, int base, bool* wrong) const;
  Token String();
  Token Template(TokenKind whole, TokenKind open);
  Token Regex();
  Token Punctuator();
  Token Checked(Token token);

  std::string_view text_;
  size_t at_ = 0;
  SourcePlace place_;
  GrammarState state_;
  // About the next token.
  bool at_token_ = false;
  bool newline_ = false;
  bool unclosed_comment_ = false;
  bool unclosed_told_ = false;
};

}  // namespace sluice::function
