// The keys of a flow's file, except those of its tasks.
#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.h"
#include "base/quantity.h"
#include "flow/draft.h"
#include "flow/source_tree.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr std::string_view kRequired = "check flow.id, flow.description, flow.ttl, first.task";

// The text of a required key, or a problem.
std::string Required(const yaml::Node& root, const yaml::Node* node, std::string_view name,
                     const Reading& reading) {
  if (IsEmpty(node)) {
    reading.Add(root, Error(Code::kInvalidArgument, "flow.missing_key", "{}: '{}' is missing",
                            kRequired, name));
    return {};
  }
  return std::string(Trim(reading.Text(*node, name)));
}

const yaml::Node* FindIn(const yaml::Node* map, std::string_view key) {
  return map == nullptr ? nullptr : map->Find(key);
}

void ReadTtl(const yaml::Node& root, const yaml::Node* node, const Reading& reading, Flow* flow) {
  const std::string text = Required(root, node, "flow.ttl", reading);
  if (text.empty()) return;
  const auto ttl = ParseTtl(text);
  if (!ttl) {
    reading.Add(*node, ttl.error());
  } else if (*ttl < 1000 || *ttl > kMaxTtlMs) {
    reading.Add(*node, Error(Code::kInvalidArgument, "flow.bad_ttl",
                             "flow.ttl must be between 1s and 365d, found '{}'", text));
  } else {
    flow->ttl_ms = *ttl;
  }
}

void ReadDurable(const yaml::Node* node, const Reading& reading, Flow* flow) {
  if (IsEmpty(node)) return;
  const std::string text = reading.Text(*node, "flow.durable");
  if (text != "true" && text != "false") {
    reading.Add(*node, Error(Code::kInvalidArgument, "flow.bad_value",
                             "flow.durable must be true or false, found '{}'", text));
  }
  flow->durable = text == "true";
}

// `on` with a `filter`, `cron` or `every`.
void ReadStart(const yaml::Node* head, const Reading& reading, Flow* flow) {
  AutoStart& start = flow->start;
  const auto text = [&](std::string_view key) {
    const yaml::Node* const node = FindIn(head, key);
    if (IsEmpty(node)) return std::string();
    start.place = reading.At(*node);
    return std::string(Trim(reading.Text(*node, fmt::format("flow.{}", key))));
  };
  const auto wrong = [&](const Status& status) {
    reading.problems->AddError(status.At(start.place));
  };
  const auto bad = [&](std::string_view message) {
    wrong(Error(Code::kInvalidArgument, "flow.bad_start", "{}", message));
  };
  start.on = text("on");
  start.filter = text("filter");
  if (!start.filter.empty() && start.on.empty()) bad("flow.filter is for changes: give flow.on");
  if (const std::string every = text("every"); !every.empty()) {
    const auto ms = ParseDurationMs(every);
    if (ms && *ms >= 1000 && *ms <= kMaxTtlMs) {
      start.every_ms = *ms;
    } else {
      bad(fmt::format("flow.every must be between 1s and 365d, found '{}'", every));
    }
    start.schedule = "every " + every;
  }
  if (const std::string cron = text("cron"); !cron.empty()) {
    if (start.every_ms != 0) bad("a flow has flow.cron or flow.every, not both");
    auto parsed = Cron::Parse(cron);
    if (parsed) start.cron = *parsed;
    if (!parsed) wrong(parsed.error());
    start.schedule = "cron " + cron;
  }
  if (!flow->durable && (!start.on.empty() || start.scheduled())) {
    bad("a flow that starts by itself must be durable: give durable: true");
  }
}

// Flows are looked up when all are read.
void CheckRoute(const yaml::Node& node, const std::string& route, const Reading& reading) {
  const auto& options = reading.options;
  if (route.starts_with("flow://") || !options.has_route || options.has_route(route)) return;
  reading.Add(node, Error(Code::kNotFound, "flow.unknown_route", "Route {} not found{}", route,
                          DidYouMean(route, options.routes)));
}

void ReadExternal(const yaml::Node& root, const Reading& reading, Flow* flow) {
  const yaml::Node* node = FindIn(FindIn(root.Find("external"), "state"), "machine");
  if (IsEmpty(node)) return;
  flow->external_route = std::string(Trim(reading.Text(*node, "external.state.machine")));
  CheckRoute(*node, flow->external_route, reading);
}

// A route, or a list of them.
void ReadListeners(const yaml::Node* node, const Reading& reading, Flow* flow) {
  if (IsEmpty(node)) return;
  const auto add = [&](const yaml::Node& item) {
    flow->listeners.emplace_back(Trim(reading.Text(item, "flow.listeners")));
    CheckRoute(item, flow->listeners.back(), reading);
  };
  if (!node->is_list()) return add(*node);
  for (const yaml::Node& item : node->items) add(item);
}

