// Type files: YAML, or the same as JSON, into a Type, with all problems at once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "doctype/problems.h"
#include "doctype/type.h"
#include "json/value.h"

namespace sluice::doctype {

// The text of a file that a type names, by its path beside the type file.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

// Nullopt if there are errors; problems name the text `file`. Ids: yaml.invalid, type.invalid,
// type.unknown_key, type.bad_pattern, type.unreadable_file, json.invalid (a schema).
std::optional<Type> ReadType(std::string_view text, const std::string& file,
                             const FileReader& files, Problems* problems);

// Reads the JSON form, which REST takes and ToJson (type_json.h) gives. It contains the schemas and
// the code; the name of a file alone is an error.
std::optional<Type> ReadTypeJson(const json::Value& value, const std::string& file,
                                 Problems* problems);

}  // namespace sluice::doctype
