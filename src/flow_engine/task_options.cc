#include "flow_engine/task_options.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/quantity.h"
#include "flow/source_tree.h"

namespace sluice::flow_engine {
namespace {

class Reader {
 public:
  Reader(const std::string& file, const flow::Settings& settings, flow::Problems* problems)
      : file_(file), settings_(settings), problems_(problems) {}

  TaskOptions Read(const yaml::Entry& task) {
    TaskOptions options;
    options.place = {file_, task.line, task.column};
    if (!task.value.is_map() && !task.value.is_null()) {
      Wrong(task.value, "expected a map with instances, routes, url and so on");
    }
    for (const yaml::Entry& entry : task.value.entries) {
      if (!ReadField(entry, &options) && !ReadHttpField(entry, &options)) {
        Wrong(entry.line, entry.column,
              "expected instances, routes, queue, private, keyspaces, state, url, method, headers, "
              "timeout or trust_all_cert, got '" +
                  entry.key + "'");
      }
    }
    CheckHttp(task, options);
    return options;
  }

  void Wrong(uint32_t line, uint32_t column, const std::string& message) {
    problems_->AddError(Error(Code::kInvalidArgument, "route.invalid_options", "{}", message)
                            .At({file_, line, column}));
  }
  void Wrong(const yaml::Node& node, const std::string& message) {
    Wrong(node.line, node.column, message);
  }

 private:
  // False when it is no such field.
  bool ReadField(const yaml::Entry& entry, TaskOptions* options) {
    if (entry.key == "instances") {
      int64_t instances = 1;
      ReadNumber(entry, 1, kMaxInstances, &instances);
      options->limits.instances = static_cast<int>(instances);
    } else if (entry.key == "queue") {
      int64_t queue = kMaxWaiting;
      ReadNumber(entry, 0, kMaxWaiting, &queue);
      options->limits.queue = static_cast<size_t>(queue);
    } else if (entry.key == "private") {
      options->limits.is_private = ReadBool(entry);
    } else if (entry.key == "routes") {
      if (!entry.value.is_list()) Wrong(entry.value, "routes: expected a list such as [a.b, a.c]");
      for (const yaml::Node& item : entry.value.items) {
        if (!IsRouteName(item.text)) Wrong(item, "'" + item.text + "' is not a route");
        options->routes.push_back(item.text);
      }
    } else if (entry.key == "keyspaces") {
      if (!entry.value.is_map() || entry.value.entries.empty()) {
        Wrong(entry.value,
              "keyspaces: expected a map of at least one, such as {orders: shop.data.orders}");
      }
      for (const yaml::Entry& binding : entry.value.entries) ReadKeyspace(binding, options);
    } else if (entry.key == "state") {
      auto parsed = db::KeyspaceName::Parse(TextOf(entry.value));
      if (parsed) {
        options->state = std::move(*parsed);
      } else {
        Wrong(entry.value, "state: " + parsed.error().message());
      }
    } else {
      return false;
    }
    return true;
  }

  bool ReadHttpField(const yaml::Entry& entry, TaskOptions* options) {
    constexpr std::string_view kFields[] = {"url", "method", "headers", "timeout",
                                            "trust_all_cert"};
    if (std::ranges::find(kFields, entry.key) == std::end(kFields)) return false;
    if (!options->http) options->http.emplace();
    HttpTarget& target = *options->http;
    if (entry.key == "url") {
      target.url = TextOf(entry.value);
      const bool closed =
          std::ranges::count(target.url, '{') == std::ranges::count(target.url, '}');
      if (!IsHttpUrl(target.url) || !closed) {
        Wrong(entry.value, "url: expected https://host/path, with {name} for a field of the input");
      }
    } else if (entry.key == "method") {
      target.method = TextOf(entry.value);
      constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"};
      if (std::ranges::find(kMethods, target.method) == std::end(kMethods)) {
        Wrong(entry.value, "method: expected GET, POST, PUT, PATCH, DELETE or HEAD");
      }
    } else if (entry.key == "headers") {
      if (!entry.value.is_map()) Wrong(entry.value, "headers: expected a map of texts");
      for (const yaml::Entry& header : entry.value.entries) {
        target.headers.emplace_back(header.key, TextOf(header.value));
      }
    } else if (entry.key == "timeout") {
      const auto timeout_ms = ParseDurationMs(TextOf(entry.value));
      if (!timeout_ms || *timeout_ms == 0)
        Wrong(entry.value, "timeout: expected a time such as 5s");
      target.timeout_ms = timeout_ms.value_or(0);
    } else {
      target.certificates = ReadBool(entry) ? Certificates::kTrusted : Certificates::kChecked;
    }
    return true;
  }

