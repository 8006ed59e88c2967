// Reads the type files of an app directory, types/NAME.yaml and the files that they name, as JSON
// for a server.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/plan.h"
#include "doctype/type.h"
#include "json/value.h"

namespace sluice::cli {

// Nothing if there are problems; warnings are left out. Files that it names are looked for beside
// it.
std::optional<doctype::Type> ReadTypeFile(const std::filesystem::path& path,
                                          std::vector<Status>* problems);

// All of a directory, sorted by their paths. None when there is no such directory.
std::vector<TypeSpec> ReadTypes(const std::filesystem::path& directory,
                                std::vector<Status>* problems);

// /v1/types/NAME.
std::string TypePath(std::string_view name);

// The request that sets a type.
ApiRequest SetTypeRequest(const TypeSpec& type);

// Adds the changes that give the server the app's types. Types in the app's buckets that the app
// does not name are dropped only with `prune`.
Status PlanTypes(Api* api, const AppDirectory& app, Prune prune, Plan* plan);

}  // namespace sluice::cli
