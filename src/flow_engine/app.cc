#include "flow_engine/app.h"

#include <algorithm>
#include <cstdlib>
#include <expected>
#include <utility>

#include "db/table_schema.h"
#include "flow/compile.h"
#include "flow/flow_list.h"
#include "flow/preload.h"
#include "flow/source_tree.h"
#include "flow/yaml_value.h"
#include "flow_engine/builtins.h"
#include "flow_engine/http_task.h"
#include "flow_engine/js_task.h"
#include "flow_engine/lua_task.h"
#include "flow_engine/sql_task.h"
#include "flow_engine/state_machine.h"
#include "flow_engine/stream_task.h"
#include "flow_engine/task_options.h"
#include "flow_engine/timer_task.h"
#include "function/confinement.h"

namespace sluice::flow_engine {
namespace {

constexpr int kBuiltinInstances = 200;
constexpr std::string_view kStatementSuffix = ".sql";

// Variables of the server's environment, and sluice.yaml.
class AppSettings final : public flow::Settings {
 public:
  explicit AppSettings(json::Value config) : config_(std::move(config)) {}
  std::optional<std::string> Environment(std::string_view name) const override {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  }
  // `x.y` is that of `config:`, or of the whole file.
  json::Value Lookup(std::string_view key) const override {
    json::Value found = flow::ValueAt(config_["config"], key);
    return found.is_missing() ? flow::ValueAt(config_, key) : found;
  }

 private:
  const json::Value config_;
};

class AppMaker {
 public:
  AppMaker(const Services& services, App* app, Missing missing, flow::Problems* problems)
      : services_(services), app_(app), missing_(missing), problems_(problems) {}

  void Make() {
    const yaml::Node config = ReadConfig();
    const AppSettings settings(flow::ValueOf(config));
    options_ = ReadTaskOptions(config, "sluice.yaml", settings, problems_);
    app_->files = std::make_unique<BundleFiles>(app_->bundle, services_.directories);
    AddBuiltins();
    AddTasks();
    NoteKeyspaces(config);
    AddPreloads(ListOf(config, "preload", "classpath:/preload-override.yaml"), settings);
    CompileFlows(ListOf(config, "flows", flow::kDefaultFlowList), settings);
    ReadRest(ListOf(config, "rest", "classpath:/rest.yaml"), settings);
    app_->options = ReadAppOptions(
        config, "sluice.yaml", settings, [&](std::string_view target) { return HasTarget(target); },
        problems_);
  }

 private:
  yaml::Node ReadConfig() {
    const std::string* const text = app_->bundle.Find("sluice.yaml");
    if (text == nullptr) return {};
    auto node = yaml::Parse(*text, "sluice.yaml");
    if (node) return std::move(*node);
    problems_->AddError(node.error());
    return {};
  }

  // A file that sluice.yaml names, such as classpath:/more-flows.yaml; or a file with a default
  // name, which may be missing and has no place.
  struct Listed {
    std::string location;
    Place place;
  };

  std::vector<Listed> ListOf(const yaml::Node& config, std::string_view key,
                             std::string_view usual) {
    const yaml::Node* const list = config.Find(key);
    if (list == nullptr) return {{std::string(usual), {}}};
    std::vector<Listed> files;
    for (const yaml::Node& item : list->items) {
      files.push_back({item.text, {"sluice.yaml", item.line, item.column}});
    }
    if (!list->is_list() || std::ranges::any_of(files, &std::string::empty, &Listed::location)) {
      problems_->AddError(Error(Code::kInvalidArgument, "route.invalid_options",
                                "{}: expected a list of files such as [classpath:/{}.yaml]", key,
                                key)
                              .At({"sluice.yaml", list->line, list->column}));
      return {};
    }
    return files;
  }

