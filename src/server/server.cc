// The order in which the parts of the server start and stop.
//
//   start                                    stop
//   1. data directory, database              5. /readyz says 503
//   2. query engine and service              4. listeners: no new connections, drain, close
//   3. users and tokens                      3. users and tokens
//   4. routes, then the ports are bound      2. statements that still run, query engine
//   5. the first admin, if there is nobody   1. database: commits that wait, flush, close
//   6. listeners answer; /readyz says 200
//
// The first admin is made after the ports are bound: a start that fails because a port is in use
// must not have written its password.
#include "server/server.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "auth/authenticator.h"
#include "auth/directory.h"
#include "auth/password.h"
#include "base/log.h"
#include "db/database.h"
#include "doctype_db/mass_migration.h"
#include "doctype_db/policy_compiler.h"
#include "flow_engine/guards.h"
#include "flow_engine/host.h"
#include "http/openapi.h"
#include "http/router.h"
#include "http/server.h"
#include "net/server.h"
#include "procedure/manager.h"
#include "query/engine.h"
#include "query/index_compiler.h"
#include "rest/access.h"
#include "rest/advice.h"
#include "rest/cluster.h"
#include "rest/consumers.h"
#include "rest/context.h"
#include "rest/eventing.h"
#include "rest/flow_admin.h"
#include "rest/flow_endpoints.h"
#include "rest/flow_metrics.h"
#include "rest/function_metrics.h"
#include "rest/gate.h"
#include "rest/metrics.h"
#include "rest/query_routes.h"
#include "rest/routes.h"
#include "rest/strict_route.h"
#include "rest/trigger_metrics.h"
#include "rest/triggers.h"
#include "rest/type_migration.h"
#include "server/access_log.h"
#include "server/first_admin.h"
#include "server/version.h"
#include "service/consumers.h"
#include "service/query_service.h"

namespace sluice::server {
namespace {

db::DatabaseOptions DatabaseOptionsOf(const Config& config, const Clock& clock) {
  db::DatabaseOptions options;
  options.policy_compiler = std::make_shared<doctype_db::PolicyCompiler>(clock);
  options.index_compiler = query::MakeIndexCompiler();
  options.shards = static_cast<uint16_t>(config.storage_shards);
  options.durability = config.storage_durability == "sync"       ? db::Durability::kSync
                       : config.storage_durability == "interval" ? db::Durability::kInterval
                                                                 : db::Durability::kNone;
  options.sync_interval_ms = config.storage_sync_interval_ms;
  options.tombstone_retention_ms = config.storage_tombstone_retention_ms;
  options.log_retention_ms = config.storage_log_retention_ms;
  options.commit_limits = {.writes = config.storage_max_commit_writes,
                           .bytes = config.storage_max_commit_bytes};
  options.store.cache_bytes = config.storage_cache_bytes;
  options.store.write_buffer_bytes = config.storage_write_buffer_bytes;
  options.store.max_wal_bytes = config.storage_max_wal_bytes;
  return options;
}

// Bodies that are too large for memory; their files have no names.
std::string StreamDirectory(const Config& config) { return config.data_directory + "/streams"; }

net::ServerOptions NetOptionsOf(const Config& config) {
  net::ServerOptions options;
  options.io_threads = config.http_threads != 0
                           ? config.http_threads
                           : std::max<size_t>(1, std::thread::hardware_concurrency());
  options.worker_threads = config.http_workers;
  options.max_connections = config.http_max_connections;
  options.drain_ms = config.http_drain_timeout_ms;
  return options;
}

http::ServerOptions HttpOptionsOf(const Config& config) {
  http::ServerOptions options;
  options.request.max_head_bytes = config.http_max_head_bytes;
  options.request.max_body_bytes = config.http_max_body_bytes;
  options.max_bodies_bytes = config.http_max_bodies_bytes;
  options.request.max_spooled_bytes = config.flows_max_stream_bytes;
  options.request.spool_directory = StreamDirectory(config);
  options.head_timeout_ms = config.http_head_timeout_ms;
  options.body_grace_ms = config.http_body_grace_ms;
  options.body_min_bytes_per_s = config.http_body_min_rate_bytes;
  options.idle_timeout_ms = config.http_idle_timeout_ms;
  options.write_stall_ms = config.http_write_stall_ms;
  return options;
}

procedure::ManagerOptions ProcedureOptionsOf(const Config& config) {
  procedure::ManagerOptions options;
  options.max_runs = config.procedures_max_runs;
  options.limits.instructions = config.procedures_instructions;
  options.limits.memory_bytes = config.procedures_memory_limit_bytes;
  return options;
}

// "/a:/b"
std::vector<std::string> PathsOf(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const size_t colon = text.find(':');
    if (colon != 0) paths.emplace_back(text.substr(0, colon));
    text.remove_prefix(colon == std::string_view::npos ? text.size() : colon + 1);
  }
  return paths;
}

query::EngineOptions EngineOptionsOf(const Config& config) {
  query::EngineOptions options;
  options.memory_limit_bytes = config.query_memory_limit_bytes;
  options.version = Version();
  return options;
}

service::QueryServiceOptions QueryOptionsOf(const Config& config) {
  return {.threads = config.query_threads,
          .max_requests = config.query_max_requests,
          .timeout_ms = config.query_timeout_ms,
          .completed_threshold_ms = config.query_completed_threshold_ms};
}

// The data directory fixes the number of shards; another number in the configuration is an error.
Status CheckShards(const LoadedConfig& loaded, const db::Database& database) {
  const bool asked = loaded.values.find("storage.shards")->second.origin != Origin::kDefault;
  if (!asked || loaded.config.storage_shards == database.shard_count()) return OkStatus();
  return Error(Code::kInvalidArgument, "config.shards_fixed",
               "storage.shards is {}, but {} was made with {} and keeps them",
               loaded.config.storage_shards, loaded.config.data_directory, database.shard_count());
}

}  // namespace

