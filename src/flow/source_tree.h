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

// The same for one text: `${NAME:default}` is the environment variable, or else the configuration's
// value, or else the default, or else nothing. Problems get the place `place`.
std::string ReplaceVariables(std::string_view text, const Place& place, const Settings& settings,
                             Problems* problems);

// A key as the file has it, with the dots that ReadTree turns into nested maps.
std::string WrittenKey(const yaml::Entry& entry);

// Whether a node is null, or an empty text, list or map.
bool IsEmpty(const yaml::Node* node);

}  // namespace sluice::flow
