#include "route/app.h"

#include <cstdlib>
#include <utility>

#include "flow/compile.h"
#include "flow/flow_list.h"
#include "flow/preload.h"
#include "flow/source_tree.h"
#include "route/builtins.h"
#include "route/js_task.h"
#include "route/lua_task.h"
#include "route/sql_task.h"
#include "route/task_options.h"

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

json::Value ToValue(const yaml::Node& node) {
  if (node.is_scalar()) return json::Value(node.text);
  if (node.is_list()) {
    json::Value list = json::Value::EmptyArray();
    for (const yaml::Node& item : node.items) list.Append(ToValue(item));
    return list;
  }
  json::Value map = json::Value::EmptyObject();
  for (const yaml::Entry& entry : node.entries) map.Set(entry.key, ToValue(entry.value));
  return node.is_map() ? map : json::Value(nullptr);
}

class AppMaker {
 public:
  AppMaker(const Services& services, App* app, flow::Problems* problems)
      : services_(services), app_(app), problems_(problems) {}

  void Make() {
    const yaml::Node config = ReadConfig();
    const AppSettings settings(ToValue(config));
    options_ = ReadTaskOptions(config, "sluice.yaml", settings, problems_);
    app_->files = std::make_unique<BundleFiles>(app_->bundle);
    AddBuiltins();
    AddTasks();
    AddPreloads(settings);
    CompileFlows(settings);
    ReadRest(settings);
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

  void Wrong(const std::string& file, std::string_view id, const std::string& message) {
    problems_->AddError(
        Error(Code::kInvalidArgument, std::string(id), "{}", message).At({file, 1, 1}));
  }

  void Add(const std::string& name, int instances, TaskMaker maker) {
    app_->routes[name] = std::make_shared<Route>(name, instances, std::move(maker));
  }

  void AddBuiltins() {
    for (auto& [name, maker] : Builtins(services_.queries, services_.function.clock)) {
      Add(name, kBuiltinInstances, std::move(maker));
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
      Add(route, options.instances, *maker);
      for (const std::string& other : options.routes) Add(other, options.instances, *maker);
    }
    for (const auto& [route, options] : options_) {
      const auto has = [&](std::string_view suffix) {
        return app_->bundle.Find(fmt::format("tasks/{}{}", route, suffix)) != nullptr;
      };
      if (has(".js") || has(".lua") || has(".sql")) continue;
      problems_->AddError(Error(Code::kInvalidArgument, "route.unknown",
                                "there is no file tasks/{}.js, .lua or .sql", route)
                              .At(options.place));
    }
  }

  Result<TaskMaker> MakeTask(const std::string& route, const std::string& suffix,
                             const std::string& text, const TaskOptions& options) {
    if (suffix != ".js" && !options.keyspaces.empty()) {
      return Fail(Code::kInvalidArgument, "route.language",
                  "keyspaces are for tasks in JavaScript; others use statements");
    }
    if (suffix == ".sql") return MakeSqlTask(services_.queries, text);
    if (suffix == ".lua") return MakeLuaTask(services_.procedures, route, text);
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

  void AddPreloads(const flow::Settings& settings) {
    const std::string* const text = app_->bundle.Find("preload-override.yaml");
    if (text == nullptr) return;
    for (const flow::Preload& preload :
         flow::ReadPreloads({{"preload-override.yaml", *text}}, settings, problems_)) {
      const auto found = app_->routes.find(preload.original);
      if (found == app_->routes.end()) {
        problems_->AddError(Error(Code::kInvalidArgument, "route.unknown", "there is no route '{}'",
                                  preload.original)
                                .At(preload.place));
        continue;
      }
      const std::shared_ptr<Route> original = found->second;
      const int instances = static_cast<int>(preload.instances.value_or(original->instances()));
      if (!preload.keep_original) app_->routes.erase(found);
      for (const std::string& route : preload.routes) Add(route, instances, original->maker());
    }
  }

  void CompileFlows(const flow::Settings& settings) {
    std::vector<flow::FlowText> texts;
    if (app_->bundle.Find("flows.yaml") != nullptr ||
        app_->bundle.Find("resources/flows.yaml") != nullptr) {
      const auto read = [&](std::string_view location) -> Result<std::string> {
        constexpr std::string_view kClasspath = "classpath:";
        if (!location.starts_with(kClasspath)) {
          return Fail(Code::kInvalidArgument, "flow.bad_location",
                      "expected classpath:/..., got '{}'", location);
        }
        return app_->files->Read(flow::Files::Area::kResource, location.substr(kClasspath.size()));
      };
      texts = flow::ReadFlowLists(flow::kDefaultFlowList, read, settings, problems_);
    }
    flow::CompileOptions options;
    options.settings = &settings;
    options.files = app_->files.get();
    options.has_route = [&](std::string_view route) { return app_->routes.contains(route); };
    for (const auto& [name, route] : app_->routes) options.routes.push_back(name);
    app_->flows = flow::CompileFlows(texts, options, problems_);
  }

  void ReadRest(const flow::Settings& settings) {
    const std::string* text = app_->bundle.Find("rest.yaml");
    const std::string file = text == nullptr ? "resources/rest.yaml" : "rest.yaml";
    if (text == nullptr) text = app_->bundle.Find(file);
    if (text == nullptr) return;
    const RestNames names{
        .has_route = [&](std::string_view route) { return app_->routes.contains(route); },
        .has_flow = [&](std::string_view flow) { return app_->flows->Find(flow) != nullptr; }};
    app_->rest = ReadRestConfig({file, *text}, settings, names, problems_);
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
