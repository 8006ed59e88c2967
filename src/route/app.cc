#include "route/app.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "flow/compile.h"
#include "flow/flow_list.h"
#include "flow/preload.h"
#include "flow/source_tree.h"
#include "flow/yaml_value.h"
#include "route/builtins.h"
#include "route/http_task.h"
#include "route/js_task.h"
#include "route/lua_task.h"
#include "route/sql_task.h"
#include "route/state_machine.h"
#include "route/stream_task.h"
#include "route/task_options.h"
#include "route/timer_task.h"

namespace sluice::route {
namespace {

constexpr int kBuiltinInstances = 200;

// Variables of the server's environment, and sluice.yaml.
class AppSettings final : public flow::Settings {
 public:
  explicit AppSettings(json::Value config) : config_(std::move(config)) {}
  std::optional<std::string> Environment(std::string_view name) const override {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  }
  json::Value Lookup(std::string_view key) const override {
    json::Value at = config_;
    while (!key.empty()) {
      const size_t dot = key.find('.');
      json::Value next = at[key.substr(0, dot)];
      at = std::move(next);
      key.remove_prefix(dot == std::string_view::npos ? key.size() : dot + 1);
    }
    return at;
  }

 private:
  const json::Value config_;
};

class AppMaker {
 public:
  AppMaker(const Services& services, App* app, flow::Problems* problems)
      : services_(services), app_(app), problems_(problems) {}

  void Make() {
    const yaml::Node config = ReadConfig();
    const AppSettings settings(flow::ValueOf(config));
    options_ = ReadTaskOptions(config, "sluice.yaml", settings, problems_);
    app_->files = std::make_unique<BundleFiles>(app_->bundle, services_.directories);
    AddBuiltins();
    AddTasks();
    AddPreloads(ListOf(config, "preload", "preload-override.yaml"), settings);
    CompileFlows(ListOf(config, "flows", flow::kDefaultFlowList), settings);
    ReadRest(ListOf(config, "rest", "rest.yaml"), settings);
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

  // Files that sluice.yaml names, such as classpath:/more-flows.yaml.
  std::vector<std::string> ListOf(const yaml::Node& config, std::string_view key,
                                  std::string_view usual) {
    const yaml::Node* const list = config.Find(key);
    if (list == nullptr) return {std::string(usual)};
    std::vector<std::string> names;
    for (const yaml::Node& item : list->items) names.push_back(item.text);
    if (!list->is_list() || std::ranges::any_of(names, &std::string::empty)) {
      problems_->AddError(Error(Code::kInvalidArgument, "route.invalid_options",
                                "{}: expected a list of files such as [classpath:/{}.yaml]", key,
                                key)
                              .At({"sluice.yaml", list->line, list->column}));
      return {};
    }
    return names;
  }

  // A file of the app, or of a directory that flows may use.
  Result<std::string> ReadLocation(std::string_view location) const {
    constexpr std::string_view kClasspath = "classpath:";
    constexpr std::string_view kFile = "file:";
    using Area = flow::Files::Area;
    if (location.starts_with(kClasspath)) {
      return app_->files->Read(Area::kResource, location.substr(kClasspath.size()));
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

  // What the app says of itself without being told to may be missing; what it names may not.
  std::vector<flow::FlowText> ReadFiles(const std::vector<std::string>& names) {
    std::vector<flow::FlowText> texts;
    for (const std::string& name : names) {
      const bool plain = name.find(':') == std::string::npos;
      auto text = ReadLocation(plain ? "classpath:/" + name : name);
      if (text) {
        texts.push_back({ShownPath(name), std::move(*text)});
      } else if (!plain) {
        problems_->AddError(
            Error(Code::kNotFound, std::string(text.error().id()), "{}", text.error().message())
                .At({"sluice.yaml", 1, 1}));
      }
    }
    return texts;
  }

  // A route, or flow://id.
  bool HasTarget(std::string_view target) const {
    constexpr std::string_view kFlow = "flow://";
    if (!target.starts_with(kFlow)) return app_->routes.contains(target);
    return app_->flows->Find(target.substr(kFlow.size())) != nullptr;
  }

  void Wrong(const std::string& file, std::string_view id, const std::string& message) {
    problems_->AddError(
        Error(Code::kInvalidArgument, std::string(id), "{}", message).At({file, 1, 1}));
  }

  void Add(const std::string& name, const RouteLimits& limits, TaskMaker maker) {
    app_->routes[name] = std::make_shared<Route>(name, limits, std::move(maker));
  }

  // Those that reach data or the network are for flows, which say what may be asked of them.
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
        Wrong(path, "route.invalid_name",
              fmt::format("'{}' is no route: expected small letters, digits, -, _ and a dot, such "
                          "as greeting.demo",
                          route));
        continue;
      }
      const auto said = options_.find(route);
      const TaskOptions options = said == options_.end() ? TaskOptions() : said->second;
      const auto maker = MakeTask(route, suffix, text, options);
      if (!maker) {
        Status error = maker.error();
        Place place = error.place();
        place.file = path;
        if (place.line == 0) place = {path, 1, 1};
        problems_->AddError(error.At(place));
        continue;
      }
      AddWithNames(route, options, *maker);
    }
    for (const auto& [route, options] : options_) AddFileless(route, options);
  }

