#include "route/task_options.h"

#include <algorithm>
#include <charconv>

#include "flow/source_tree.h"
#include "route/route.h"

namespace sluice::route {
namespace {

class Reader {
 public:
  Reader(const std::string& file, const flow::Settings& settings, flow::Problems* problems)
      : file_(file), settings_(settings), problems_(problems) {}

  TaskOptions Read(const yaml::Entry& task) {
    TaskOptions options;
    options.place = {file_, task.line, task.column};
    if (!task.value.is_map() && !task.value.is_null()) {
      Wrong(task.value, "expected a map with instances, routes or keyspaces");
    }
    for (const yaml::Entry& entry : task.value.entries) {
      if (entry.key == "instances") {
        ReadInstances(entry.value, &options.instances);
      } else if (entry.key == "routes") {
        for (const yaml::Node& item : entry.value.items) {
          if (!IsRouteName(item.text)) Wrong(item, "'" + item.text + "' is no route");
          options.routes.push_back(item.text);
        }
      } else if (entry.key == "keyspaces") {
        for (const yaml::Entry& binding : entry.value.entries) ReadKeyspace(binding, &options);
      } else {
        Wrong(entry.line, entry.column,
              "expected instances, routes or keyspaces, got '" + entry.key + "'");
      }
    }
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
  void ReadInstances(const yaml::Node& node, int* instances) {
    const Place place{file_, node.line, node.column};
    const std::string text = flow::ReplaceVariables(node.text, place, settings_, problems_);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), *instances);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || *instances < 1 ||
        *instances > kMaxInstances) {
      Wrong(node, fmt::format("instances: expected a number from 1 to {}", kMaxInstances));
      *instances = 1;
    }
  }

  void ReadKeyspace(const yaml::Entry& entry, TaskOptions* options) {
    function::BucketBinding binding;
    binding.alias = entry.key;
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

}  // namespace sluice::route
