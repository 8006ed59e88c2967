#include "function/source/checks.h"

#include <algorithm>

namespace sluice::function {
namespace {

// Names of the handler API that a program should leave alone.
constexpr std::string_view kApiNames[] = {"N1QL",      "N1qlQuery", "cancelTimer",
                                          "couchbase", "crc64",     "createTimer",
                                          "curl",      "log",       "startFlow"};
constexpr size_t kLongestFound = 48;  // bytes of the handler's text that a message repeats

class TopLevel {
 public:
  TopLevel(std::string_view text, const TokenList& tokens, const std::set<std::string>& bindings,
           CodeKind kind)
      : text_(text), tokens_(tokens), bindings_(bindings), task_(kind == CodeKind::kTask) {}

  CheckedProgram Run() {
    size_t i = Directives();
    while (i < tokens_.size()) {
      const Token& here = tokens_[i];
      if (here.kind == TokenKind::kEnd || here.kind == TokenKind::kError) break;
      i = here.Is(";") ? i + 1 : here.IsKeyword("function") ? Function(i) : Other(i);
    }
    ApiUse();
    const bool whole = FirstError(tokens_).kind == TokenKind::kEnd;
    const EntryPoints& entries = program_.facts.entry_points;
    if (whole && task_ && !entries.handle_event) {
      program_.errors.push_back(
          Error(Code::kInvalidArgument, "function.no_entry_point",
                "there is no handleEvent: define function handleEvent(headers, input, instance) "
                "{{ ... }}")
              .At({.file = "", .line = 1, .column = 1}));
    }
    if (whole && !task_ && !entries.on_update && !entries.on_delete) {
      program_.errors.push_back(
          Error(Code::kInvalidArgument, "function.no_entry_point",
                "the handler has neither OnUpdate nor OnDelete: define at least one, such as "
                "function OnUpdate(doc, meta) {{ ... }}")
              .At({.file = "", .line = 1, .column = 1}));
    }
    return std::move(program_);
  }

 private:
  const Token& token(size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }

  void Add(const Token& at, Status status) {
    program_.errors.push_back(
        status.At({.file = "", .line = at.place.line, .column = at.place.column}));
  }

  // 'use strict'; says nothing that could be kept between calls.
  size_t Directives() const {
    size_t i = 0;
    while (token(i).text == "'use strict'" || token(i).text == "\"use strict\"") {
      const Token& next = token(i + 1);
      if (!next.Is(";") && !next.newline_before) break;
      i += next.Is(";") ? 2 : 1;
    }
    return i;
  }

  // function [*] name (...) {...}; returns the index after it.
  size_t Function(size_t i) {
    const bool generator = token(i + 1).Is("*");
    const size_t name = generator ? i + 2 : i + 1;
    const bool declaration = token(name).kind == TokenKind::kIdentifier && token(name + 1).Is("(");
    const size_t body = declaration ? CloserOf(tokens_, name + 1) + 1 : 0;
    if (!declaration || !token(body).Is("{")) {
      // In text that can't be read, brackets may end anywhere; that text has an error already.
      return FirstError(tokens_).kind == TokenKind::kError ? tokens_.size() : Other(i);
    }
    Define(token(name), generator);
    return CloserOf(tokens_, body) + 1;
  }

  void Define(const Token& token, bool generator) {
    const std::string name = NameOf(token);
    const bool again = std::find(program_.facts.functions.begin(), program_.facts.functions.end(),
                                 name) != program_.facts.functions.end();
    if (!again) program_.facts.functions.push_back(name);
    if (bindings_.contains(name)) {
      Add(token, Error(Code::kInvalidArgument, "function.name_taken",
                       "the function {} has the name of a binding: rename one of them", name));
    }
    EntryPoints& entries = program_.facts.entry_points;
    bool* const entry = task_ ? (name == "handleEvent" ? &entries.handle_event : nullptr)
                        : name == "OnUpdate" ? &entries.on_update
                        : name == "OnDelete" ? &entries.on_delete
                        : name == "OnDeploy" ? &entries.on_deploy
                                             : nullptr;
    if (entry == nullptr) return;
    *entry = true;
    if (again) {
      Add(token, Error(Code::kInvalidArgument, "function.entry_point",
                       "{} is defined twice: a handler has one of each entry point", name));
    }
    if (generator) {
      Add(token, Error(Code::kInvalidArgument, "function.entry_point",
                       "{} is a generator, whose body no call would run: leave out the *", name));
    }
  }