// Members in the order of opening; they are closed in the reverse one.
class Server::Parts {
 public:
  Parts(const LoadedConfig& loaded, Mode mode, const Clock& clock)
      : loaded_(loaded), mode_(mode), clock_(clock) {}
  ~Parts() { Stop(); }

  Status Start() {
    RETURN_IF_ERROR(OpenDatabase());
    RETURN_IF_ERROR(migration_->Start());
    OpenQuery();
    RETURN_IF_ERROR(OpenProcedures());
    RETURN_IF_ERROR(OpenFunctions());
    RETURN_IF_ERROR(OpenFlows());
    RETURN_IF_ERROR(OpenAccounts());
    RETURN_IF_ERROR(BindListeners());
    RETURN_IF_ERROR(EnsureAdmin());
    WarnOfOpenEndpoints();
    net_->Start();
    lifecycle_.set_phase(rest::Lifecycle::Phase::kReady);
    return OkStatus();
  }

  void Stop() {
    lifecycle_.set_phase(rest::Lifecycle::Phase::kDraining);
    // Also the OnDeploy that a request waits for.
    if (functions_ != nullptr) functions_->RequestStop();
    if (consumers_ != nullptr) consumers_->Stop();  // what waits is answered now
    if (net_ != nullptr) net_->Stop();
    // Its threads may still run flows.
    if (flows_ != nullptr) flows_->Stop();
    http_.reset();
    net_.reset();
    gate_.reset();
    filter_.reset();
    authenticator_.reset();
    rest_.reset();
    directory_.reset();
    flows_.reset();
    trace_exporter_.reset();
    functions_.reset();
    query_service_.reset();
    consumers_.reset();
    procedures_.reset();
    query_engine_.reset();
    migration_.reset();
    database_.reset();
  }

  Ports ports;
  std::optional<FirstAdmin> first_admin;

 private:
  Status OpenDatabase() {
    ASSIGN_OR_RETURN(database_,
                     db::Database::Open(loaded_.config.data_directory,
                                        DatabaseOptionsOf(loaded_.config, clock_), clock_));
    migration_ = std::make_unique<doctype_db::MassMigration>(*database_);
    return CheckShards(loaded_, *database_);
  }

