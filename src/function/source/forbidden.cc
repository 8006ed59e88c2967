// Constructs that are refused wherever they stand.
#include <algorithm>
#include <initializer_list>

#include "function/source/checks.h"

namespace sluice::function {
namespace {

bool IsAmong(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

class Forbidden {
 public:
  Forbidden(const TokenList& tokens, const std::set<std::string>& declared)
      : tokens_(tokens), declared_(declared) {}

  std::vector<Status> Run() {
    for (size_t i = 0; i < tokens_.size() && tokens_[i].kind != TokenKind::kError; ++i) {
      if (tokens_[i].kind == TokenKind::kKeyword) Keyword(i);
      if (tokens_[i].kind == TokenKind::kIdentifier) Identifier(i);
    }
    return std::move(errors_);
  }

 private:
  const Token& token(size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }

  void Add(size_t i, Status status) {
    const SourcePlace& place = token(i).place;
    errors_.push_back(status.At({.file = "", .line = place.line, .column = place.column}));
  }

  void Keyword(size_t i) {
    const std::string_view word = token(i).text;
    if (word == "await") {
      Async(i, "await");
    } else if (word == "import" || word == "export") {
      Module(i, word);
    }
  }

  void Identifier(size_t i) {
    const std::string name = NameOf(token(i));
    if (name == "async" && IsAsync(i)) return Async(i, "async");
    if (!IsAmong(name, {"setTimeout", "setInterval", "setImmediate", "clearTimeout",
                        "clearInterval", "clearImmediate", "requestAnimationFrame",
                        "cancelAnimationFrame", "queueMicrotask", "require", "eval", "Function"}) ||
        !IsGlobal(i) || declared_.contains(name)) {
      return;
    }
    const bool called = IsCalled(i);
    if (name == "eval") {
      Eval(i, "eval");
    } else if (name == "Function") {
      if (called || IsNew(i)) Eval(i, IsNew(i) ? "new Function" : "Function()");
    } else if (called && name == "require") {
      Module(i, "require()");
    } else if (called) {
      Add(i, Error(Code::kInvalidArgument, "function.js_timer",
                   "{}() is not available: a handler ends with its call. Use createTimer(callback, "
                   "date, reference, context) to run a function later",
                   name));
    }
  }

  void Async(size_t i, std::string_view found) {
    Add(i, Error(Code::kInvalidArgument, "function.async",
                 "asynchronous code is not available, but found: {}. Calls of the handler API "
                 "return their results at once; use createTimer() for later work",
                 found));
  }

  void Module(size_t i, std::string_view found) {
    Add(i, Error(Code::kInvalidArgument, "function.module",
                 "modules are not available, but found: {}. Put the code into the handler", found));
  }

  void Eval(size_t i, std::string_view found) {
    Add(i, Error(Code::kInvalidArgument, "function.eval",
                 "code can't be made of strings, but found: {}. Write the function out; use "
                 "JSON.parse() for data",
                 found));
  }

  // Whether the name stands for the global one: not for a property of another object, or for one
  // that is defined here.
  bool IsGlobal(size_t i) const {
    const bool key =
        token(i + 1).Is(":") && i > 0 && (token(i - 1).Is("{") || token(i - 1).Is(","));
    if (i == 0) return true;
    if (token(i - 1).Is(".") || token(i - 1).Is("?.")) {
      return i > 1 && token(i - 2).IsName("globalThis");
    }
    return !key && !IsMethod(i);
  }

  // name(...) { of an object or a class
  bool IsMethod(size_t i) const {
    if (!token(i + 1).Is("(")) return false;
    const Token& after = token(CloserOf(tokens_, i + 1) + 1);
    return after.Is("{") && !after.newline_before;
  }

  bool IsCalled(size_t i) const {
    return token(i + 1).Is("(") || (token(i + 1).Is("?.") && token(i + 2).Is("("));
  }

  // new Function, new globalThis.Function
  bool IsNew(size_t i) const {
    if (i > 1 && token(i - 1).Is(".")) i -= 2;
    return i > 0 && token(i - 1).IsKeyword("new");
  }

  bool IsAsync(size_t i) const {
    const Token& next = token(i + 1);
    if (i > 0 && (token(i - 1).Is(".") || token(i - 1).Is("?."))) return false;
    if (next.newline_before) return false;
    if (next.kind == TokenKind::kIdentifier) return next.text != "of";
    if (next.kind == TokenKind::kKeyword) return next.text != "in" && next.text != "instanceof";
    if (next.Is("(")) return token(CloserOf(tokens_, i + 1) + 1).Is("=>");
    // Methods that have no plain name.
    if (next.Is("*")) return IsMethod(i + 2);
    if (next.Is("[")) return IsMethod(CloserOf(tokens_, i + 1));
    return (next.kind == TokenKind::kString || next.kind == TokenKind::kPrivateName) &&
           IsMethod(i + 1);
  }

  const TokenList& tokens_;
  const std::set<std::string>& declared_;
  std::vector<Status> errors_;
};

}  // namespace

std::vector<Status> ForbiddenConstructs(const TokenList& tokens,
                                        const std::set<std::string>& declared) {
  return Forbidden(tokens, declared).Run();
}

}  // namespace sluice::function