  // Anything else is refused, one error for each statement. Returns where the next one begins.
  size_t Other(size_t i) {
    const Token& first = token(i);
    // ForbiddenConstructs reports these; they need no second error.
    if (first.IsName("async") && token(i + 1).IsKeyword("function")) return Function(i + 1);
    if (!first.IsKeyword("import") && !first.IsKeyword("export")) {
      Add(first, Error(Code::kInvalidArgument, "function.top_level",
                       "Only functions allowed in global space, but found: {}. {}", Found(first),
                       Advice(first)));
    }
    return EndOfStatement(i);
  }

  // The statement's text on its first line, shortened.
  std::string Found(const Token& first) const {
    size_t end = first.offset;
    while (end < text_.size() && LineEndLength(text_, end) == 0) ++end;
    std::string_view found = text_.substr(first.offset, end - first.offset);
    while (!found.empty() && (found.back() == ' ' || found.back() == '\t')) found.remove_suffix(1);
    if (found.size() <= kLongestFound) return std::string(found);
    size_t cut = kLongestFound;
    while (cut > 0 && IsContinuation(found[cut])) --cut;
    return std::string(found.substr(0, cut)) + "...";
  }

  static std::string_view Advice(const Token& first) {
    if (first.IsKeyword("var") || first.IsKeyword("let") || first.IsKeyword("const")) {
      return "Declare it inside a function, keep state in a document, or make it a constant "
             "binding";
    }
    if (first.IsKeyword("class")) return "Declare the class inside the function that uses it";
    return "Move it into a function";
  }

  size_t EndOfStatement(size_t i) const {
    for (i = AfterBracket(i); i < tokens_.size(); i = AfterBracket(i)) {
      const Token& before = token(i - 1);
      const Token& here = token(i);
      if (here.kind == TokenKind::kEnd || here.kind == TokenKind::kError || before.Is(";")) break;
      const bool goes_on = here.IsKeyword("else") || here.IsKeyword("catch") ||
                           here.IsKeyword("finally") || here.IsKeyword("while");
      const bool after_block = before.Is("}") && !here.after_operand && here.newline_before;
      if (BeginsStatementByNewline(here) || (after_block && !goes_on)) break;
      if (before.Is("}") && here.IsKeyword("function")) break;
    }
    return i;
  }

  // The next index; of an opening bracket the one after its closing one.
  size_t AfterBracket(size_t i) const { return std::max<size_t>(i, token(i).partner) + 1; }

  // Calls of createTimer (also couchbase.createTimer) and of deprecated functions.
  void ApiUse() {
    for (size_t i = 0; i + 3 < tokens_.size(); ++i) {
      if (!tokens_[i + 1].Is("(")) continue;
      if (tokens_[i].IsName("N1qlQuery")) program_.facts.deprecated.insert("N1qlQuery");
      if (!tokens_[i].IsName("createTimer")) continue;
      program_.facts.uses_timers = true;
      if (tokens_[i + 2].kind == TokenKind::kIdentifier && tokens_[i + 3].Is(",")) {
        program_.facts.timer_callbacks.insert(NameOf(tokens_[i + 2]));
      }
    }
  }

  const std::string_view text_;
  const TokenList& tokens_;
  const std::set<std::string>& bindings_;
  const bool task_;
  CheckedProgram program_;
};

}  // namespace

bool IsApiName(std::string_view name) {
  return std::ranges::find(kApiNames, name) != std::end(kApiNames);
}

std::span<const std::string_view> ApiNames() { return kApiNames; }

CheckedProgram CheckProgram(std::string_view text, const TokenList& tokens,
                            const std::set<std::string>& bindings, CodeKind kind) {
  CheckedProgram program = TopLevel(text, tokens, bindings, kind).Run();
  const std::set<std::string> declared = DeclaredNames(tokens);
  for (const std::string_view name : kApiNames) {
    if (declared.contains(std::string(name))) program.facts.redefined.emplace(name);
  }
  for (Status& error : ForbiddenConstructs(tokens, declared)) {
    program.errors.push_back(std::move(error));
  }
  if (Status syntax = SyntaxStatus(tokens); !syntax.ok())
    program.errors.push_back(std::move(syntax));
  SortByPlace(&program.errors);
  return program;
}

Status SyntaxStatus(const TokenList& tokens) {
  const Token& error = FirstError(tokens);
  if (error.kind != TokenKind::kError) return OkStatus();
  return Error(Code::kInvalidArgument, "function.syntax", "syntax error: {}", error.problem)
      .At({.file = "", .line = error.place.line, .column = error.place.column});
}

void SortByPlace(std::vector<Status>* errors) {
  const auto place = [](const Status& status) {
    return SourcePlace{.line = status.place().line, .column = status.place().column};
  };
  std::stable_sort(errors->begin(), errors->end(),
                   [&](const Status& a, const Status& b) { return place(a) < place(b); });
}

}  // namespace sluice::function