  void CheckHttp(const yaml::Entry& task, const TaskOptions& options) {
    if (options.http && options.http->url.empty()) {
      Wrong(task.line, task.column, "method, headers and timeout are of a task with a url");
    }
    if (options.http && options.state) {
      Wrong(task.line, task.column, "expected url or state, not both");
    }
    if ((options.http || options.state) && !options.keyspaces.empty()) {
      Wrong(task.line, task.column, "keyspaces are for tasks in JavaScript, Lua and SQL++");
    }
  }

  std::string TextOf(const yaml::Node& node) {
    return flow::ReplaceVariables(node.text, {file_, node.line, node.column}, settings_, problems_);
  }

  bool ReadBool(const yaml::Entry& entry) {
    const std::string text = TextOf(entry.value);
    if (text != "true" && text != "false")
      Wrong(entry.value, entry.key + ": expected true or false");
    return text == "true";
  }

  void ReadNumber(const yaml::Entry& entry, int64_t least, int64_t most, int64_t* number) {
    const std::string text = TextOf(entry.value);
    const int64_t fallback = *number;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || *number < least ||
        *number > most) {
      Wrong(entry.value,
            fmt::format("{}: expected a number from {} to {}", entry.key, least, most));
      *number = fallback;
    }
  }

  void ReadKeyspace(const yaml::Entry& entry, TaskOptions* options) {
    function::BucketBinding binding;
    binding.alias = entry.key;
    std::set<std::string> known;  // a map has no key twice
    const Status alias = function::CheckAlias("keyspaces", entry.key, &known);
    if (!alias.ok()) Wrong(entry.line, entry.column, alias.message());
    std::string name = entry.value.text;
    if (entry.value.is_map()) {
      const yaml::Node* const keyspace = entry.value.Find("keyspace");
      const yaml::Node* const access = entry.value.Find("access");
      name = keyspace == nullptr ? "" : keyspace->text;
      if (access != nullptr && access->text != "r" && access->text != "rw") {
        Wrong(*access, "access: expected r or rw");
      }
      binding.writable = access == nullptr || access->text != "r";
    }
    auto parsed = db::KeyspaceName::Parse(name);
    if (!parsed) return Wrong(entry.value, parsed.error().message());
    binding.keyspace = std::move(*parsed);
    options->keyspaces.push_back(std::move(binding));
  }

  const std::string& file_;
  const flow::Settings& settings_;
  flow::Problems* const problems_;
};

}  // namespace

bool IsRouteName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

std::map<std::string, TaskOptions> ReadTaskOptions(const yaml::Node& config,
                                                   const std::string& file,
                                                   const flow::Settings& settings,
                                                   flow::Problems* problems) {
  std::map<std::string, TaskOptions> options;
  const yaml::Node* const tasks = config.Find("tasks");
  if (tasks == nullptr) return options;
  Reader reader(file, settings, problems);
  if (!tasks->is_map() && !tasks->is_null()) {
    reader.Wrong(*tasks, "tasks: expected a map of routes");
  }
  for (const yaml::Entry& task : tasks->entries) options[task.key] = reader.Read(task);
  return options;
}

}  // namespace sluice::flow_engine