  // A file of the app, or of a directory that flows may use.
  Result<std::string> ReadLocation(std::string_view location) const {
    constexpr std::string_view kClasspath = "classpath:";
    constexpr std::string_view kFile = "file:";
    using Area = flow::Files::Area;
    if (location.starts_with(kClasspath)) {
      std::string_view path = location.substr(kClasspath.size());
      auto resource = app_->files->Read(Area::kResource, path);
      if (resource) return resource;
      while (path.starts_with('/')) path.remove_prefix(1);
      const std::string* const file = app_->bundle.Find(path);
      if (file != nullptr) return *file;
      return Fail(Code::kNotFound, "file.unreadable",
                  "there is neither a file 'resources/{}' nor '{}'", path, path);
    }
    if (location.starts_with(kFile)) {
      return app_->files->Read(Area::kFile, location.substr(kFile.size()));
    }
    return Fail(Code::kInvalidArgument, "flow.bad_location",
                "expected classpath:/... or file:/..., got '{}'", location);
  }

  // A location as a path below the app directory, for messages.
  std::string ShownPath(const std::string& location) const {
    constexpr std::string_view kClasspath = "classpath:/";
    if (!location.starts_with(kClasspath)) return location;
    const std::string path = location.substr(kClasspath.size());
    const std::string resource = "resources/" + path;
    return app_->bundle.Find(resource) != nullptr ? resource : path;
  }

  // A file that the app names must exist.
  std::optional<std::string> ReadListed(const Listed& file) {
    auto text = ReadLocation(file.location);
    if (text) return std::move(*text);
    if (file.place.line > 0) problems_->AddError(Status(text.error()).At(file.place));
    return std::nullopt;
  }

  std::vector<flow::FlowText> ReadFiles(const std::vector<Listed>& files) {
    std::vector<flow::FlowText> texts;
    for (const Listed& file : files) {
      if (auto text = ReadListed(file))
        texts.push_back({ShownPath(file.location), *std::move(text)});
    }
    return texts;
  }

  // Also a flow with errors: the problems name the flow itself, not the files that refer to it.
  bool HasFlow(std::string_view id) const {
    return app_->flows->Find(id) != nullptr || refused_flows_.contains(id);
  }

  // A route, or flow://id.
  bool HasTarget(std::string_view target) const {
    constexpr std::string_view kFlow = "flow://";
    if (!target.starts_with(kFlow)) return app_->routes.contains(target);
    return HasFlow(target.substr(kFlow.size()));
  }

  void Wrong(const std::string& file, std::string_view id, const std::string& message) {
    problems_->AddError(
        Error(Code::kInvalidArgument, std::string(id), "{}", message).At({file, 1, 1}));
  }

  void Add(const std::string& name, const RouteLimits& limits, TaskMaker maker) {
    app_->routes[name] = std::make_shared<Route>(name, limits, std::move(maker));
  }

  // Only flows may call the built-ins that reach data or the network: a flow decides their input.
  void AddBuiltins() {
    constexpr std::string_view kPublic[] = {"no.op", "echo"};
    auto makers = Builtins(services_.queries, services_.function.clock);
    makers["async.http.request"] = MakeHttpRequestTask(services_.function);
    makers.merge(StreamTasks(*app_->files));
    makers["timer"] = MakeTimerTask(services_.function.clock);
    for (auto& [name, maker] : makers) {
      const bool is_public = std::ranges::find(kPublic, name) != std::end(kPublic);
      Add(name, {.instances = kBuiltinInstances, .is_private = !is_public}, std::move(maker));
    }
  }

  // tasks/ROUTE.js, tasks/ROUTE.lua and tasks/ROUTE.sql
  void AddTasks() {
    constexpr std::string_view kDirectory = "tasks/";
    for (const auto& [path, text] : app_->bundle.files) {
      if (!path.starts_with(kDirectory)) continue;
      const std::string name = path.substr(kDirectory.size());
      const size_t dot = name.rfind('.');
      const std::string suffix = dot == std::string::npos ? "" : name.substr(dot);
      const std::string route = name.substr(0, dot);
      if (!IsRouteName(route)) {
        Wrong(
            path, "route.invalid_name",
            fmt::format("'{}' is not a route: expected small letters, digits, -, _ and a dot, such "
                        "as greeting.demo",
                        route));
        continue;
      }
      const auto said = options_.find(route);
      const TaskOptions options = said == options_.end() ? TaskOptions() : said->second;
      auto maker = MakeTask(route, suffix, text, options);
      if (!maker) {
        for (const Status& error : maker.error()) AddTaskProblem(path, error);
        // The route exists: files that refer to it have no mistake.
        maker = MakeLateTask(route, suffix, text, options);
      }
      AddWithNames(route, options, *maker, {path, 1, 1});
    }
    for (const auto& [route, options] : options_) AddFileless(route, options);
  }

