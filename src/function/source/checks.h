// Checks a handler's text before it runs. The top level may have only functions; work that outlives
// the call, modules and code made of strings are refused. The checks also find the entry points,
// the functions and the names of timer callbacks.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "function/source/token_list.h"

namespace sluice::function {

// Handlers for changes and timers (OnUpdate, OnDelete, OnDeploy, callbacks), or a task that flows
// call (handleEvent).
enum class CodeKind : uint8_t { kHandlers, kTask };

struct EntryPoints {
  bool on_update = false;
  bool on_delete = false;
  bool on_deploy = false;
  bool handle_event = false;  // only of a task

  bool operator==(const EntryPoints&) const = default;
};

// A likely mistake that is no error.
struct Warning {
  SourcePlace place;
  std::string text;
};

// The facts about a program that the rest of the server uses.
struct ProgramFacts {
  EntryPoints entry_points;
  std::vector<std::string> functions;     // at the top level, in order, each once
  std::set<std::string> timer_callbacks;  // names in the first argument of createTimer
  bool uses_timers = false;               // calls createTimer
  // For warnings: names of the handler API that the program declares again, and deprecated parts of
  // the API that it uses.
  std::set<std::string> redefined;
  std::set<std::string> deprecated;
  std::vector<Warning> warnings;  // in order of place
};

struct CheckedProgram {
  ProgramFacts facts;
  std::vector<Status> errors;  // in order of place
};

// Names of the handler API, which programs should not declare.
bool IsApiName(std::string_view name);
std::span<const std::string_view> ApiNames();
// Names of JavaScript and of the whole library, which bindings can't have.
bool IsBuiltInName(std::string_view name);

// Warns of names that are used, but are neither in `known` nor built in.
std::vector<Warning> NameWarnings(const TokenList& tokens, const std::set<std::string>& known);
// Warns of functions that no event calls although their names are almost those of entry points.
std::vector<Warning> EntryPointWarnings(const TokenList& tokens, const ProgramFacts& facts);

// The tokens are those of `text`. `bindings` are names that functions can't have. If a token can't
// be read, only the errors up to it are reported.
CheckedProgram CheckProgram(std::string_view text, const TokenList& tokens,
                            const std::set<std::string>& bindings,
                            CodeKind kind = CodeKind::kHandlers);

// The errors of CheckProgram that are possible at any place in the code: asynchrony, timers of
// browsers, modules, eval.
std::vector<Status> ForbiddenConstructs(const TokenList& tokens,
                                        const std::set<std::string>& declared);

// Error function.syntax for the first token that can't be read.
Status SyntaxStatus(const TokenList& tokens);

void SortByPlace(std::vector<Status>* errors);

}  // namespace sluice::function