  Status OpenProcedures() {
    procedures_ =
        std::make_unique<procedure::Manager>(*query_engine_, ProcedureOptionsOf(loaded_.config));
    RETURN_IF_ERROR(procedures_->Start());
    consumers_ = std::make_unique<service::Consumers>(*query_engine_, *procedures_);
    return OkStatus();
  }

  void OpenQuery() {
    query_engine_ =
        std::make_unique<query::QueryEngine>(*database_, EngineOptionsOf(loaded_.config));
    service::QueryServiceOptions options = QueryOptionsOf(loaded_.config);
    options.accounts = [this] { return directory_->accounts(); };
    options.node = [this] {
      const auto address = ParseAddress(loaded_.config.listen_http);
      return rest::NodeRow(Node(), address ? address->host : std::string());
    };
    query_service_ =
        std::make_unique<service::QueryService>(*query_engine_, std::move(options), clock_);
  }

  rest::ClusterNode Node() const {
    return {.version = std::string(function::kCouchbaseVersion),
            .tls = !loaded_.config.tls_certificate.empty(),
            .http_port = [this] { return ports.http; },
            .eventing_port = [this] { return ports.eventing; }};
  }

  function::Services FunctionServices() const {
    function::Services services{*database_, *query_engine_, clock_, addresses_};
    services.limits = {.documents = loaded_.config.functions_max_documents,
                       .bytes = loaded_.config.functions_max_document_bytes,
                       .timers = loaded_.config.functions_max_timers,
                       .timer_bytes = loaded_.config.functions_max_timer_bytes};
    return services;
  }

  Status OpenFunctions() {
    addresses_ = std::make_shared<function::AddressRules>(
        loaded_.config.functions_allow_private_addresses == "true"
            ? function::PrivateAddresses::kAllowed
            : function::PrivateAddresses::kRefused);
    function::Services services = FunctionServices();
    services.log_directory =
        std::filesystem::path(loaded_.config.data_directory) / "logs" / "functions";
    services.hold = loaded_.config.functions_hold == "true";
    auto under_way = function::UnderWay::Open(std::filesystem::path(loaded_.config.data_directory) /
                                              "under_way");
    if (under_way) {
      under_way_ = std::move(*under_way);
    } else {
      log::Warn("the server can't record the running calls, so it won't know them after a crash",
                {{"error", under_way.error().ToString()}});
    }
    services.under_way = under_way_.get();
    functions_ = std::make_unique<function::Manager>(services);
    return functions_->Start();
  }

  Status OpenFlows() {
    flow_engine::EngineOptions options;
    options.traces = loaded_.config.flows_traces;
    options.under_way = under_way_.get();
    if (!loaded_.config.flows_otlp_url.empty()) {
      trace_exporter_ = std::make_unique<flow_engine::OtlpExporter>(
          flow_engine::OtlpOptions{.url = loaded_.config.flows_otlp_url});
      options.exporter = [this](const flow_engine::TracePtr& trace) {
        trace_exporter_->Offer(trace);
      };
    }
    flows_ = std::make_unique<flow_engine::Host>(
        flow_engine::Services{FunctionServices(), *query_engine_, *procedures_,
                              PathsOf(loaded_.config.flows_directories),
                              loaded_.config.flows_max_stream_bytes},
        std::move(options),
        flow_engine::RunRetention{.keep_ms = loaded_.config.flows_run_retention_ms,
                                  .most = loaded_.config.flows_max_finished_runs});
    return flows_->Start();
  }

