// A flow between its text and its plan: names are not yet looked up.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "flow/compile.h"
#include "flow/model_use.h"
#include "flow/plan.h"
#include "yaml/yaml.h"

namespace sluice::flow {

struct Reference {
  std::string name;
  Place place;
};

struct TaskDraft {
  Task task;
  Place route_place;
  std::vector<Reference> next;
  std::optional<Reference> fallback;  // of @retry
  std::vector<Reference> pipeline;
  std::optional<Reference> join;
  std::optional<Reference> exception;
};

struct FlowDraft {
  Flow flow;
  std::string file;
  std::vector<TaskDraft> tasks;
  std::optional<Reference> first;
  std::optional<Reference> exception;
  std::optional<Place> ext_used;  // where `ext:` is first used
  bool incomplete = false;        // a task has errors, so the tasks that follow it are unknown
  ModelUse use;
};

// The context that the readers of one file share.
struct Reading {
  const std::string& file;
  const CompileOptions& options;
  Problems* problems;

  Place At(const yaml::Node& node) const { return {file, node.line, node.column}; }
  // The place of the text inside the quotes.
  Place Inside(const yaml::Node& node) const {
    return {file, node.line, node.column + (node.quoted ? 1 : 0)};
  }
  void Add(const yaml::Node& node, const Status& status) const {
    problems->AddError(status.At(At(node)));
  }
  // The text of a value that must be one; empty, with a problem, when it is a list or a map.
  std::string Text(const yaml::Node& node, std::string_view name) const;
  // Problems for keys that are not among `known`.
  void CheckKeys(const yaml::Node& map, std::span<const std::string> known,
                 std::string_view what) const;
};

// Reads the whole file. Reports problems; the draft has everything that could be read.
FlowDraft ReadFlow(const yaml::Node& root, const Reading& reading);
// One element of `tasks`; nothing when it has no name.
std::optional<TaskDraft> ReadTask(const yaml::Node& node, size_t index, const Reading& reading,
                                  FlowDraft* flow);
// Resolves the names of tasks and checks the rules that concern the whole flow.
void LinkFlow(FlowDraft* draft, const CompileOptions& options, Problems* problems);

// `10s`, `5m`, or seconds without a unit. Error flow.bad_ttl.
Result<uint64_t> ParseTtl(std::string_view text);

}  // namespace sluice::flow
