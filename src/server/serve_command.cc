// serve: runs the server until a signal stops it.
#include <chrono>
#include <filesystem>
#include <memory>
#include <semaphore>

#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "json/print.h"
#include "server/commands.h"
#include "server/config_flags.h"
#include "server/dev_app.h"
#include "server/notify.h"
#include "server/server.h"
#include "server/signals.h"
#include "server/version.h"

namespace sluice::server {
namespace {

struct ServeOptions {
  std::shared_ptr<ConfigFlags> flags;
  CLI::Option* dev = nullptr;
  std::string app_directory;  // of --dev; may be empty
  bool print_ports = false;
  bool hold_functions = false;

  bool development() const { return dev->count() > 0; }
};

// The defaults that --dev changes.
std::map<std::string, std::string> DevelopmentDefaults(const ServeOptions& options) {
  if (!options.development()) return {};
  const std::filesystem::path app(options.app_directory.empty() ? "." : options.app_directory);
  return {{"data.directory", (app / ".sluice").string()},
          {"log.format", "text"},
          {"functions.allow_private_addresses", "true"}};
}

Status CheckDevelopment(const ServeOptions& options, const Config& config) {
  if (!options.development()) return OkStatus();
  if (!options.app_directory.empty() && !std::filesystem::is_directory(options.app_directory)) {
    return Error(Code::kNotFound, "app.no_directory", "{} is not a directory",
                 options.app_directory);
  }
  for (const std::string& text :
       {config.listen_http, config.listen_eventing, config.listen_flows}) {
    ASSIGN_OR_RETURN(const Address address, ParseAddress(text));
    if (!IsLoopback(address)) {
      return cli::UsageError(
          "--dev needs no login, so it listens on this machine only: {} is not a loopback address",
          text);
    }
  }
  return OkStatus();
}

// Passwords and data go over the network in clear text.
void WarnOfClearText(const Config& config) {
  if (!config.tls_certificate.empty()) return;
  for (const std::string& text :
       {config.listen_http, config.listen_eventing, config.listen_flows}) {
    const auto address = ParseAddress(text);
    if (!address || IsLoopback(*address)) continue;
    log::Warn(
        "passwords and data are sent in clear text here: set tls.certificate and tls.key, or "
        "listen on 127.0.0.1 behind a proxy that has TLS",
        {{"address", text}});
  }
}

// Only the server's user may read files that the server makes, whatever the umask; existing files
// stay unchanged.
void KeepToOurselves(const Config& config) {
  umask(S_IRWXG | S_IRWXO);
  struct stat found;
  if (stat(config.data_directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return;
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
  log::Warn("others on this machine can look into the data directory: chmod 700",
            {{"directory", config.data_directory}});
}

void ConfigureLog(const Config& config) {
  const log::Level level = config.log_level == "debug"  ? log::Level::kDebug
                           : config.log_level == "info" ? log::Level::kInfo
                           : config.log_level == "warn" ? log::Level::kWarn
                                                        : log::Level::kError;
  log::Configure(level, config.log_format == "json" ? log::Format::kJson : log::Format::kText);
}

// To standard output, where no log goes.
void PrintStarted(const ServeOptions& options, const Server& server, cli::Output* output) {
  if (options.print_ports) {
    const Ports& ports = server.ports();
    output->Line(json::ToText(json::Value::Object({{"http", ports.http},
                                                   {"eventing", ports.eventing},
                                                   {"flows", ports.flows},
                                                   {"pid", static_cast<int64_t>(getpid())}})));
  }
  if (const auto& admin = server.first_admin()) {
    output->Line(fmt::format("first start: the password of user {} is in {}", admin->name,
                             admin->password_file));
  }
  output->Flush();
}

Result<std::unique_ptr<DevApp>> StartApp(const ServeOptions& options, const Config& config,
                                         const Server& server) {
  if (options.app_directory.empty()) return nullptr;
  const bool tls = !config.tls_certificate.empty();
  const std::string host = ParseAddress(config.listen_http)->host;
  return DevApp::Start(
      options.app_directory,
      fmt::format("{}://{}:{}", tls ? "https" : "http",
                  host.contains(':') ? "[" + host + "]" : host, server.ports().http));
}

// Ends the process if a stop takes too long: code that nothing can end, such as a built-in function
// of V8 on a huge array, must not keep a server from being restarted. Acknowledged writes are in
// the store, as after a crash.
class StopLimit {
 public:
  explicit StopLimit(std::chrono::milliseconds most)
      : thread_({"stop limit"}, [this, most] {
          if (ended_.try_acquire_for(most)) return;
          log::Error("the stop takes too long: the server ends now", {{"waited_ms", most.count()}});
          _exit(1);
        }) {}
  ~StopLimit() {
    ended_.release();
    thread_.join();
  }
  StopLimit(const StopLimit&) = delete;
  StopLimit& operator=(const StopLimit&) = delete;

 private:
  std::binary_semaphore ended_{0};
  Thread thread_;
};

// Beside the time that requests have.
constexpr std::chrono::seconds kLongestStop(5);

Status Serve(const ServeOptions& options, cli::Context& context) {
  if (options.hold_functions) options.flags->values["functions.hold"] = "true";
  const ConfigResult loaded = LoadWithFlags(*options.flags, DevelopmentDefaults(options));
  if (!loaded.problems.empty()) return context.ShowAllButLast(loaded.problems);
  const Config& config = loaded.loaded.config;
  RETURN_IF_ERROR(CheckDevelopment(options, config));
  ConfigureLog(config);
  WarnOfClearText(config);
  KeepToOurselves(config);
  HoldStopSignals();

  const SystemClock clock;
  const Mode mode = options.development() ? Mode::kDevelopment : Mode::kProduction;
  ASSIGN_OR_RETURN(const std::unique_ptr<Server> server, Server::Start(loaded.loaded, mode, clock));
  ASSIGN_OR_RETURN(std::unique_ptr<DevApp> app, StartApp(options, config, *server));
  PrintStarted(options, *server, &context.output);
  NotifySupervisor("READY=1");
  log::Info("started", {{"version", Version()},
                        {"data", config.data_directory},
                        {"http", server->ports().http},
                        {"eventing", server->ports().eventing},
                        {"flows", server->ports().flows}});

  WaitForStopSignal();
  ExitOnNextStopSignal();
  NotifySupervisor("STOPPING=1");
  log::Info("stopping");
  const StopLimit limit(std::chrono::milliseconds(config.http_drain_timeout_ms) + kLongestStop);
  app.reset();
  server->Stop();
  log::Info("stopped");
  return OkStatus();
}

}  // namespace

void AddServeCommand(cli::Program* program) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* serve =
      program->AddCommand(&program->app(), "serve", "Run the server",
                          [options](cli::Context& context) { return Serve(*options, context); });
  options->dev =
      serve
          ->add_option("--dev", options->app_directory,
                       "For development: clients on this machine need no password, and the server "
                       "applies the app directory, if you name one, now and on every save")
          ->expected(0, 1)
          ->type_name("[DIR]");
  serve->add_flag("--print-ports", options->print_ports,
                  "When ready, print one line of JSON with the ports and the process id");
  serve->add_flag("--hold-functions", options->hold_functions,
                  "Start with all functions paused, until you resume them (functions.hold)");
  options->flags = AddConfigFlags(serve);
}

}  // namespace sluice::server
