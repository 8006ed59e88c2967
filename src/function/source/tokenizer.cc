#include "function/source/tokenizer.h"

#include <algorithm>

namespace sluice::function {
namespace {

// Longest first.
constexpr std::string_view kPunctuators[] = {
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=",  ">>>", "&&=", "||=", "\?\?=", "=>",
    "==",   "!=",  "<=",  ">=",  "&&",  "||",  "\?\?", "?.",  "++",  "--",  "+=",    "-=",
    "*=",   "/=",  "%=",  "&=",  "|=",  "^=",  "<<",   ">>",  "**",  "{",   "}",     "(",
    ")",    "[",   "]",   ";",   ",",   "<",   ">",    "+",   "-",   "*",   "/",     "%",
    "&",    "|",   "^",   "!",   "~",   "?",   ":",    "=",   "."};

int DigitValue(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// The character of an escape of a name (\u0061, \u{61}) at `at`; 0 when it is none.
char32_t EscapedCharacter(std::string_view text, size_t at, size_t* length) {
  if (text.substr(at, 2) != "\\u") return 0;
  const bool braces = at + 2 < text.size() && text[at + 2] == '{';
  const size_t first = at + (braces ? 3 : 2);
  size_t end = first;
  char32_t value = 0;
  while (end < text.size() && DigitValue(text[end]) < 16 && (braces || end < first + 4)) {
    value = value * 16 + static_cast<char32_t>(DigitValue(text[end++]));
    if (value > 0x10ffff) return 0;
  }
  if (braces ? end == first || end >= text.size() || text[end] != '}' : end != first + 4) return 0;
  *length = end + (braces ? 1 : 0) - at;
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  return IsNamePart(value) && !surrogate ? value : 0;
}

void AppendUtf8(char32_t c, std::string* out) {
  if (c < 0x80) {
    *out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *out += static_cast<char>((0xff00 >> (more + 1)) | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) *out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
}

// The problem of an open bracket when another kind of bracket is closed.
std::string_view NoEndBefore(char open, char closed) {
  switch (open) {
    case '(':
      return closed == ']' ? "the bracket has no end: expected ) before the next ]"
                           : "the bracket has no end: expected ) before the next }";
    case '[':
      return closed == ')' ? "the bracket has no end: expected ] before the next )"
                           : "the bracket has no end: expected ] before the next }";
    case '{':
      return closed == ')' ? "the bracket has no end: expected } before the next )"
                           : "the bracket has no end: expected } before the next ]";
    default:
      return "the substitution has no end: expected } first";
  }
}

}  // namespace

std::string NameOf(const Token& identifier) {
  if (identifier.text.find('\\') == std::string_view::npos) return std::string(identifier.text);
  std::string name;
  for (size_t at = 0; at < identifier.text.size();) {
    size_t length = 1;
    if (const char32_t c = EscapedCharacter(identifier.text, at, &length)) {
      AppendUtf8(c, &name);
    } else {
      name += identifier.text[at];
    }
    at += length;
  }
  return name;
}

Token Tokenizer::Next() {
  SkipToToken();
  const bool after_operand = !state_.operand_expected();
  Token token;
  if (unclosed_comment_) {
    unclosed_comment_ = false;
    token = Fail(text_.size() - at_, "the comment has no end: expected */");
  } else if (at_ == text_.size()) {
    token = End();
  } else {
    token = Checked(Read());
  }
  at_token_ = false;
  token.newline_before = newline_;
  token.after_operand = after_operand;
  state_.Saw(token);
  if (state_.depth() > kMaxSourceNesting) {
    token.kind = TokenKind::kError;
    token.problem = "the code is nested too deeply";
    at_ = text_.size();
    unclosed_told_ = true;
    state_ = GrammarState();
  }
  return token;
}

Token Tokenizer::SkipOperand(const Token& from, size_t offset) {
  Token token = from;
  token.kind = TokenKind::kSql;
  token.text = text_.substr(from.offset, offset - from.offset);
  state_.Saw(token);
  at_token_ = false;
  at_ = offset;
  place_ = PlaceAfter(from.place, token.text);
  return token;
}

size_t Tokenizer::NextOffset() {
  SkipToToken();
  return at_;
}

void Tokenizer::SkipToToken() {
  if (at_token_) return;
  at_token_ = true;
  newline_ = at_ == 0;
  while (at_ < text_.size()) {
    const Character c = CharacterAt(text_, at_);
    const size_t end = LineEndLength(text_, at_);
    if (end > 0 || IsBlank(c.value)) {
      newline_ = newline_ || end > 0;
      const size_t length = std::max<size_t>(end, c.length);
      place_ = PlaceAfter(place_, text_.substr(at_, length));
      at_ += length;
    } else if (!SkipComment()) {
      return;
    }
  }
}

// False when there is none, or one without an end.
bool Tokenizer::SkipComment() {
  const bool line = StartsWith("//") || StartsWith("<!--") || (at_ == 0 && StartsWith("#!")) ||
                    (newline_ && StartsWith("-->"));
  if (line) SkipLine();
  if (line || !StartsWith("/*")) return line;
  const size_t end = text_.find("*/", at_ + 2);
  unclosed_comment_ = end == std::string_view::npos;
  if (unclosed_comment_) return false;
  const SourcePlace after = PlaceAfter(place_, text_.substr(at_, end + 2 - at_));
  newline_ = newline_ || after.line != place_.line;
  place_ = after;
  at_ = end + 2;
  return true;
}

void Tokenizer::SkipLine() {
  const size_t from = at_;
  while (at_ < text_.size() && LineEndLength(text_, at_) == 0) ++at_;
  place_ = PlaceAfter(place_, text_.substr(from, at_ - from));
}

Token Tokenizer::Take(TokenKind kind, size_t length) {
  Token token{.kind = kind,
              .offset = static_cast<uint32_t>(at_),
              .place = place_,
              .text = text_.substr(at_, length)};
  place_ = PlaceAfter(place_, token.text);
  at_ += token.text.size();
  return token;
}

Token Tokenizer::Fail(size_t length, std::string_view problem) {
  Token token = Take(TokenKind::kError, length);
  token.problem = problem;
  return token;
}

// Before the end, returns an error for a bracket that was never closed, at its own place.
Token Tokenizer::End() {
  if (state_.depth() == 0 || unclosed_told_) return Take(TokenKind::kEnd, 0);
  unclosed_told_ = true;
  Token token = state_.opener();
  token.kind = TokenKind::kError;
  const char c = token.text[0];
  token.problem = c == '('   ? "the bracket has no end: expected )"
                  : c == '[' ? "the bracket has no end: expected ]"
                             : "the bracket has no end: expected }";
  return token;
}

Token Tokenizer::Read() {
  const char c = Peek();
  if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number();
  if (c == '"' || c == '\'') return String();
  if (c == '`') return Template(TokenKind::kTemplate, TokenKind::kTemplateHead);
  if (c == '}' && state_.in_template()) {
    return Template(TokenKind::kTemplateTail, TokenKind::kTemplateMiddle);
  }
  if (c == '#') return PrivateName();
  if (c == '\\' || IsNameStart(CharacterAt(text_, at_).value)) return Word();
  if (c == '/' && state_.operand_expected()) return Regex();
  return Punctuator();
}

size_t Tokenizer::EscapeLength(size_t from) const {
  size_t length = 0;
  return EscapedCharacter(text_, from, &length) == 0 ? 0 : length;
}

// Of a name with its escapes; 0 when none is there.
size_t Tokenizer::NameLength(size_t from) const {
  size_t end = from;
  while (end < text_.size()) {
    if (text_[end] == '\\') {
      const size_t length = EscapeLength(end);
      if (length == 0) break;
      end += length;
    } else {
      const Character c = CharacterAt(text_, end);
      if (!IsNamePart(c.value)) break;
      end += c.length;
    }
  }
  return end - from;
}

Token Tokenizer::Word() {
  const size_t length = NameLength(at_);
  if (length == 0 || (at_ + length < text_.size() && text_[at_ + length] == '\\')) {
    return Fail(length + 1, R"(a name knows the escapes \u0061 and \u{61} only)");
  }
  const std::string_view word = text_.substr(at_, length);
  const bool keyword = IsReservedWord(word) && !state_.name_expected(newline_);
  return Take(keyword ? TokenKind::kKeyword : TokenKind::kIdentifier, length);
}

Token Tokenizer::PrivateName() {
  const size_t length = NameLength(at_ + 1);
  if (length == 0 || IsDigit(Peek(1))) return Fail(1, "# begins a private name; none follows");
  return Take(TokenKind::kPrivateName, length + 1);
}

// The end of the digits from `from`; `wrong` when a _ is not between two of them.
size_t Tokenizer::Digits(size_t from, int base, bool* wrong) const {
  size_t end = from;
  while (end < text_.size() && (text_[end] == '_' || DigitValue(text_[end]) < base)) {
    if (text_[end] == '_') {
      const bool inside = end > from && text_[end - 1] != '_' && end + 1 < text_.size() &&
                          DigitValue(text_[end + 1]) < base;
      *wrong = *wrong || !inside;
    }
    ++end;
  }
  return end;
}

Token Tokenizer::Number() {
  bool wrong = false;
  size_t end = at_;
  const char kind = Peek() == '0' ? static_cast<char>(Peek(1) | 0x20) : '\0';
  const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
  if (base != 10) {
    end = Digits(at_ + 2, base, &wrong);
    wrong = wrong || end == at_ + 2;
  } else {
    end = Digits(at_, 10, &wrong);
    const bool bigint = end < text_.size() && text_[end] == 'n';
    if (!bigint && end < text_.size() && text_[end] == '.') end = Digits(end + 1, 10, &wrong);
    if (!bigint && end < text_.size() && (text_[end] | 0x20) == 'e') {
      size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      end = Digits(digits, 10, &wrong);
      wrong = wrong || end == digits;
    }
  }
  if (end < text_.size() && text_[end] == 'n') ++end;
  const size_t rest = NameLength(end);
  if (wrong || rest > 0) return Fail(end + rest - at_, "this is not a number");
  return Take(TokenKind::kNumber, end - at_);
}

Token Tokenizer::String() {
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != Peek()) {
    if (text_[end] == '\n' || text_[end] == '\r') break;
    if (text_[end] == '\\') end += std::max<size_t>(LineEndLength(text_, end + 1), 1);
    ++end;
  }
  end = std::min(end, text_.size());
  if (end < text_.size() && text_[end] == Peek()) return Take(TokenKind::kString, end + 1 - at_);
  return Fail(end - at_, Peek() == '"' ? "the string has no end: expected \" on the same line"
                                       : "the string has no end: expected ' on the same line");
}

// From a ` or from the } of a substitution, to the closing ` or to the next substitution.
Token Tokenizer::Template(TokenKind whole, TokenKind open) {
  size_t end = at_ + 1;
  while (end < text_.size()) {
    if (text_[end] == '`') return Take(whole, end + 1 - at_);
    if (text_.substr(end, 2) == "${") return Take(open, end + 2 - at_);
    end += text_[end] == '\\' ? 2 : 1;
  }
  return Fail(text_.size() - at_, "the template has no end: expected `");
}

Token Tokenizer::Regex() {
  size_t end = at_ + 1;
  bool in_class = false;
  while (end < text_.size() && LineEndLength(text_, end) == 0) {
    const char c = text_[end];
    if (c == '/' && !in_class) return Take(TokenKind::kRegex, end + 1 + NameLength(end + 1) - at_);
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    if (c == '\\' && LineEndLength(text_, end + 1) == 0) ++end;
    ++end;
  }
  return Fail(std::min(end, text_.size()) - at_,
              "the regular expression has no end: expected / on the same line");
}

Token Tokenizer::Punctuator() {
  for (const std::string_view punctuator : kPunctuators) {
    if (punctuator[0] != Peek() || !StartsWith(punctuator)) continue;
    // a?.5:b
    if (punctuator == "?." && IsDigit(Peek(2))) continue;
    return Take(TokenKind::kPunctuator, punctuator.size());
  }
  return Fail(CharacterAt(text_, at_).length, "no JavaScript has such a character here");
}

// If the token closes another bracket than the last open one, that one has no end: the error has
// its place.
Token Tokenizer::Checked(Token token) {
  const bool closing = token.Is(")") || token.Is("]") || token.Is("}");
  if (!closing || state_.Closes(token)) return token;
  const bool fits_one = state_.ClosesSome(token);
  token.kind = TokenKind::kError;
  if (!fits_one) {
    token.problem = "the bracket closes nothing";
    return token;
  }
  Token open = state_.opener();
  open.kind = TokenKind::kError;
  open.problem = NoEndBefore(open.text[0], token.text[0]);
  return open;
}

}  // namespace sluice::function
