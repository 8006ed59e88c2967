// Warnings of undefined names, and of functions whose names are almost those of entry points.
// Tokens do not show scopes, so only names that are declared nowhere in the text get a warning.
#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "function/source/checks.h"

namespace sluice::function {
namespace {

// What every program of JavaScript has.
constexpr std::string_view kGlobals[] = {"AggregateError",
                                         "Array",
                                         "ArrayBuffer",
                                         "Atomics",
                                         "BigInt",
                                         "BigInt64Array",
                                         "BigUint64Array",
                                         "Boolean",
                                         "DataView",
                                         "Date",
                                         "Error",
                                         "EvalError",
                                         "FinalizationRegistry",
                                         "Float16Array",
                                         "Float32Array",
                                         "Float64Array",
                                         "Function",
                                         "Infinity",
                                         "Int16Array",
                                         "Int32Array",
                                         "Int8Array",
                                         "Intl",
                                         "Iterator",
                                         "JSON",
                                         "Map",
                                         "Math",
                                         "NaN",
                                         "Number",
                                         "Object",
                                         "Promise",
                                         "Proxy",
                                         "RangeError",
                                         "ReferenceError",
                                         "Reflect",
                                         "RegExp",
                                         "Set",
                                         "SharedArrayBuffer",
                                         "String",
                                         "Symbol",
                                         "SyntaxError",
                                         "TypeError",
                                         "URIError",
                                         "Uint16Array",
                                         "Uint32Array",
                                         "Uint8Array",
                                         "Uint8ClampedArray",
                                         "WeakMap",
                                         "WeakRef",
                                         "WeakSet",
                                         "WebAssembly",
                                         "console",
                                         "decodeURI",
                                         "decodeURIComponent",
                                         "encodeURI",
                                         "encodeURIComponent",
                                         "escape",
                                         "eval",
                                         "globalThis",
                                         "isFinite",
                                         "isNaN",
                                         "parseFloat",
                                         "parseInt",
                                         "undefined",
                                         "unescape"};
// Other global names of handlers and tasks, besides those of IsApiName.
constexpr std::string_view kLibrary[] = {
    "AnalyticsError", "AppException",  "CurlError",
    "EventEnvelope",  "EventingError", "IllegalArgumentException",
    "KVError",        "N1QLError",     "SearchError",
    "readStream",     "readStreamText"};
// Words that stand where names do.
constexpr std::string_view kWords[] = {"arguments", "as",  "async",  "from",   "get",  "let",
                                       "of",        "set", "static", "target", "yield"};
constexpr std::string_view kEntryPoints[] = {"OnUpdate", "OnDelete", "OnDeploy"};

template <size_t kCount>
bool Has(const std::string_view (&names)[kCount], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

class Names {
 public:
  Names(const TokenList& tokens, const std::set<std::string>& known) : tokens_(tokens) {
    for (const std::string& name : known) known_.push_back(name);
    for (const std::string_view name : kGlobals) known_.emplace_back(name);
    for (const std::string_view name : kLibrary) known_.emplace_back(name);
    for (const std::string_view name : ApiNames()) known_.emplace_back(name);
    std::ranges::sort(known_);
    // Code that uses typeof expects that the name may be undefined.
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i].IsKeyword("typeof")) asked_.insert(NameOf(tokens[i + 1]));
      if (tokens[i].Is("(")) TakeArrowParameters(i);
    }
  }

  std::vector<Warning> Run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].IsKeyword("class")) i = AfterClass(i);
      if (tokens_[i].kind == TokenKind::kIdentifier) At(i);
    }
    return std::move(warnings_);
  }

 private:
  // All names between the brackets, also in default values: this hides warnings, and adds none.
  void TakeArrowParameters(size_t open) {
    const size_t close = CloserOf(tokens_, open);
    if (!token(close + 1).Is("=>")) return;
    for (size_t i = open + 1; i < close; ++i) {
      if (tokens_[i].kind == TokenKind::kIdentifier) asked_.insert(NameOf(tokens_[i]));
    }
  }

  const Token& token(size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }

  // Names of fields and methods look as uses do.
  size_t AfterClass(size_t i) const {
    while (i + 1 < tokens_.size() && !tokens_[i].Is("{")) ++i;
    return tokens_[i].Is("{") ? CloserOf(tokens_, i) : i;
  }

  void At(size_t i) {
    const std::string name = NameOf(token(i));
    if (!IsUse(i) || Has(kWords, name) || asked_.contains(name) ||
        std::ranges::binary_search(known_, name) || !told_.insert(name).second) {
      return;
    }
    warnings_.push_back(
        {token(i).place, fmt::format("nothing here is called '{}', so that the call fails when it "
                                     "gets there{}",
                                     name, DidYouMean(name, known_))});
  }

  // Neither a property, nor the key of one, a label or a method.
  bool IsUse(size_t i) const {
    if (token(i + 1).Is(":")) return false;
    if (token(i + 1).Is("(")) {
      const Token& after = token(CloserOf(tokens_, i + 1) + 1);
      if (after.Is("{") && !after.newline_before) return false;
    }
    if (i == 0) return true;
    const Token& before = token(i - 1);
    return !before.Is(".") && !before.Is("?.") && !before.IsKeyword("break") &&
           !before.IsKeyword("continue");
  }

  const TokenList& tokens_;
  std::vector<std::string> known_;  // in order
  std::set<std::string> asked_;
  std::set<std::string> told_;
  std::vector<Warning> warnings_;
};

// The entry point that a function was probably meant to be; empty when it is none.
std::string MeantEntryPoint(const std::string& name) {
  const std::vector<std::string> entries(std::begin(kEntryPoints), std::end(kEntryPoints));
  return Has(kEntryPoints, name) ? "" : NearestName(name, entries);
}

}  // namespace

bool IsBuiltInName(std::string_view name) {
  return Has(kGlobals, name) || Has(kLibrary, name) || IsApiName(name);
}

std::vector<Warning> NameWarnings(const TokenList& tokens, const std::set<std::string>& known) {
  return Names(tokens, known).Run();
}

std::vector<Warning> EntryPointWarnings(const TokenList& tokens, const ProgramFacts& facts) {
  std::vector<Warning> warnings;
  for (const std::string& name : facts.functions) {
    const std::string meant = MeantEntryPoint(name);
    const auto found = std::ranges::find(facts.functions, meant);
    if (meant.empty() || found != facts.functions.end()) continue;
    const auto is_it = [&](const Token& token) {
      return token.kind == TokenKind::kIdentifier && NameOf(token) == name;
    };
    if (std::ranges::count_if(tokens, is_it) > 1) continue;
    warnings.push_back(
        {std::ranges::find_if(tokens, is_it)->place,
         fmt::format("no event calls the function {}; did you mean '{}'?", name, meant)});
  }
  return warnings;
}

}  // namespace sluice::function
