#include "cli/program.h"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/api.h"
#include "cli/exit_code.h"
#include "cli/secret.h"

namespace sluice::cli {
namespace {

void AddGlobalOptions(CLI::App* app, GlobalOptions* options) {
  app->add_option("--server", options->server, "URL of the server")
      ->envname("SLUICE_SERVER")
      ->capture_default_str()
      ->type_name("URL");
  app->add_option("--user", options->user, "User name")->envname("SLUICE_USER");
  app->add_option("--password-file", options->password_file,
                  "File with the user's password (or set SLUICE_PASSWORD)")
      ->type_name("FILE");
  app->add_option("--token", options->token, "Token instead of user and password")
      ->envname("SLUICE_TOKEN");
  app->add_option("--ca-file", options->ca_file,
                  "PEM file with the certificates to trust for https")
      ->envname("SLUICE_CA_FILE")
      ->type_name("FILE");
  app->add_option("-o,--output", options->output, "Format of the output")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str()
      ->type_name("table|json");
  app->add_flag("-q,--quiet", options->quiet, "No notes and no progress on standard error");
}

// The password from its file or from the environment: never from the command line, which other
// users of the machine can see.
Status FindPassword(GlobalOptions* options) {
  if (!options->password_file.empty()) {
    ASSIGN_OR_RETURN(options->password, ReadSecret(options->password_file));
  } else if (const char* password = std::getenv("SLUICE_PASSWORD")) {
    options->password = password;
  }
  return OkStatus();
}

// The command that was named last: `kv` of `sluice kv gett`.
const CLI::App* NamedCommand(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

// CLI11 gives "A subcommand is required" for a missing command and for an unknown one.
Status CommandError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* named = NamedCommand(&app);
  const std::vector<std::string> names = CommandsOf(*named);
  if (names.empty()) return UsageError("{}", error.what());
  const std::string group = named == &app ? "" : named->get_name() + " ";
  const std::string there = fmt::format("there are: {}", fmt::join(names, ", "));
  for (const std::string& word : app.remaining(true)) {
    if (word.starts_with('-')) return UsageError("there is no option '{}'", word);
    const std::string nearest = NearestName(word, names);
    return UsageError(
        "there is no command '{}{}'; {}", group, word,
        nearest.empty() ? there : fmt::format("did you mean '{}{}'?", group, nearest));
  }
  return UsageError("'sluice {}' needs a command; {}", group.substr(0, group.find(' ')), there);
}

}  // namespace

Context::Context(std::istream& in, std::ostream& out, std::ostream& err)
    : output(out, err), in(in) {}
Context::~Context() = default;

Result<Api*> Context::api() {
  if (api_ == nullptr) {
    RETURN_IF_ERROR(FindPassword(&options));
    if (options.token.empty() && options.user.empty() != options.password.empty()) {
      return Unexpected(
          UsageError("a user needs a password and a password needs a user: give --user and "
                     "--password-file, or SLUICE_USER and SLUICE_PASSWORD"));
    }
    ASSIGN_OR_RETURN(api_, Api::Make({.url = options.server,
                                      .user = options.user,
                                      .password = options.password,
                                      .token = options.token,
                                      .ca_file = options.ca_file}));
  }
  return api_.get();
}

Status Context::ShowAllButLast(const std::vector<Status>& problems) {
  for (size_t i = 0; i + 1 < problems.size(); ++i) output.Problem(problems[i]);
  return problems.empty() ? OkStatus() : problems.back();
}

Program::Program(std::istream& in, std::ostream& out, std::ostream& err)
    : context_(in, out, err),
      app_("A document database that runs your code when data changes.", "sluice") {
  app_.require_subcommand(1);
  app_.fallthrough();  // global options may follow the command
  AddGlobalOptions(&app_, &context_.options);
}

CLI::App* Program::AddCommand(CLI::App* parent, const std::string& name, const std::string& help,
                              Action action) {
  CLI::App* command = parent->add_subcommand(name, help);
  command->fallthrough();
  command->callback([this, action = std::move(action)] { chosen_ = action; });
  return command;
}

CLI::App* Program::AddGroup(const std::string& name, const std::string& help) {
  CLI::App* group = app_.add_subcommand(name, help);
  group->require_subcommand(1);
  group->fallthrough();
  return group;
}

std::optional<int> Program::Parse(int argc, const char* const* argv) {
  // A newcomer types `sluice` or `sluice help` to see the commands.
  if (argc == 1 || (argc == 2 && std::string_view(argv[1]) == "help")) {
    context_.output.Raw(app_.help());
    return static_cast<int>(ExitCode::kOk);
  }
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    context_.output.Raw(NamedCommand(&app_)->help());
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::CallForVersion& version) {
    context_.output.Line(version.what());
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::ParseError& error) {
    context_.output.set_format(context_.options.output == "json" ? OutputFormat::kJson
                                                                 : OutputFormat::kTable);
    return Finish(CommandError(app_, error));
  }
  return std::nullopt;
}

int Program::Run(int argc, const char* const* argv) {
  if (const std::optional<int> ended = Parse(argc, argv)) return *ended;
  context_.output.set_format(context_.options.output == "json" ? OutputFormat::kJson
                                                               : OutputFormat::kTable);
  context_.output.set_quiet(context_.options.quiet);
  return Finish(chosen_(context_));
}

int Program::Finish(const Status& status) {
  context_.output.Flush();
  Status result = status;
  if (result.ok() && context_.output.DataFailed()) {
    result = Error(Code::kIo, "cli.output", "can't write to standard output");
  }
  if (!result.ok()) context_.output.Problem(result);
  return static_cast<int>(ExitCodeOf(result));
}

}  // namespace sluice::cli
