#include "function/source/embedded_sql.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "function/source/sql_statement.h"
#include "function/source/sql_text.h"
#include "function/source/tokenizer.h"

namespace sluice::function {
namespace {

constexpr std::string_view kVerbs[] = {"advise", "alter",   "build",   "create",  "delete",
                                       "drop",   "execute", "explain", "from",    "grant",
                                       "infer",  "insert",  "merge",   "prepare", "rename",
                                       "revoke", "select",  "update",  "upsert",  "with"};
// Parentheses before a verb that are looked through.
constexpr int kMaxLeadingParentheses = 8;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

// Whether JavaScript can't have `token` after `previous`. A new line may end a statement, so what
// begins one is never refused.
bool Refuses(const Token& previous, const Token& token) {
  if (token.kind == TokenKind::kError) return true;
  if (token.after_operand) {
    if (token.newline_before || previous.Is("}")) return false;
    if (previous.kind == TokenKind::kIdentifier &&
        IsOneOf(previous, {"async", "get", "set", "static"})) {
      return false;
    }
    if (token.kind == TokenKind::kKeyword) return !IsOneOf(token, {"in", "instanceof", "extends"});
    if (token.kind == TokenKind::kIdentifier) return token.text != "of";
    return token.kind == TokenKind::kNumber || token.kind == TokenKind::kString;
  }
  const bool operand_must_follow =
      previous.kind == TokenKind::kPunctuator && !IsOneOf(previous, {";", "{", "}", ")", ",", ":"});
  return operand_must_follow && token.kind == TokenKind::kPunctuator &&
         IsOneOf(token, {"*", "%", "=", "==", "===", "!=", "!==", "<", ">", "<=", ">=", "&&", "||",
                         "&", "|", "^", "**", "."});
}

// How a candidate reads as JavaScript.
struct Reading {
  bool refused = false;        // somewhere
  bool refused_early = false;  // before any brace
  bool refused_at_verb = false;
  std::string_view from;  // the word FROM, as a variable's name; empty when it does not occur
};

class Finder {
 public:
  // Without names, cases that depend on them count as JavaScript, and `undecided` is set.
  Finder(std::string_view text, const std::set<std::string>* names)
      : text_(text), names_(names), tokenizer_(text) {}

  EmbeddedSql Run() {
    do {
      found_.tokens.push_back(Next());
    } while (found_.tokens.back().kind != TokenKind::kEnd);
    LinkPartners(&found_.tokens);
    return std::move(found_);
  }

  bool undecided() const { return undecided_; }

 private:
  Token Next() {
    if (!VerbAhead(tokenizer_.NextOffset())) return tokenizer_.Next();
    const Tokenizer before = tokenizer_;
    const Token token = tokenizer_.Next();
    if (!MayBegin(before.state(), token) || !Try(before, token)) return token;
    tokenizer_ = before;
    return tokenizer_.SkipOperand(token, found_end_);
  }

  // A quick look, which spares most tokens a copy of the tokenizer.
  bool VerbAhead(size_t at) const {
    while (at < text_.size() && (text_[at] == '(' || IsBlank(text_[at]) || text_[at] == '\n')) ++at;
    size_t end = at;
    while (end < text_.size() && IsNamePart(CharacterAt(text_, end).value)) ++end;
    return IsSqlVerb(text_.substr(at, end - at));
  }

  // Whether an operand or a statement may begin with this token, and it is a word or a parenthesis.
  static bool MayBegin(const GrammarState& state, const Token& token) {
    if (token.kind != TokenKind::kIdentifier && token.kind != TokenKind::kKeyword &&
        !token.Is("(")) {
      return false;
    }
    const bool by_newline = token.newline_before && state.in_statements() && !token.Is("(");
    if (!state.operand_expected() && !by_newline) return false;
    if (state.name_expected(token.newline_before)) return false;
    const Token& previous = state.previous();
    if (previous.kind != TokenKind::kKeyword) return true;
    if (token.Is("(")) {
      return !IsOneOf(previous,
                      {"if", "while", "for", "with", "switch", "catch", "function", "import"});
    }
    // A label is on the same line.
    if (IsOneOf(previous, {"break", "continue"})) return token.newline_before;
    return !IsOneOf(previous, {"function", "class", "var", "let", "const", "new", "extends",
                               "import", "export"});
  }

  // The verb that a candidate begins with, and a tokenizer that stands after it.
  std::optional<std::pair<Token, Tokenizer>> Verb(Tokenizer ahead, Token token) const {
    for (int i = 0; token.Is("(") && i < kMaxLeadingParentheses; ++i) token = ahead.Next();
    if (!token.IsWord() || !IsSqlVerb(token.text)) return std::nullopt;
    const std::string verb = LowerCase(token.text);
    Tokenizer behind = ahead;
    const Token next = behind.Next();
    if (verb == "delete" && LowerCase(next.text) != "from") return std::nullopt;
    if (verb == "with" && !next.IsWord()) return std::nullopt;
    // import x from 'y'
    if (verb == "from" && next.kind == TokenKind::kString) return std::nullopt;
    if (next.kind == TokenKind::kEnd ||
        (next.kind == TokenKind::kPunctuator &&
         !IsOneOf(next, {"*", "(", "[", "{", "-", "--", "+", "?"}))) {
      return std::nullopt;
    }
    return std::pair(token, ahead);
  }