  void AddTaskProblem(const std::string& path, const Status& error) {
    Place place = error.place();
    place.file = path;
    if (place.line == 0) place = {path, 1, 1};
    const bool declared = missing_ == Missing::kMayBeDeclared &&
                          query::CodeOf(error) == query::QueryCode::kKeyspaceNotFound;
    const bool late = missing_ == Missing::kWasDropped && path.ends_with(kStatementSuffix);
    declared || late ? problems_->AddWarning(error.At(place))
                     : problems_->AddError(error.At(place));
  }

  void NoteKeyspaces(const yaml::Node& config) {
    constexpr const char* kLevels[] = {"buckets", "scopes", "collections"};
    const auto note = [&](const auto& self, const yaml::Node& node, db::KeyspaceName name,
                          size_t level) -> void {
      const yaml::Node* const list = level < 3 ? node.Find(kLevels[level]) : nullptr;
      if (level > 0) app_->declared.insert(name);
      if (list == nullptr) return;
      for (const yaml::Entry& entry : list->entries) {
        db::KeyspaceName inner = name;
        (level == 0 ? inner.bucket : level == 1 ? inner.scope : inner.collection) = entry.key;
        self(self, entry.value, inner, level + 1);
      }
    };
    note(note, config, {}, 0);
    for (const auto& [route, options] : options_) {
      if (options.state) app_->keyspaces.emplace_back(*options.state, options.place);
      for (const function::BucketBinding& binding : options.keyspaces) {
        app_->keyspaces.emplace_back(binding.keyspace, options.place);
      }
    }
  }

  // A name is of one function; those that are built in give way.
  void AddWithNames(const std::string& route, const TaskOptions& options, const TaskMaker& maker,
                    const Place& place) {
    const auto add = [&](const std::string& name, const Place& from) {
      const auto [other, is_new] = named_.emplace(name, from);
      if (is_new) {
        Add(name, options.limits, maker);
      } else {
        problems_->AddError(Error(Code::kInvalidArgument, "route.duplicate",
                                  "route '{}' appears twice, see {}", name, other->second.file)
                                .At(from));
      }
      return is_new;
    };
    if (!add(route, place)) return;
    for (const std::string& other : options.routes) add(other, options.place);
  }

  // HTTP endpoints and state machines are in sluice.yaml alone.
  void AddFileless(const std::string& route, const TaskOptions& options) {
    const auto wrong = [&](std::string_view id, const std::string& message) {
      problems_->AddError(
          Error(Code::kInvalidArgument, std::string(id), "{}", message).At(options.place));
    };
    const auto has = [&](std::string_view suffix) {
      return app_->bundle.Find(fmt::format("tasks/{}{}", route, suffix)) != nullptr;
    };
    const bool fileless = options.http || options.state;
    if (has(".js") || has(".lua") || has(".sql")) {
      if (fileless) wrong("route.invalid_options", "there is a file for it, too, in tasks/");
      return;
    }
    if (!fileless) {
      return wrong("route.unknown",
                   fmt::format("there is no file tasks/{}.js, .lua or .sql", route));
    }
    if (!IsRouteName(route)) return wrong("route.invalid_name", "'" + route + "' is not a route");
    AddWithNames(route, options,
                 options.http ? MakeHttpTask(services_.function, *options.http)
                              : MakeStateMachine(services_.function.database, *options.state),
                 options.place);
  }