void ReadHead(const yaml::Node& root, const Reading& reading, FlowDraft* draft) {
  const yaml::Node* head = root.Find("flow");
  if (head != nullptr && !head->is_map()) {
    reading.Add(*head, Error(Code::kInvalidArgument, "flow.missing_key", "{}: 'flow' must be a map",
                             kRequired));
    head = nullptr;
  }
  if (head != nullptr) {
    static const std::array<std::string, 10> kKeys = {
        "id", "description", "ttl",   "exception", "durable",
        "on", "filter",      "every", "cron",      "listeners"};
    reading.CheckKeys(*head, kKeys, "flow");
  }
  Flow& flow = draft->flow;
  flow.id = Required(root, FindIn(head, "id"), "flow.id", reading);
  const yaml::Node* const place = FindIn(head, "id");
  flow.place = reading.At(place != nullptr ? *place : root);
  flow.description = Required(root, FindIn(head, "description"), "flow.description", reading);
  ReadTtl(root, FindIn(head, "ttl"), reading, &flow);
  ReadDurable(FindIn(head, "durable"), reading, &flow);
  ReadStart(head, reading, &flow);
  ReadListeners(FindIn(head, "listeners"), reading, &flow);
  if (const yaml::Node* node = FindIn(head, "exception"); !IsEmpty(node)) {
    draft->exception = Reference{reading.Text(*node, "flow.exception"), reading.At(*node)};
  }
  const yaml::Node* first = FindIn(root.Find("first"), "task");
  const std::string name = Required(root, first, "first.task", reading);
  if (!name.empty()) draft->first = Reference{name, reading.At(*first)};
}

void ReadTasks(const yaml::Node& root, const Reading& reading, FlowDraft* draft) {
  const yaml::Node* tasks = root.Find("tasks");
  if (IsEmpty(tasks) || !tasks->is_list()) {
    reading.Add(tasks != nullptr ? *tasks : root, Error(Code::kInvalidArgument, "flow.no_tasks",
                                                        "'tasks' section is empty or invalid"));
    return;
  }
  if (tasks->items.size() > kMaxTasks) {
    reading.Add(*tasks,
                Error(Code::kTooLarge, "flow.too_large", "a flow has at most {} tasks", kMaxTasks));
    return;
  }
  for (size_t i = 0; i < tasks->items.size(); ++i) {
    auto task = ReadTask(tasks->items[i], i, reading, draft);
    if (!task) continue;
    const auto same = [&](const TaskDraft& other) { return other.task.name == task->task.name; };
    const auto earlier = std::find_if(draft->tasks.begin(), draft->tasks.end(), same);
    if (earlier != draft->tasks.end()) {
      reading.Add(tasks->items[i],
                  Error(Code::kInvalidArgument, "flow.duplicate_task",
                        "task {} already exists (line {}); give one of them another 'name'",
                        task->task.name, earlier->task.place.line));
    } else {
      draft->tasks.push_back(*std::move(task));
    }
  }
}

}  // namespace

std::string Reading::Text(const yaml::Node& node, std::string_view name) const {
  if (node.is_scalar()) return node.text;
  Add(node, Error(Code::kInvalidArgument, "flow.bad_value", "'{}' must be a text, found {}", name,
                  yaml::KindName(node.kind)));
  return {};
}

void Reading::CheckKeys(const yaml::Node& map, std::span<const std::string> known,
                        std::string_view what) const {
  for (const yaml::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    problems->AddError(Error(Code::kInvalidArgument, "flow.unknown_key", "{} has no key '{}'{}",
                             what, WrittenKey(entry), DidYouMean(entry.key, known))
                           .At({file, entry.line, entry.column}));
  }
}

Result<uint64_t> ParseTtl(std::string_view text) {
  text = Trim(text);
  const bool bare = text.find_first_not_of("0123456789") == text.npos;
  auto ms = ParseDurationMs(bare ? fmt::format("{}s", text) : std::string(text));
  if (!ms) {
    return Fail(Code::kInvalidArgument, "flow.bad_ttl",
                "'{}' is not a time to live: a number and s, m, h or d is expected", text);
  }
  return ms;
}

FlowDraft ReadFlow(const yaml::Node& root, const Reading& reading) {
  FlowDraft draft;
  draft.file = reading.file;
  draft.flow.place = reading.At(root);
  if (!root.is_map()) {
    reading.Add(root, Error(Code::kInvalidArgument, "flow.missing_key", "{}: the file is {}",
                            kRequired, yaml::KindName(root.kind)));
    return draft;
  }
  static const std::array<std::string, 4> kKeys = {"flow", "first", "external", "tasks"};
  reading.CheckKeys(root, kKeys, "a flow's file");
  ReadHead(root, reading, &draft);
  ReadExternal(root, reading, &draft.flow);
  ReadTasks(root, reading, &draft);
  return draft;
}

}  // namespace sluice::flow