  Status OpenAccounts() {
    ASSIGN_OR_RETURN(directory_, auth::Directory::Open(*database_, hasher_));
    authenticator_ = std::make_unique<auth::Authenticator>(*directory_, hasher_, clock_);
    using Filter = rest::AccessFilter;
    filter_ = std::make_unique<Filter>(*authenticator_, mode_ == Mode::kDevelopment
                                                            ? Filter::Mode::kTrustLoopback
                                                            : Filter::Mode::kAsk);
    gate_ = std::make_unique<rest::Gate>(*filter_, *authenticator_, *flows_);
    rest_.emplace(rest::Context{.database = *database_,
                                .directory = *directory_,
                                .metrics = metrics_,
                                .lifecycle = lifecycle_,
                                .clock = clock_,
                                .version = std::string(Version()),
                                .started_ms = clock_.WallMs(),
                                .backup_root = loaded_.config.backup_root,
                                .more_metrics = {[this](std::string* out) {
                                  rest::AppendServerMetrics(*http_, out);
                                  rest::AppendFunctionMetrics(*functions_, out);
                                  rest::AppendTriggerMetrics(procedures_->triggers(), out);
                                  rest::AppendFlowMetrics(*flows_, out);
                                  if (trace_exporter_ != nullptr) {
                                    rest::AppendTraceMetrics(*trace_exporter_, out);
                                  }
                                }}});
    return OkStatus();
  }

  Status BindListeners() {
    net_ = std::make_unique<net::Server>(NetOptionsOf(loaded_.config), clock_);
    http_ = std::make_unique<http::Server>(
        *net_, HttpOptionsOf(loaded_.config),
        http::Server::Environment{
            .clock = clock_, .filter = gate_.get(), .observers = {&metrics_, &access_log_}});
    http::Router admin;
    RETURN_IF_ERROR(rest::AddRestRoutes(admin, *rest_));
    RETURN_IF_ERROR(rest::AddQueryRoutes(admin, *query_service_));
    RETURN_IF_ERROR(rest::AddTriggerRoutes(admin, procedures_->triggers()));
    RETURN_IF_ERROR(rest::AddFlowAdminRoutes(
        admin, *flows_, has_users() ? rest::OpenEndpoints::kToldOf : rest::OpenEndpoints::kMeant));
    RETURN_IF_ERROR(rest::AddConsumerRoutes(admin, *consumers_));
    RETURN_IF_ERROR(rest::AddTypeMigrationRoutes(admin, *migration_));
    RETURN_IF_ERROR(rest::AddAdviceRoutes(
        admin, *rest_,
        [this](const std::function<void(std::string_view)>& visit) { VisitCode(visit); }));
    rest::RefuseUnknownParameters(admin);
    const bool tls = !loaded_.config.tls_certificate.empty();
    RETURN_IF_ERROR(rest::AddEventingRoutes(admin, *functions_,
                                            {.prefix = "/_p/event", .tls = tls, .rights = *gate_}));
    RETURN_IF_ERROR(rest::AddClusterRoutes(admin, Node()));
    RETURN_IF_ERROR(
        http::AddOpenApi({.title = "Sluice", .version = std::string(Version())}, &admin));
    http::Router eventing;
    RETURN_IF_ERROR(eventing.Add({.path = "/",
                                  .summary = "Whether the service answers",
                                  .tag = "operation",
                                  .description = "Client libraries of Couchbase ask for it.",
                                  .responses = {{200, "it does", http::Content{}}},
                                  .handler = [](http::Request&, http::Response& response) {
                                    response.Json(200, R"({"status":"OK"})");
                                  }}));
    RETURN_IF_ERROR(rest::AddHealthRoutes(eventing, *rest_));
    RETURN_IF_ERROR(rest::AddEventingRoutes(eventing, *functions_,
                                            {.prefix = "", .tls = tls, .rights = *gate_}));
    http::Router flows;
    RETURN_IF_ERROR(rest::AddHealthRoutes(flows, *rest_));
    RETURN_IF_ERROR(rest::AddFlowEndpoints(flows, *flows_, loaded_.config.http_max_body_bytes));
    ASSIGN_OR_RETURN(ports.http, Bind(loaded_.config.listen_http, std::move(admin)));
    ASSIGN_OR_RETURN(ports.eventing, Bind(loaded_.config.listen_eventing, std::move(eventing)));
    ASSIGN_OR_RETURN(ports.flows, Bind(loaded_.config.listen_flows, std::move(flows)));
    addresses_->SetOwnPorts({ports.http, ports.eventing, ports.flows});
    return OkStatus();
  }

