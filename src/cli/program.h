// The command line as a tree of commands. Each command registers its options and one action; Run
// parses, runs the chosen action and turns its Status into messages and an exit code.
//
// Modules add commands (AddClientCommands in cli/commands.h, those of `server` in main): the
// program itself knows none. One thread.
#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/status.h"
#include "cli/output.h"

namespace sluice::cli {

class Api;

// Options that every command has.
struct GlobalOptions {
  std::string server = "http://127.0.0.1:8091";
  std::string user;
  std::string password;
  std::string password_file;
  std::string token;
  std::string ca_file;
  std::string output = "table";
  bool quiet = false;
};

// The context of a command: options, output and the connection to the server.
class Context {
 public:
  Context(std::istream& in, std::ostream& out, std::ostream& err);
  ~Context();

  GlobalOptions options;
  Output output;
  std::istream& in;

  // The server named by the options. cli.usage when they contradict each other.
  Result<Api*> api();
  // Shows all problems but the last, which it returns: an action's result.
  Status ShowAllButLast(const std::vector<Status>& problems);

 private:
  std::unique_ptr<Api> api_;
};

class Program {
 public:
  using Action = std::function<Status(Context&)>;

  Program(std::istream& in, std::ostream& out, std::ostream& err);

  CLI::App& app() { return app_; }
  // Adds a command with an action below `parent`. Add its options to the result.
  CLI::App* AddCommand(CLI::App* parent, const std::string& name, const std::string& help,
                       Action action);
  // A command that only has commands below it.
  CLI::App* AddGroup(const std::string& name, const std::string& help);

  // Returns the process's exit code.
  int Run(int argc, const char* const* argv);

 private:
  int Finish(const Status& status);
  std::optional<int> Parse(int argc, const char* const* argv);

  Context context_;
  CLI::App app_;
  Action chosen_;
};

// A wrong command line that CLI11 can't see.
template <typename... Args>
Status UsageError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument, "cli.usage", format, std::forward<Args>(args)...);
}

}  // namespace sluice::cli