  // How the text up to `end`, of which `ahead` has read the first token, reads as JavaScript.
  static Reading ReadAsJavaScript(Tokenizer ahead, const Token& verb, size_t end) {
    Reading reading;
    bool braces = false;
    int words = 0;  // read from the verb on
    while (!reading.refused) {
      const Token previous = ahead.state().previous();
      const Token token = ahead.Next();
      if (token.kind == TokenKind::kEnd || token.offset >= end) break;
      const bool after_verb = previous.offset == verb.offset;
      if (after_verb || words > 0) ++words;
      if (token.kind == TokenKind::kIdentifier && !previous.Is(".") &&
          LowerCase(token.text) == "from") {
        reading.from = token.text;
      }
      reading.refused = Refuses(previous, token) || (after_verb && RefusedAfterVerb(verb, token));
      reading.refused_at_verb =
          reading.refused && (words == 1 || (words == 2 && verb.IsKeyword("delete")));
      reading.refused_early = reading.refused && !braces;
      braces = braces || token.Is("{") || token.Is("}");
    }
    return reading;
  }

  static bool RefusedAfterVerb(const Token& verb, const Token& next) {
    if (verb.IsKeyword("with")) return !next.Is("(");
    return verb.kind == TokenKind::kIdentifier && next.Is("{") && !next.newline_before;
  }

  // Whether a statement, or a wrong one, begins with `token`; found_end_ is its end then.
  bool Try(const Tokenizer& before, const Token& token) {
    if (too_many_) return false;
    Tokenizer ahead = before;
    ahead.Next();
    const auto verb = Verb(ahead, token);
    if (!verb) return false;
    const std::string_view rest = text_.substr(token.offset);
    const std::optional<size_t> length = SqlLength(rest);
    candidate_bytes_ += length.value_or(rest.size());
    if (candidate_bytes_ > kMaxCandidateBytes) return TooMany(token);
    const size_t end = length ? token.offset + *length : text_.size();
    if (!length) return NoEnd(ReadAsJavaScript(ahead, verb->first, end), token, verb->first);
    EmbeddedStatement statement{.place = token.place,
                                .offset = token.offset,
                                .length = *length,
                                .sql = WithoutComments(rest.substr(0, *length))};
    const Status status = ReadStatement(&statement);
    const Reading reading = ReadAsJavaScript(ahead, verb->first, end);
    found_end_ = end;
    if (status.ok() || status.id() == "function.sql_parameter") {
      if (!reading.refused && !SqlThoughPossible(verb->first.text, reading)) return false;
      Keep(std::move(statement), status);
      return true;
    }
    return Wrong(reading, token, verb->first, status);
  }

  bool TooMany(const Token& token) {
    if (std::exchange(too_many_, true)) return false;
    found_.errors.push_back(
        Error(Code::kTooLarge, "function.too_large",
              "too many words that may begin SQL++ statements: end each statement with a semicolon")
            .At({.file = "", .line = token.place.line, .column = token.place.column}));
    return false;
  }

  bool NoEnd(const Reading& reading, const Token& token, const Token& verb) {
    found_end_ = text_.size();
    return Wrong(reading, token, verb,
                 Error(Code::kInvalidArgument, "function.sql_syntax",
                       "embedded SQL++: the statement has no end: expected a semicolon after it")
                     .At({.file = "", .line = token.place.line, .column = token.place.column}));
  }

  // Text that SQL++ does not read either is an error of SQL++ when it can't be meant otherwise.
  bool Wrong(const Reading& reading, const Token& token, const Token& verb, Status status) {
    if (token.Is("(")) return false;
    if (!reading.refused_at_verb && !(reading.refused_early && !IsDeclared(verb.text)))
      return false;
    found_.errors.push_back(std::move(status));
    return true;
  }

  void Keep(EmbeddedStatement statement, Status status) {
    if (!status.ok()) found_.errors.push_back(std::move(status));
    found_.statements.push_back(std::move(statement));
  }

  // Of what both languages can read: JavaScript has to have the variables.
  bool SqlThoughPossible(std::string_view verb, const Reading& reading) {
    const size_t end = verb.data() + verb.size() - text_.data();
    const bool blank = LineEndLength(text_, end) > 0 || IsBlank(CharacterAt(text_, end).value) ||
                       text_.substr(end).starts_with("/*") || text_.substr(end).starts_with("//");
    return blank && (!IsDeclared(verb) || (!reading.from.empty() && !IsDeclared(reading.from)));
  }

  bool IsDeclared(std::string_view name) {
    if (names_ == nullptr) undecided_ = true;
    return names_ == nullptr || names_->contains(std::string(name));
  }

  const std::string_view text_;
  const std::set<std::string>* const names_;
  Tokenizer tokenizer_;
  EmbeddedSql found_;
  size_t found_end_ = 0;
  size_t candidate_bytes_ = 0;
  bool undecided_ = false;
  bool too_many_ = false;
};

}  // namespace

bool IsSqlVerb(std::string_view word) {
  const std::string lower = LowerCase(word.substr(0, 10));
  return word.size() < 10 &&
         std::find(std::begin(kVerbs), std::end(kVerbs), lower) != std::end(kVerbs);
}

EmbeddedSql FindEmbeddedSql(std::string_view text, const std::set<std::string>& known_names) {
  Finder first(text, nullptr);
  EmbeddedSql found = first.Run();
  if (!first.undecided()) return found;
  std::set<std::string> names = DeclaredNames(found.tokens);
  names.insert(known_names.begin(), known_names.end());
  return Finder(text, &names).Run();
}

std::string CallText(const EmbeddedStatement& statement, SqlConsistency consistency) {
  std::string text = "N1QL(" + AsJavaScriptString(statement.sql) + ", {";
  for (const std::string& name : statement.parameters) {
    if (name != statement.parameters.front()) text += ", ";
    text += fmt::format("'${}': {}", name, name);
  }
  text += '}';
  if (consistency == SqlConsistency::kNone) text += ", {'consistency': 'none'}";
  if (consistency == SqlConsistency::kRequest) text += ", {'consistency': 'request'}";
  return text + ')';
}

}  // namespace sluice::function