  void AddWithNames(const std::string& route, const TaskOptions& options, const TaskMaker& maker) {
    Add(route, options.limits, maker);
    for (const std::string& other : options.routes) Add(other, options.limits, maker);
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
    if (!IsRouteName(route)) return wrong("route.invalid_name", "'" + route + "' is no route");
    AddWithNames(route, options,
                 options.http ? MakeHttpTask(services_.function, *options.http)
                              : MakeStateMachine(services_.function.database, *options.state));
  }

  Result<TaskMaker> MakeTask(const std::string& route, const std::string& suffix,
                             const std::string& text, const TaskOptions& options) {
    if (suffix != ".js" && !options.keyspaces.empty()) {
      return Fail(Code::kInvalidArgument, "route.language",
                  "keyspaces are for tasks in JavaScript; others use statements");
    }
    if (suffix == ".sql") return MakeSqlTask(services_.queries, text);
    if (suffix == ".lua")
      return MakeLuaTask(services_.function.database, services_.procedures, route, text);
    if (suffix != ".js") {
      return Fail(Code::kInvalidArgument, "route.language",
                  "expected a file that ends with .js, .lua or .sql");
    }
    function::Definition definition;
    definition.name = route;
    definition.code = text;
    definition.buckets = options.keyspaces;
    return MakeJsTask(services_.function, std::move(definition));
  }

  void AddPreloads(const std::vector<std::string>& lists, const flow::Settings& settings) {
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
      if (!preload.keep_original) app_->routes.erase(found);
      for (const std::string& route : preload.routes) Add(route, limits, original->maker());
    }
  }

  void CompileFlows(const std::vector<std::string>& lists, const flow::Settings& settings) {
    std::string locations;
    for (const std::string& list : lists) {
      // An app without flows is none that misses them.
      if (list == flow::kDefaultFlowList && !ReadLocation(list)) continue;
      locations += (locations.empty() ? "" : ",") + list;
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
    flow::CompileOptions options;
    options.settings = &settings;
    options.files = app_->files.get();
    options.has_route = [&](std::string_view route) { return app_->routes.contains(route); };
    for (const auto& [name, route] : app_->routes) options.routes.push_back(name);
    app_->flows = flow::CompileFlows(texts, options, problems_);
  }

  void ReadRest(const std::vector<std::string>& lists, const flow::Settings& settings) {
    const RestNames names{
        .find_route = [&](std::string_view route) { return app_->FindRoute(route); },
        .has_flow = [&](std::string_view flow) { return app_->flows->Find(flow) != nullptr; }};
    app_->rest = ReadRestConfig(ReadFiles(lists), settings, names, problems_);
    for (const Endpoint& endpoint : app_->rest.endpoints) {
      if (endpoint.relay.empty()) continue;
      Add(RelayRoute(endpoint), {.instances = kBuiltinInstances, .is_private = true},
          MakeRelayTask(services_.function, services_.streams, endpoint.relay,
                        endpoint.certificates));
    }
    CheckStatic(lists.empty() ? "rest.yaml" : lists.front());
  }

  void CheckStatic(const std::string& file) {
    constexpr std::string_view kFile = "file:";
    const std::string& folder = app_->rest.content.folder;
    if (!folder.starts_with(kFile)) return;
    const auto path = app_->files->PathOf(folder.substr(kFile.size()) + "/index.html");
    if (!path) problems_->AddError(Status(path.error()).At({file, 1, 1}));
  }

  const Services& services_;
  App* const app_;
  flow::Problems* const problems_;
  std::map<std::string, TaskOptions> options_;
};

}  // namespace

Route* App::FindRoute(std::string_view name) const {
  const auto found = routes.find(name);
  return found == routes.end() ? nullptr : found->second.get();
}

std::shared_ptr<const App> MakeApp(const Services& services, Bundle bundle, std::string version,
                                   flow::Problems* problems) {
  const size_t errors = problems->errors();
  auto app = std::make_shared<App>();
  app->bundle = std::move(bundle);
  app->version = std::move(version);
  AppMaker(services, app.get(), problems).Make();
  return problems->errors() == errors ? app : nullptr;
}

}  // namespace sluice::route