  static StatementCheck CheckOf(const std::string& route, const TaskOptions& options) {
    if (options.keyspaces.empty()) return nullptr;
    return [route, keyspaces = options.keyspaces](const query::StatementPlan& plan) {
      return function::CheckTaskStatement(route, keyspaces, plan);
    };
  }

  // Of a task that MakeTask can't make.
  TaskMaker MakeLateTask(const std::string& route, const std::string& suffix,
                         const std::string& text, const TaskOptions& options) {
    if (suffix == kStatementSuffix) {
      return MakeLateSqlTask(services_.queries, text, CheckOf(route, options));
    }
    return []() -> Result<std::unique_ptr<TaskInstance>> { return nullptr; };
  }

  using Made = std::expected<TaskMaker, std::vector<Status>>;
  Made MakeTask(const std::string& route, const std::string& suffix, const std::string& text,
                const TaskOptions& options) {
    const auto one = [](Result<TaskMaker> maker) -> Made {
      if (maker) return std::move(*maker);
      return std::unexpected(std::vector<Status>{maker.error()});
    };
    const auto wrong = [&](std::string_view message) -> Made {
      return one(Fail(Code::kInvalidArgument, "route.language", "{}", message));
    };
    StatementCheck check = CheckOf(route, options);
    if (suffix == kStatementSuffix) {
      return one(MakeSqlTask(services_.queries, text, std::move(check)));
    }
    if (suffix == ".lua") {
      return one(MakeLuaTask(services_.function.database, services_.procedures, route, text,
                             std::move(check)));
    }
    if (suffix != ".js") return wrong("expected a file that ends with .js, .lua or .sql");
    function::Definition definition;
    definition.name = route;
    definition.code = text;
    definition.buckets = options.keyspaces;
    if (checker_ == nullptr) checker_ = std::make_unique<js::SyntaxChecker>();
    return MakeJsTask(services_.function, std::move(definition), checker_.get());
  }

  void AddPreloads(const std::vector<Listed>& lists, const flow::Settings& settings) {
    const std::vector<flow::FlowText> texts = ReadFiles(lists);
    for (const flow::Preload& preload : flow::ReadPreloads(texts, settings, problems_)) {
      const auto found = app_->routes.find(preload.original);
      if (found == app_->routes.end()) {
        problems_->AddError(Error(Code::kInvalidArgument, "route.unknown", "there is no route '{}'",
                                  preload.original)
                                .At(preload.place));
        continue;
      }
      const std::shared_ptr<Route> original = found->second;
      RouteLimits limits = original->limits();
      limits.instances = static_cast<int>(preload.instances.value_or(limits.instances));
      if (!preload.keep_original) {
        app_->routes.erase(found);
        named_.erase(preload.original);
      }
      for (const std::string& route : preload.routes) {
        if (!named_.emplace(route, preload.place).second && route != preload.original) {
          problems_->AddError(
              Error(Code::kInvalidArgument, "route.duplicate", "route '{}' already exists", route)
                  .At(preload.place));
        }
        Add(route, limits, original->maker());
      }
    }
  }

  void CompileFlows(const std::vector<Listed>& lists, const flow::Settings& settings) {
    std::string locations;
    for (const Listed& list : lists) {
      if (ReadListed(list)) locations += (locations.empty() ? "" : ",") + list.location;
    }
    flow::Problems listed;
    std::vector<flow::FlowText> texts = flow::ReadFlowLists(
        locations, [&](std::string_view location) { return ReadLocation(location); }, settings,
        &listed);
    for (const flow::Problem& problem : listed.Sorted()) {
      Place place = problem.status.place();
      place.file = ShownPath(place.file);
      const bool error = problem.severity == flow::Problem::Severity::kError;
      const Status shown = problem.status.At(place);
      error ? problems_->AddError(shown) : problems_->AddWarning(shown);
    }
    for (flow::FlowText& text : texts) text.file = ShownPath(text.file);
    TellUnlisted(texts);
    flow::CompileOptions options;
    options.settings = &settings;
    options.files = app_->files.get();
    options.has_route = [&](std::string_view route) { return app_->routes.contains(route); };
    for (const auto& [name, route] : app_->routes) options.routes.push_back(name);
    app_->flows = flow::CompileFlows(texts, options, problems_, &refused_flows_);
  }

