#include "query/parse/lexer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/number.h"
#include "json/text.h"
#include "query/error.h"

namespace sluice::query {
namespace {

constexpr size_t kNearBytes = 24;     // of the text before an error that its message repeats
constexpr size_t kLongestFound = 32;  // bytes of the token at an error that its message repeats
constexpr size_t kLongestKeyword = 16;
constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameCharacter(char c) { return IsNameStart(c) || IsDigit(c); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

Terminal TerminalOfWord(std::string_view word) {
  char upper[kLongestKeyword];
  if (word.size() > kLongestKeyword) return Terminal();
  for (size_t i = 0; i < word.size(); ++i) {
    upper[i] = word[i] >= 'a' && word[i] <= 'z' ? static_cast<char>(word[i] - 32) : word[i];
  }
  return Terminal::Of({upper, word.size()});
}

// Decodes the escape at `at` and returns its length; 0 when it is malformed. Beyond JSON's escapes
// there are the other two quotes.
size_t AppendEscape(std::string_view text, size_t at, std::string* out) {
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (next == '\'' || next == '`') {
    *out += next;
    return 2;
  }
  size_t length = next == 'u' ? 6 : 2;
  if (next == 'u' && text.substr(std::min(at + 6, text.size())).starts_with("\\u")) length = 12;
  const std::string_view escape = text.substr(at, length);
  return json::Unescape(escape, out) == json::kNoPosition ? escape.size() : 0;
}

class Lexer {
 public:
  Lexer(std::string_view text, Dialect dialect)
      : text_(text), comdb2_(dialect == Dialect::kComdb2) {}

  Result<std::vector<Token>> Run() {
    while (true) {
      RETURN_IF_ERROR(SkipBlanksAndComments());
      if (at_ == text_.size()) break;
      RETURN_IF_ERROR(Next());
    }
    tokens_.push_back({.place = place_});
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  Status Fail(size_t length, std::string_view what) const {
    const Token token{.length = static_cast<uint32_t>(length), .place = place_};
    return SyntaxError(text_, token, what);
  }

  void Advance(size_t bytes) {
    for (const size_t end = at_ + bytes; at_ < end; ++at_) {
      if (text_[at_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if (!IsContinuation(text_[at_])) {
        ++place_.column;
      }
    }
    place_.offset = static_cast<uint32_t>(at_);
  }

  Status Take(TokenKind kind, size_t length, Terminal terminal = {}) {
    tokens_.push_back({.kind = kind,
                       .terminal = terminal,
                       .length = static_cast<uint32_t>(length),
                       .place = place_});
    Advance(length);
    return OkStatus();
  }

  Status SkipBlanksAndComments() {
    while (at_ < text_.size()) {
      if (IsSpace(Peek())) {
        Advance(1);
      } else if (Peek() == '-' && Peek(1) == '-') {
        const size_t end = std::min(text_.find('\n', at_), text_.size());
        TakeComment(end - at_);
      } else if (Peek() == '/' && Peek(1) == '/' && InTableBraces()) {
        TakeComment(std::min(text_.find('\n', at_), text_.size()) - at_);
      } else if (Peek() == '/' && Peek(1) == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return Fail(2, "the comment has no end: expected */");
        TakeComment(end + 2 - at_);
      } else {
        break;
      }
    }
    return OkStatus();
  }

  void TakeComment(size_t length) {
    const bool after_select = !tokens_.empty() && tokens_.back().terminal == Terminal("SELECT");
    const bool after_hint = !tokens_.empty() && tokens_.back().kind == TokenKind::kHint;
    if (Peek(2) == '+' && (after_select || after_hint)) {
      static_cast<void>(Take(TokenKind::kHint, length));
    } else {
      Advance(length);
    }
  }

  Status Next() {
    const char c = Peek();
    if (IsNameStart(c)) return Word();
    if (IsDigit(c)) return comdb2_ ? Comdb2Number() : Number();
    if (comdb2_ && c == '.' && IsDigit(Peek(1)) && !EndsOperand()) return Comdb2Number();
    if (comdb2_ && c == '"') return DoubleQuotedName();
    if (c == '"' || c == '\'') return String();
    if (c == '`') return QuotedName();
    if (c == '$' || c == '@') return Parameter();
    if (c == '{' && InCreateProcedure()) return ProcedureBody();
    return Symbol();
  }

  size_t NameLength(size_t from) const {
    size_t end = from;
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
    return end - from;
  }

  Status Word() {
    const size_t length = NameLength(at_);
    if (length == 1 && (Peek() == 'x' || Peek() == 'X') && Peek(1) == '\'') return HexBytes();
    const std::string_view word = text_.substr(at_, length);
    // SELECTV is a SELECT whose rows must still be there at COMMIT: here those of each one must.
    if (comdb2_ && db::SameColumnName(word, "selectv")) {
      return Take(TokenKind::kWord, length, Terminal("SELECT"));
    }
    return Take(TokenKind::kWord, length, TerminalOfWord(word));
  }

  // x'00ff'
  Status HexBytes() {
    const size_t end = text_.find('\'', at_ + 2);
    if (end == std::string_view::npos) return Fail(2, "the bytes have no end: expected '");
    const std::string_view digits = text_.substr(at_ + 2, end - at_ - 2);
    const bool hex = digits.find_first_not_of(kHexDigits) == std::string_view::npos;
    if (!hex || digits.size() % 2 != 0) {
      return Fail(end + 1 - at_, "bytes are written as pairs of hexadecimal digits: x'00ff'");
    }
    return Take(TokenKind::kBytes, end + 1 - at_);
  }

  Status Number() {
    const size_t length = json::NumberLength(text_.substr(at_));
    const size_t run = std::max(length, NameLength(at_));
    if (length == 0) return Fail(run, "a number has digits after its point and its exponent");
    if (at_ + length < text_.size() && IsNameCharacter(text_[at_ + length])) {
      const bool zero = Peek() == '0' && IsDigit(Peek(1));
      return Fail(run, zero ? "a number can't start with 0"
                            : "a name can't start with a digit, unless it is in back quotes");
    }
    if (!std::isfinite(json::NumberFromLiteral(text_.substr(at_, length)).ToDouble())) {
      return Fail(length, "the number is too large");
    }
    return Take(TokenKind::kNumber, length);
  }

  // Digits with a point anywhere, or 0x and hexadecimal ones.
  Status Comdb2Number() {
    const auto digits = [&](size_t from) {
      while (from < text_.size() && IsDigit(text_[from])) ++from;
      return from;
    };
    size_t end = at_;
    if (Peek() == '0' && (Peek(1) | 32) == 'x') {
      end = std::min(text_.find_first_not_of(kHexDigits, at_ + 2), text_.size());
      constexpr size_t kMostHexDigits = 16;
      if (end == at_ + 2 || end - at_ - 2 > kMostHexDigits) {
        return Fail(end - at_, "0x has 1 to 16 hexadecimal digits");
      }
    } else {
      end = digits(end);
      if (end < text_.size() && text_[end] == '.') end = digits(end + 1);
      if (end < text_.size() && (text_[end] | 32) == 'e') {
        const bool sign =
            end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-');
        const size_t exponent = end + (sign ? 2 : 1);
        if (digits(exponent) > exponent) end = digits(exponent);
      }
    }
    if (end < text_.size() && IsNameCharacter(text_[end])) {
      return Fail(end - at_ + NameLength(end), "a name can't start with a digit");
    }
    return Take(TokenKind::kNumber, end - at_);
  }

  // Whether the token before a dot ends an operand: then t.5 is not a number.
  bool EndsOperand() const {
    if (tokens_.empty() || tokens_.back().place.offset + tokens_.back().length != at_) return false;
    const Token& last = tokens_.back();
    return last.kind == TokenKind::kWord || last.kind == TokenKind::kQuoted ||
           last.terminal == Terminal("]") || last.terminal == Terminal(")");
  }

  Status DoubleQuotedName() {
    size_t end = at_ + 1;
    while (end < text_.size()) {
      if (text_[end] != '"') {
        ++end;
      } else if (end + 1 < text_.size() && text_[end + 1] == '"') {
        end += 2;
      } else {
        return Take(TokenKind::kQuoted, end + 1 - at_);
      }
    }
    return Fail(text_.size() - at_, "the name has no end: expected \"");
  }

  Status String() {
    const char quote = Peek();
    std::string ignored;
    size_t end = at_ + 1;
    while (end < text_.size()) {
      if (text_[end] == quote) {
        if (end + 1 >= text_.size() || text_[end + 1] != quote) {
          return Take(TokenKind::kString, end + 1 - at_);
        }
        end += 2;
      } else if (text_[end] == '\\' && !comdb2_) {
        ignored.clear();
        const size_t length = AppendEscape(text_, end, &ignored);
        if (length == 0) {
          Advance(end - at_);
          return Fail(2, R"(a string knows \" \' \\ \/ \b \f \n \r \t and \uXXXX; write \\ for \)");
        }
        end += length;
      } else {
        ++end;
      }
    }
    return Fail(text_.size() - at_, fmt::format("the string has no end: expected {}", quote));
  }

  Status QuotedName() {
    size_t end = at_ + 1;
    while (end < text_.size()) {
      if (text_[end] != '`') {
        ++end;
      } else if (end + 1 < text_.size() && text_[end + 1] == '`') {
        end += 2;
      } else {
        const bool any_case = end + 1 < text_.size() && text_[end + 1] == 'i' &&
                              (end + 2 == text_.size() || !IsNameCharacter(text_[end + 2]));
        return Take(TokenKind::kQuoted, end + (any_case ? 2 : 1) - at_);
      }
    }
    return Fail(text_.size() - at_, "the name has no end: expected `");
  }

  Status Parameter() {
    const size_t length = NameLength(at_ + 1);
    if (length == 0) {
      return Fail(1, "a parameter has a name or a number: $name, $1");
    }
    return Take(TokenKind::kParameter, length + 1);
  }

  // In a schema as Comdb2 writes it, // begins a comment.
  bool InTableBraces() const {
    return tokens_.size() > 2 && tokens_[1].terminal == Terminal("TABLE") &&
           std::ranges::any_of(tokens_, [](const Token& t) { return t.terminal == Terminal("{"); });
  }

  bool InCreateProcedure() const {
    return tokens_.size() > 2 && tokens_[0].terminal == Terminal("CREATE") &&
           tokens_[1].terminal == Terminal("PROCEDURE");
  }

  // Lua is not read as SQL: the text between the braces is one token.
  Status ProcedureBody() {
    const size_t end = text_.rfind('}');
    if (end == std::string_view::npos || end < at_) {
      return Fail(1, "the text of the procedure has no end: expected }");
    }
    return Take(TokenKind::kBody, end + 1 - at_);
  }

  Status Symbol() {
    if (Peek() == '?' && Peek(1) == '?') return Fail(2, "?? (any element) is not supported");
    for (const size_t length : {2, 1}) {
      const Terminal symbol = Terminal::Of(text_.substr(at_, length));
      if (!symbol.none()) return Take(TokenKind::kSymbol, symbol.text().size(), symbol);
    }
    size_t length = 1;
    while (at_ + length < text_.size() && IsContinuation(text_[at_ + length])) ++length;
    return Fail(length, length > 1 ? "a name with other letters than A-Z goes in back quotes"
                                   : "no statement has such a character outside of strings");
  }

  const std::string_view text_;
  const bool comdb2_;
  size_t at_ = 0;
  TextPlace place_{.line = 1, .column = 1, .offset = 0};
  std::vector<Token> tokens_;
};

// The end of `text` that fits into `limit` bytes, from the start of a character.
std::string_view Tail(std::string_view text, size_t limit) {
  size_t from = text.size() > limit ? text.size() - limit : 0;
  while (from < text.size() && IsContinuation(text[from])) ++from;
  return text.substr(from);
}

std::string_view Head(std::string_view text, size_t limit) {
  size_t end = std::min(text.size(), limit);
  while (end < text.size() && end > 0 && IsContinuation(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace

std::string DecodeString(std::string_view token, Dialect dialect) {
  const char quote = token.front();
  const std::string_view body = token.substr(1, token.size() - 2);
  std::string text;
  text.reserve(body.size());
  for (size_t at = 0; at < body.size();) {
    if (body[at] == quote) {
      text += quote;
      at += 2;
    } else if (body[at] == '\\' && dialect == Dialect::kSqlpp) {
      at += AppendEscape(body, at, &text);
    } else {
      text += body[at++];
    }
  }
  return text;
}

std::string DecodeNumber(std::string_view token) {
  if (token.starts_with("0x") || token.starts_with("0X")) {
    uint64_t bits = 0;
    std::from_chars(token.data() + 2, token.data() + token.size(), bits, 16);
    return std::to_string(static_cast<int64_t>(bits));  // as SQLite: all 64 bits, with a sign
  }
  std::string number(token);
  number.erase(0, std::min(number.find_first_not_of('0'), number.size()));
  if (number.empty() || !IsDigit(number[0])) number.insert(0, "0");
  const size_t point = number.find('.');
  if (point != std::string::npos && (point + 1 == number.size() || !IsDigit(number[point + 1]))) {
    number.insert(point + 1, "0");
  }
  return number;
}

std::string DecodeBytes(std::string_view token) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string bytes;
  for (size_t at = 2; at + 2 < token.size(); at += 2) {
    bytes += static_cast<char>(digit(token[at]) << 4 | digit(token[at + 1]));
  }
  return bytes;
}

bool IgnoresCase(std::string_view quoted_name) { return quoted_name.back() == 'i'; }

std::string DecodeQuotedName(std::string_view token) {
  const std::string_view body = token.substr(1, token.size() - (IgnoresCase(token) ? 3 : 2));
  std::string name;
  name.reserve(body.size());
  const char quote = token.front();
  for (size_t at = 0; at < body.size(); at += body[at] == quote ? 2 : 1) name += body[at];
  return name;
}

std::string_view HintText(std::string_view token) {
  token.remove_prefix(3);
  if (token.ends_with("*/")) token.remove_suffix(2);
  const size_t from = token.find_first_not_of(" \t\r\n\f");
  if (from == std::string_view::npos) return "";
  return token.substr(from, token.find_last_not_of(" \t\r\n\f") + 1 - from);
}

Result<std::vector<Token>> Lex(std::string_view text, Dialect dialect) {
  if (text.size() > kMaxStatementBytes) {
    return QueryFail(QueryCode::kSyntax, "the statement has {} bytes; the most is {}", text.size(),
                     kMaxStatementBytes);
  }
  if (!IsValidUtf8(text)) {
    return QueryFail(QueryCode::kSyntax, "the statement is not valid UTF-8");
  }
  return Lexer(text, dialect).Run();
}

Status SyntaxError(std::string_view text, const Token& token, std::string_view what) {
  const TextPlace& place = token.place;
  const std::string_view before = text.substr(0, place.offset);
  const std::string_view found = text.substr(place.offset, token.length);
  const std::string_view shown = Head(found, kLongestFound);
  return QueryError(QueryCode::kSyntax,
                    "syntax error - line {}, column {}, near '{}', at: {}{}; {}", place.line,
                    place.column, Tail(before, kNearBytes),
                    found.empty() ? "the end of the statement" : shown,
                    shown.size() < found.size() ? "..." : "", what)
      .At({.file = "", .line = place.line, .column = place.column});
}

}  // namespace sluice::query
