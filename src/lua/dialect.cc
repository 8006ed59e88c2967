#include "lua/dialect.h"

#include <algorithm>
#include <vector>

#include "lua/convert.h"
#include "lua/lexer.h"
#include "lua/rewrite.h"

namespace sluice::lua {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
constexpr std::string_view kKeywords[] = {"and",   "break", "do",       "else", "elseif", "end",
                                          "false", "for",   "function", "goto", "if",     "in",
                                          "local", "nil",   "not",      "or",   "repeat", "return",
                                          "then",  "true",  "until",    "while"};
constexpr std::string_view kBinary[] = {"+",  "-", "*",  "/",  "//", "^",   "%",
                                        "&",  "~", "|",  ">>", "<<", "..",  "<",
                                        "<=", ">", ">=", "==", "~=", "and", "or"};
constexpr std::string_view kUnary[] = {"not", "-", "#", "~"};

template <size_t n>
bool IsOneOf(std::string_view text, const std::string_view (&list)[n]) {
  return std::ranges::find(list, text) != std::end(list);
}

class Translator {
 public:
  explicit Translator(std::string_view source) : source_(source), tokens_(Lex(source)) {}

  Result<Dialect> Run(Numbers numbers) {
    Dialect dialect;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      Blob(i);
      if (Is(i, "arg") && (i == 0 || (!Is(i - 1, ".") && !Is(i - 1, ":")))) uses_arg_ = true;
    }
    if (numbers == Numbers::kDoubles) UseDoubles(tokens_, &edits_);
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (Is(i, "declare")) Declare(i);
      if (Is(i, ":=")) RETURN_IF_ERROR(Assign(i));
      if (Is(i, "function")) RETURN_IF_ERROR(Parameters(i));
      if (depth_ == 0 && Is(i, "local")) NoteOutermost(i, &dialect.outermost);
      if (Opens(i)) ++depth_;
      if (Closes(i)) --depth_;
    }
    dialect.text = Apply();
    return dialect;
  }

 private:
  bool Is(size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].kind != TokenKind::kString && tokens_[i].text == text;
  }
  bool IsName(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::kName &&
           !IsOneOf(tokens_[i].text, kKeywords);
  }
  bool IsString(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::kString;
  }
  size_t EndOf(size_t i) const { return tokens_[i].offset + tokens_[i].text.size(); }

  // Blocks; those of `for` and `while` begin with their `do`.
  bool Opens(size_t i) const {
    return Is(i, "function") || Is(i, "if") || Is(i, "do") || Is(i, "repeat");
  }
  bool Closes(size_t i) const { return Is(i, "end") || Is(i, "until"); }

  // A function, or the names of `local a, b`.
  void NoteOutermost(size_t i, std::vector<std::string>* names) const {
    const auto add = [&](size_t at) {
      const std::string name(tokens_[at].text);
      if (std::ranges::find(*names, name) == names->end()) names->push_back(name);
    };
    if (Is(i + 1, "function")) {
      if (IsName(i + 2)) add(i + 2);
      return;
    }
    for (++i; IsName(i); i += 2) {
      add(i);
      if (!Is(i + 1, ",")) return;
    }
  }

  void Declare(size_t i) {
    size_t count = 1;
    size_t type = i + 2;
    for (; Is(type, ",") && IsName(type + 1); type += 2) ++count;
    if (!IsName(i + 1)) return;
    const size_t end = IsString(type) ? type + 1 : Operand(type);
    if (end == kNone) return;
    edits_.push_back({tokens_[i].offset, tokens_[i].text.size(), "local"});
    edits_.push_back({tokens_[type].offset, 0, "= __declare(" + std::to_string(count) + ","});
    edits_.push_back({EndOf(end - 1), 0, ")"});
  }

  // x'f00d': the string follows at once, and has pairs of hexadecimal digits.
  void Blob(size_t i) {
    if ((!Is(i, "x") && !Is(i, "X")) || !IsString(i + 1) || tokens_[i + 1].offset != EndOf(i)) {
      return;
    }
    const std::string_view text = tokens_[i + 1].text;
    if (text.size() < 2 || text.size() % 2 != 0 || text.front() == '[') return;
    if (text.substr(1, text.size() - 2).find_first_not_of("0123456789abcdefABCDEF") !=
        std::string_view::npos) {
      return;
    }
    edits_.push_back({tokens_[i].offset, 1, "__blob("});
    edits_.push_back({EndOf(i + 1), 0, ")"});
  }

  // Types of parameters, at the function's name or at the ( of one without.
  Status Parameters(size_t i) {
    for (++i; IsName(i) || Is(i, ".") || Is(i, ":");) ++i;
    if (!Is(i, "(")) return OkStatus();
    std::string casts;
    for (++i; IsName(i);) {
      if (IsName(i + 1)) {
        const std::string type(tokens_[i + 1].text);
        if (!DataTypeNamed(type)) {
          return Wrong(tokens_[i + 1], "there is no type '" + type + "' for a parameter");
        }
        const std::string name(tokens_[i].text);
        casts += " " + name + " = __cast(" + name + ", '" + type + "');";
        edits_.push_back({tokens_[i + 1].offset, type.size(), ""});
        ++i;
      }
      if (!Is(i + 1, ",")) break;
      i += 2;
    }
    const bool more = Is(i, "...");
    while (i < tokens_.size() && !Is(i, ")")) ++i;
    if (more && uses_arg_) casts += " local arg = __arguments(...);";
    if (!casts.empty() && i < tokens_.size()) edits_.push_back({EndOf(i), 0, casts});
    return OkStatus();
  }

  Status Assign(size_t i) {
    size_t first = i;
    while (first >= 1 && IsName(first - 1)) {
      --first;
      if (first < 2 || !Is(first - 1, ".")) break;
      --first;
    }
    if (first == i || Is(first, ".")) {
      return Wrong(tokens_[i], "':=' needs a variable or a field of one before it");
    }
    const size_t end = Expression(i + 1);
    if (end == kNone) return Wrong(tokens_[i], "':=' needs a value after it");
    const size_t from = tokens_[first].offset;
    const std::string target(source_.substr(from, EndOf(i - 1) - from));
    // A name with a line break in it would move the lines after it.
    std::string one_line;
    std::ranges::remove_copy(target, std::back_inserter(one_line), '\n');
    edits_.push_back({tokens_[i].offset, 2, "= __convert(" + one_line + ","});
    edits_.push_back({EndOf(end - 1), 0, ")"});
    return OkStatus();
  }

  static Status Wrong(const Token& token, std::string_view what) {
    return Error(Code::kInvalidArgument, "lua.syntax", "line {}: {}", token.line, what)
        .At({.file = "", .line = token.line, .column = 0});
  }

  // The token after the expression at `i`, or kNone.
  size_t Expression(size_t i) const {
    while (true) {
      while (i < tokens_.size() && tokens_[i].kind != TokenKind::kString &&
             IsOneOf(tokens_[i].text, kUnary)) {
        ++i;
      }
      i = Operand(i);
      if (i == kNone || i >= tokens_.size()) return i;
      if (tokens_[i].kind == TokenKind::kString || !IsOneOf(tokens_[i].text, kBinary)) return i;
      ++i;
    }
  }

  size_t Operand(size_t i) const {
    if (i >= tokens_.size()) return kNone;
    if (tokens_[i].kind == TokenKind::kNumber || tokens_[i].kind == TokenKind::kString)
      return i + 1;
    if (Is(i, "nil") || Is(i, "true") || Is(i, "false") || Is(i, "...")) return i + 1;
    if (Is(i, "function")) return FunctionEnd(i);
    if (Is(i, "{")) return Bracket(i);
    if (Is(i, "(")) return Suffixes(Bracket(i));
    return IsName(i) ? Suffixes(i + 1) : kNone;
  }

  // Fields, indexes and calls.
  size_t Suffixes(size_t i) const {
    while (i != kNone && i < tokens_.size()) {
      if (Is(i, ".") || Is(i, ":")) {
        if (!IsName(i + 1)) return kNone;
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

  // The token after the bracket that closes the one at `i`.
  size_t Bracket(size_t i) const {
    size_t depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (Is(i, "(") || Is(i, "[") || Is(i, "{")) ++depth;
      if (Is(i, ")") || Is(i, "]") || Is(i, "}")) --depth;
      if (depth == 0) return i + 1;
    }
    return kNone;
  }

  size_t FunctionEnd(size_t i) const {
    size_t depth = 0;
    for (; i < tokens_.size(); ++i) {
      if (Opens(i)) ++depth;
      if (Closes(i)) --depth;
      if (depth == 0) return i + 1;
    }
    return kNone;
  }

  std::string Apply() {
    // At the same place, the end of an outer expression comes after the end of an inner one, and
    // the replacement of a word comes last.
    std::ranges::stable_sort(edits_, [](const Edit& a, const Edit& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.length == 0 && b.length > 0;
    });
    std::string text;
    text.reserve(source_.size() + edits_.size() * 16);
    size_t at = 0;
    for (const Edit& edit : edits_) {
      text += source_.substr(at, edit.offset - at);
      text += edit.text;
      at = edit.offset + edit.length;
    }
    text += source_.substr(at);
    return text;
  }

  const std::string_view source_;
  const std::vector<Token> tokens_;
  std::vector<Edit> edits_;
  int depth_ = 0;  // of blocks
  bool uses_arg_ = false;
};

}  // namespace

Result<Dialect> ToPlainLua(std::string_view source, Numbers numbers) {
  return Translator(source).Run(numbers);
}

}  // namespace sluice::lua
