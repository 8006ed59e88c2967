// A flow's YAML as the compiler sees it: `${NAME:default}` replaced, `first.task: x` and
// `first: {task: x}` made the same, tabs read as two spaces. Places stay those of the file.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "flow/problem.h"
#include "flow/settings.h"
#include "yaml/yaml.h"

namespace sluice::flow {

// Nothing when the text is no YAML, which is then among the problems.
Result<yaml::Node> ReadTree(std::string_view text, const std::string& file,
                            const Settings& settings, Problems* problems);

// The same for one text: `${NAME:default}` is the environment's variable, else the configuration's
// value, else the default, else nothing. What went wrong is told to `problems` as of `place`.
std::string ReplaceVariables(std::string_view text, const Place& place, const Settings& settings,
                             Problems* problems);

// A key as it was written: with the dots that ReadTree has made maps of.
std::string WrittenKey(const yaml::Entry& entry);

// A node that says nothing: null, or an empty text, list or map.
bool IsEmpty(const yaml::Node* node);

}  // namespace sluice::flow