  bool has_users() const { return mode_ == Mode::kProduction; }

  void WarnOfOpenEndpoints() const {
    if (!has_users()) return;
    flow::Problems open;
    flow_engine::CheckGuards(*flows_->app(), &open);
    for (const flow::Problem& problem : open.Sorted()) {
      log::Warn("an endpoint is open to everybody", {{"problem", problem.ToString()}});
    }
  }

  // Everything that users wrote and this server runs.
  void VisitCode(const std::function<void(std::string_view)>& visit) const {
    for (const function::Definition& each : functions_->List()) visit(each.code);
    for (const json::Value& each : procedures_->List()) {
      if (each["src"].is_string()) visit(each["src"].AsString());
    }
    for (const auto& [path, text] : flows_->app()->bundle.files) visit(text);
  }

  Result<uint16_t> Bind(const std::string& text, http::Router router) {
    ASSIGN_OR_RETURN(const Address address, ParseAddress(text));
    net::ListenOptions options{.host = address.host, .port = address.port};
    if (!loaded_.config.tls_certificate.empty()) {
      options.tls = net::TlsOptions{.certificate_file = loaded_.config.tls_certificate,
                                    .key_file = loaded_.config.tls_key};
    }
    ASSIGN_OR_RETURN(
        const http::Server::Listener listener,
        http_->Listen(options, std::make_shared<const http::Router>(std::move(router))));
    return listener.port;
  }

  Status EnsureAdmin() {
    if (mode_ == Mode::kDevelopment) return OkStatus();
    const std::string file = FirstPasswordFile(loaded_.config.data_directory);
    // Checks that the file can be written before there is a password to lose.
    if (directory_->accounts().users.empty()) RETURN_IF_ERROR(KeepFirstPassword(file, ""));
    ASSIGN_OR_RETURN(const auto made, directory_->EnsureAdmin());
    if (!made) return OkStatus();
    RETURN_IF_ERROR(KeepFirstPassword(file, made->password));
    first_admin = FirstAdmin{made->name, file};
    return OkStatus();
  }

  const LoadedConfig loaded_;
  const Mode mode_;
  const Clock& clock_;
  rest::Lifecycle lifecycle_;
  rest::Metrics metrics_;
  AccessLog access_log_;
  auth::PasswordHasher hasher_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<doctype_db::MassMigration> migration_;
  std::unique_ptr<query::QueryEngine> query_engine_;
  std::unique_ptr<procedure::Manager> procedures_;
  std::unique_ptr<service::Consumers> consumers_;
  std::unique_ptr<service::QueryService> query_service_;
  std::shared_ptr<function::AddressRules> addresses_;
  std::unique_ptr<function::UnderWay> under_way_;  // null: it can't be written
  std::unique_ptr<function::Manager> functions_;
  std::unique_ptr<flow_engine::OtlpExporter> trace_exporter_;  // null: traces are not exported
  std::unique_ptr<flow_engine::Host> flows_;
  std::unique_ptr<auth::Directory> directory_;
  std::unique_ptr<auth::Authenticator> authenticator_;
  std::unique_ptr<rest::AccessFilter> filter_;
  std::unique_ptr<rest::Gate> gate_;
  std::optional<rest::Context> rest_;
  std::unique_ptr<net::Server> net_;
  std::unique_ptr<http::Server> http_;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::Start(const LoadedConfig& config, Mode mode,
                                              const Clock& clock) {
  auto parts = std::make_unique<Parts>(config, mode, clock);
  RETURN_IF_ERROR(parts->Start());
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

const Ports& Server::ports() const { return parts_->ports; }
const std::optional<FirstAdmin>& Server::first_admin() const { return parts_->first_admin; }
void Server::Stop() { parts_->Stop(); }

}  // namespace sluice::server
