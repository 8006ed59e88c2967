#include "cli/type_files.h"

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "cli/output.h"
#include "doctype/loaded_type.h"
#include "doctype/type_json.h"
#include "doctype/type_reader.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTypeFileBytes = 4ull << 20;

bool IsTypeFile(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

bool HasType(const AppDirectory& app, std::string_view name) {
  return std::ranges::find(app.types, name, &TypeSpec::name) != app.types.end();
}

}  // namespace

std::optional<doctype::Type> ReadTypeFile(const fs::path& path, std::vector<Status>* problems) {
  const auto text = ReadFile(path.string(), kMaxTypeFileBytes);
  if (!text) {
    problems->push_back(text.error());
    return std::nullopt;
  }
  doctype::Problems found;
  auto type = doctype::ReadType(
      *text, path.string(),
      [&](const std::string& name) -> Result<std::string> {
        auto read = ReadFile((path.parent_path() / name).string(), kMaxTypeFileBytes);
        if (read) return read;
        return Fail(Code::kNotFound, "type.unreadable_file", "{}", read.error().message());
      },
      &found);
  // The server makes the same checks, but does not know the places in these files.
  if (type) {
    doctype::LoadedType::Load(std::make_shared<const doctype::Type>(*type), &found);
  }
  problems->insert(problems->end(), found.errors.begin(), found.errors.end());
  return found.errors.empty() ? std::move(type) : std::nullopt;
}

std::vector<TypeSpec> ReadTypes(const fs::path& directory, std::vector<Status>* problems) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && IsTypeFile(it->path())) paths.push_back(it->path());
  }
  std::ranges::sort(paths);
  std::vector<TypeSpec> types;
  for (const fs::path& path : paths) {
    const auto type = ReadTypeFile(path, problems);
    if (type) types.push_back({path.string(), type->name, type->keyspace, doctype::ToJson(*type)});
  }
  return types;
}

std::string TypePath(std::string_view name) { return "/v1/types/" + Segment(name); }

ApiRequest SetTypeRequest(const TypeSpec& type) {
  return {.method = "PUT",
          .path = TypePath(type.name),
          .headers = {{"Content-Type", "application/json"}},
          .body = json::ToText(type.definition)};
}

Status PlanTypes(Api* api, const AppDirectory& app, Prune prune, Plan* plan) {
  ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/types"}));
  std::vector<std::string> present;
  for (const json::Value& type : answer["types"].items()) {
    present.push_back(CellText(type["type"]));
    const std::string bucket = CellText(type["keyspace"]);
    if (HasType(app, present.back()) ||
        !app.keyspaces.buckets.contains(bucket.substr(0, bucket.find('.')))) {
      continue;
    }
    const std::string what = "type " + present.back();
    if (prune == Prune::kNo) {
      plan->kept.push_back(what);
      continue;
    }
    Step step{Step::Kind::kDrop, what, {}};
    step.requests.push_back({.method = "DELETE", .path = TypePath(present.back())});
    plan->steps.push_back(std::move(step));
  }
  for (const TypeSpec& type : app.types) {
    const bool known = std::ranges::find(present, type.name) != present.end();
    if (known) {
      ASSIGN_OR_RETURN(const json::Value now, api->CallJson({.path = TypePath(type.name)}));
      if (now == type.definition) continue;
    }
    Step step{known ? Step::Kind::kAlter : Step::Kind::kCreate,
              fmt::format("type {} of {}", type.name, type.keyspace),
              {}};
    step.requests.push_back(SetTypeRequest(type));
    plan->steps.push_back(std::move(step));
  }
  return OkStatus();
}

}  // namespace sluice::cli
