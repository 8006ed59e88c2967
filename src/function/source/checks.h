// What a handler's text must not have, told before it runs: nothing but functions at top level, no
// work that outlives the call, no modules, no code made of strings. And what it has: entry points,
// functions, names of timer callbacks.
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
  bool handle_event = false;  // of a task

  bool operator==(const EntryPoints&) const = default;
};

// What is no error but likely a mistake.
struct Warning {
  SourcePlace place;
  std::string text;
};

// What the rest of the server wants to know of a program.
struct ProgramFacts {
  EntryPoints entry_points;
  std::vector<std::string> functions;     // of the top level, in order, each once
  std::set<std::string> timer_callbacks;  // names that createTimer gets as first argument
  bool uses_timers = false;               // calls createTimer
  // Worth a warning: names of the handler API that the program declares anew, and parts of it that
  // are deprecated but used.
  std::set<std::string> redefined;
  std::set<std::string> deprecated;
  std::vector<Warning> warnings;  // in order of place
};

struct CheckedProgram {
  ProgramFacts facts;
  std::vector<Status> errors;  // in order of place
};

// Names of the handler API, which programs should leave alone.
bool IsApiName(std::string_view name);
std::span<const std::string_view> ApiNames();
// The same, of JavaScript and of the whole library: names that bindings can't have.
bool IsBuiltInName(std::string_view name);

// Names that are used, but neither in `known` nor built in.
std::vector<Warning> NameWarnings(const TokenList& tokens, const std::set<std::string>& known);
// Functions that no event calls although their names are nearly those of entry points.
std::vector<Warning> EntryPointWarnings(const TokenList& tokens, const ProgramFacts& facts);

// `text` is what the tokens were made of. `bindings` are names that functions can't have. When the
// tokens have an error, it is reported, and nothing after it is.
CheckedProgram CheckProgram(std::string_view text, const TokenList& tokens,
                            const std::set<std::string>& bindings,
                            CodeKind kind = CodeKind::kHandlers);

// The errors of CheckProgram that any code may have, wherever it stands: asynchrony, timers of
// browsers, modules, eval.
std::vector<Status> ForbiddenConstructs(const TokenList& tokens,
                                        const std::set<std::string>& declared);

// function.syntax for the first token that can't be read; OK when all can.
Status SyntaxStatus(const TokenList& tokens);

void SortByPlace(std::vector<Status>* errors);

}  // namespace sluice::function
