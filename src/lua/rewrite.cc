// Walks over the expressions of the text, as far as needed to find the operands of .. and #. Text
// that is not Lua stays unchanged: the compiler reports the error.
#include "lua/rewrite.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace sluice::lua {
namespace {

// The compiler refuses deeper nesting.
constexpr int kMaxDepth = 220;
constexpr uint64_t kExact = uint64_t{1} << 53;

struct Binary {
  std::string_view text;
  int left;
  int right;
};
constexpr int kConcat = 9;
constexpr int kUnary = 12;
constexpr Binary kBinaries[] = {
    {"or", 1, 1},   {"and", 2, 2}, {"<", 3, 3},   {">", 3, 3},   {"<=", 3, 3},  {">=", 3, 3},
    {"~=", 3, 3},   {"==", 3, 3},  {"|", 4, 4},   {"~", 5, 5},   {"&", 6, 6},   {"<<", 7, 7},
    {">>", 7, 7},   {"..", 9, 8},  {"+", 10, 10}, {"-", 10, 10}, {"*", 11, 11}, {"/", 11, 11},
    {"//", 11, 11}, {"%", 11, 11}, {"^", 14, 13}};
// Names that begin no operand.
constexpr std::string_view kWords[] = {"and",    "break",  "do",   "else",  "elseif", "end",
                                       "for",    "goto",   "if",   "in",    "local",  "or",
                                       "repeat", "return", "then", "until", "while",  "not"};

class Walker {
 public:
  Walker(const std::vector<Token>& tokens, std::vector<Edit>* edits)
      : tokens_(tokens), edits_(*edits) {}

  void Run() {
    for (size_t i = 0; i < tokens_.size();) i = Items(i) + 1;
  }

 private:
  bool Is(size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].kind != TokenKind::kString && tokens_[i].text == text;
  }
  bool IsName(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::kName &&
           std::ranges::find(kWords, tokens_[i].text) == std::end(kWords);
  }
  bool IsString(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::kString;
  }
  size_t EndOf(size_t i) const { return tokens_[i].offset + tokens_[i].text.size(); }
  void InsertAfter(size_t i, std::string_view text) {
    edits_.push_back({.offset = EndOf(i), .length = 0, .text = std::string(text)});
  }
  void Replace(size_t i, std::string_view text) {
    edits_.push_back(
        {.offset = tokens_[i].offset, .length = tokens_[i].text.size(), .text = std::string(text)});
  }

  // One level deeper, as long as it lives.
  class Level {
   public:
    explicit Level(Walker& walker) : walker_(walker) { ++walker_.depth_; }
    ~Level() { --walker_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool too_deep() const { return walker_.depth_ > kMaxDepth; }

   private:
    Walker& walker_;
  };

  // Everything up to the bracket, `end` or `until` that closes the block around `i`, or to the end.
  size_t Items(size_t i) {
    const Level level(*this);
    if (level.too_deep()) return tokens_.size();
    while (i < tokens_.size()) {
      if (Is(i, ")") || Is(i, "]") || Is(i, "}") || Is(i, "end") || Is(i, "until")) return i;
      if (Is(i, "do") || Is(i, "if") || Is(i, "repeat") || Is(i, "[")) {
        i = Items(i + 1) + 1;
      } else if (Is(i, "for")) {
        i = For(i);
      } else {
        i = std::max(Expression(i, 0), i + 1);
      }
    }
    return tokens_.size();
  }

  // for i = first, last do: the loop counts in doubles because its step is one.
  size_t For(size_t i) {
    if (!IsName(i + 1) || !Is(i + 2, "=")) return i + 1;
    size_t at = Expression(i + 3, 0);
    if (!Is(at, ",")) return at;
    at = Expression(at + 1, 0);
    if (Is(at, "do")) InsertAfter(at - 1, ", 1.0");
    return at;
  }

  const Binary* BinaryAt(size_t i) const {
    if (i >= tokens_.size() || IsString(i)) return nullptr;
    const auto found = std::ranges::find(kBinaries, tokens_[i].text, &Binary::text);
    return found == std::end(kBinaries) ? nullptr : found;
  }

  // The token after the expression at `i`; `i` itself when none begins there.
  size_t Expression(size_t i, int limit) {
    const Level level(*this);
    if (level.too_deep()) return tokens_.size();
    const size_t start = i;
    if (Is(i, "#") || Is(i, "-") || Is(i, "not") || Is(i, "~")) {
      i = Expression(i + 1, kUnary);
      if (Is(start, "#") && i > start + 1 && i <= tokens_.size()) {
        Replace(start, "__length(");
        InsertAfter(i - 1, ")");
      }
    } else {
      i = Operand(i);
    }
    if (i == start) return i;
    for (const Binary* op = BinaryAt(i); op != nullptr && op->left > limit; op = BinaryAt(i)) {
      const size_t next =
          op->left == kConcat ? Concatenation(start, i) : Expression(i + 1, op->right);
      if (next <= i + 1) return next;
      i = next;
    }
    return i;
  }

  // a .. b .. c, from `start`; `i` is at the first of the dots.
  size_t Concatenation(size_t start, size_t i) {
    edits_.push_back({.offset = tokens_[start].offset, .length = 0, .text = "__concat("});
    while (Is(i, "..")) {
      Replace(i, ",");
      const size_t next = Expression(i + 1, kConcat);
      if (next == i + 1 || next >= tokens_.size() + 1) return next;
      i = next;
    }
    InsertAfter(i - 1, ")");
    return i;
  }

  size_t Operand(size_t i) {
    if (i >= tokens_.size()) return i;
    if (tokens_[i].kind == TokenKind::kNumber) {
      Number(i);
      return i + 1;
    }
    if (IsString(i) || Is(i, "...")) return i + 1;
    if (Is(i, "function")) return Function(i);
    if (Is(i, "{")) return Bracket(i);
    if (Is(i, "(")) return Suffixes(Bracket(i));
    return IsName(i) ? Suffixes(i + 1) : i;
  }

  size_t Bracket(size_t i) { return std::min(Items(i + 1) + 1, tokens_.size()); }

  // Fields, indexes and calls.
  size_t Suffixes(size_t i) {
    while (i < tokens_.size()) {
      if ((Is(i, ".") || Is(i, ":")) && i + 1 < tokens_.size()) {
        i += 2;
      } else if (Is(i, "[") || Is(i, "(") || Is(i, "{")) {
        i = Bracket(i);
      } else if (IsString(i)) {
        ++i;
      } else {
        break;
      }
    }
    return i;
  }

  size_t Function(size_t i) {
    while (i < tokens_.size() && !Is(i, ")")) ++i;
    return std::min(Items(std::min(i + 1, tokens_.size())) + 1, tokens_.size());
  }

  void Number(size_t i) {
    const std::string_view text = tokens_[i].text;
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (text.find_first_of(hex ? ".pP" : ".eE") != std::string_view::npos) return;
    const std::string_view digits = hex ? text.substr(2) : text;
    uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
    if (error != std::errc() || last != end || value > kExact) return;
    InsertAfter(i, hex ? "p0" : ".0");
  }

  const std::vector<Token>& tokens_;
  std::vector<Edit>& edits_;
  int depth_ = 0;
};

}  // namespace

void UseDoubles(const std::vector<Token>& tokens, std::vector<Edit>* edits) {
  Walker(tokens, edits).Run();
}

}  // namespace sluice::lua