  void TellUnlisted(const std::vector<flow::FlowText>& texts) {
    for (const auto& [path, text] : app_->bundle.files) {
      if (!path.starts_with("flows/") || !(path.ends_with(".yml") || path.ends_with(".yaml")) ||
          std::ranges::find(texts, path, &flow::FlowText::file) != texts.end()) {
        continue;
      }
      problems_->AddWarning(Error(Code::kNotFound, "flow.unlisted",
                                  "this flow is not loaded: no flow list, such as flows.yaml, "
                                  "names it")
                                .At({path, 1, 1}));
    }
  }

  void ReadRest(const std::vector<Listed>& lists, const flow::Settings& settings) {
    RestNames names{.find_route = [&](std::string_view route) { return app_->FindRoute(route); },
                    .has_flow = [&](std::string_view flow) { return HasFlow(flow); },
                    .routes = {},
                    .flows = {}};
    for (const auto& [route, unused] : app_->routes) names.routes.push_back(route);
    for (const auto& [id, unused] : app_->flows->flows()) names.flows.emplace_back(id);
    app_->rest = ReadRestConfig(ReadFiles(lists), settings, names, problems_);
    for (const Endpoint& endpoint : app_->rest.endpoints) {
      if (endpoint.relay.empty()) continue;
      Add(RelayRoute(endpoint), {.instances = kBuiltinInstances, .is_private = true},
          MakeRelayTask(services_.function, services_.max_stream_bytes, endpoint.relay,
                        endpoint.certificates));
    }
    CheckStatic(app_->rest.content);
  }

  void CheckStatic(const StaticContent& content) {
    constexpr std::string_view kFile = "file:";
    if (!content.folder.starts_with(kFile)) return;
    const auto path = app_->files->PathOf(content.folder.substr(kFile.size()) + "/index.html");
    if (!path) problems_->AddError(Status(path.error()).At(content.folder_place));
  }

  const Services& services_;
  App* const app_;
  const Missing missing_;
  flow::Problems* const problems_;
  std::unique_ptr<js::SyntaxChecker> checker_;        // made by the first task in JavaScript
  std::set<std::string, std::less<>> refused_flows_;  // that have errors
  std::map<std::string, TaskOptions> options_;
  std::map<std::string, Place> named_;  // routes of the app's functions, by where they are named
};

}  // namespace

Route* App::FindRoute(std::string_view name) const {
  const auto found = routes.find(name);
  return found == routes.end() ? nullptr : found->second.get();
}

std::shared_ptr<const App> MakeApp(const Services& services, Bundle bundle, std::string version,
                                   Missing missing, flow::Problems* problems) {
  const size_t errors = problems->errors();
  auto app = std::make_shared<App>();
  app->bundle = std::move(bundle);
  app->version = std::move(version);
  AppMaker(services, app.get(), missing, problems).Make();
  return problems->errors() == errors ? app : nullptr;
}

void CheckKeyspaces(const App& app, const Services& services, Missing missing,
                    flow::Problems* problems) {
  for (const auto& [name, place] : app.keyspaces) {
    if (name.wildcard()) continue;
    if (missing == Missing::kMayBeDeclared && app.declared.contains(name)) continue;
    const auto keyspace = services.function.database.Resolve(name);
    if (keyspace) continue;
    const Status error =
        Error(Code::kInvalidArgument, "route.no_keyspace", "{}", keyspace.error().message())
            .At(place);
    const bool table = name.bucket == db::kTablesBucket;
    const bool warn =
        missing == Missing::kWasDropped || (table && missing == Missing::kMayBeDeclared);
    warn ? problems->AddWarning(error) : problems->AddError(error);
  }
}

}  // namespace sluice::flow_engine
