#include "cli/app_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/quantity.h"
#include "cli/flow_files.h"
#include "cli/keyspace_name.h"
#include "cli/type_files.h"
#include "cli/yaml_visitor.h"
#include "yaml/yaml.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDataDirectory = "data";
constexpr std::string_view kFunctionsDirectory = "functions";
constexpr std::string_view kProceduresDirectory = "procedures";
constexpr std::string_view kSqlDirectory = "sql";
constexpr std::string_view kTypesDirectory = "types";
constexpr std::string_view kSeedSuffix = ".jsonl";

class YamlReader : private YamlVisitor {
 public:
  YamlReader(const std::string& file, AppResult* result)
      : YamlVisitor(file, &result->problems), result_(result) {}

  void Read(const yaml::Node& root) {
    if (root.is_null()) return;
    // All but the buckets are of flows: the server reads them.
    ForEach(root, "the app",
            {"buckets", "tasks", "flows", "rest", "preload", "config", "autostart", "listeners"},
            [&](const yaml::Entry& entry) {
              if (entry.key != "buckets") return;
              ForEach(entry.value, "buckets", {},
                      [&](const yaml::Entry& bucket) { ReadBucket(bucket); });
            });
  }

 private:
  void CheckName(const std::string& what, const yaml::Entry& entry) {
    const Status checked = CheckKeyspacePart(what, entry.key);
    if (!checked.ok()) AddProblem(entry.line, entry.column, checked.message());
  }

  void ReadBucket(const yaml::Entry& entry) {
    CheckName("bucket", entry);
    BucketSpec& bucket = result_->app.keyspaces.buckets[entry.key];
    CollectionSpec& fallback = bucket.scopes["_default"].collections["_default"];
    ForEach(entry.value, "bucket " + entry.key, {"scopes", "indexes"},
            [&](const yaml::Entry& part) {
              if (part.key != "scopes") {
                ReadCollectionPart(part, &fallback);
                return;
              }
              ForEach(part.value, "scopes of " + entry.key, {},
                      [&](const yaml::Entry& scope) { ReadScope(scope, &bucket); });
            });
  }

  void ReadScope(const yaml::Entry& entry, BucketSpec* bucket) {
    CheckName("scope", entry);
    ScopeSpec& scope = bucket->scopes[entry.key];
    ForEach(entry.value, "scope " + entry.key, {"collections"}, [&](const yaml::Entry& part) {
      ForEach(part.value, "collections of " + entry.key, {},
              [&](const yaml::Entry& collection) { ReadCollection(collection, &scope); });
    });
  }

  void ReadCollection(const yaml::Entry& entry, ScopeSpec* scope) {
    CheckName("collection", entry);
    CollectionSpec& collection = scope->collections[entry.key];
    ForEach(entry.value, "collection " + entry.key, {"max_expiry", "indexes"},
            [&](const yaml::Entry& part) { ReadCollectionPart(part, &collection); });
  }

  void ReadCollectionPart(const yaml::Entry& part, CollectionSpec* collection) {
    if (part.key == "indexes") {
      ForEach(part.value, "indexes", {}, [&](const yaml::Entry& index) {
        CheckName("index", index);
        collection->indexes[index.key] = ReadIndex(index);
      });
      return;
    }
    const yaml::Node& value = part.value;
    const auto parsed = ParseDurationMs(value.text);
    if (value.is_scalar() && parsed) {
      collection->max_expiry_ms = *parsed;
    } else {
      AddProblem(value.line, value.column,
                 fmt::format("max_expiry: expected a duration such as 12h or 30d, found {}",
                             value.is_scalar() ? fmt::format("'{}'", value.text)
                                               : std::string(yaml::KindName(value.kind))));
    }
  }

  IndexSpec ReadIndex(const yaml::Entry& entry) {
    IndexSpec index;
    if (!entry.value.is_list() || entry.value.items.empty()) {
      AddProblem(entry.line, entry.column,
                 fmt::format("index {}: expected a list of paths, such as [name, address.city]",
                             entry.key));
      return index;
    }
    for (const yaml::Node& item : entry.value.items) index.push_back(ReadIndexPart(entry, item));
    return index;
  }

  IndexPartSpec ReadIndexPart(const yaml::Entry& index, const yaml::Node& item) {
    IndexPartSpec part;
    if (item.is_scalar()) {
      part.path = item.text;
      return part;
    }
    const std::string what = "index " + index.key;
    ForEach(item, what, {"path", "each", "desc"}, [&](const yaml::Entry& entry) {
      if (entry.key == "path") {
        part.path = entry.value.text;
      } else {
        ReadBool(entry, entry.key == "desc" ? &part.descending : &part.each_element);
      }
    });
    if (part.path.empty()) {
      AddProblem(item.line, item.column, what + ": expected a path, or a map with a path");
    }
    return part;
  }

  AppResult* const result_;
};

void FindSeeds(const fs::path& directory, AppResult* result) {
  std::error_code error;
  for (fs::directory_iterator it(directory / kDataDirectory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().string();
    if (!path.ends_with(kSeedSuffix)) {
      result->problems.push_back(Error(Code::kInvalidArgument, "app.invalid",
                                       "expected a file named KEYSPACE.jsonl, such as "
                                       "shop.inventory.items.jsonl")
                                     .At({path, 0, 0}));
      continue;
    }
    const std::string keyspace = it->path().stem().string();
    if (const auto name = KeyspaceName::Parse(keyspace); !name) {
      result->problems.push_back(name.error().At({path, 0, 0}));
    } else {
      result->app.seeds.push_back({path, keyspace});
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    result->problems.push_back(Error(Code::kIo, "file.unreadable", "can't read {}: {}",
                                     (directory / kDataDirectory).string(), error.message()));
  }
  std::ranges::sort(result->app.seeds, {}, &SeedFile::path);
}

// A seed belongs to a keyspace that the app itself declares.
void CheckSeeds(AppResult* result) {
  for (const SeedFile& seed : result->app.seeds) {
    const KeyspaceName name = KeyspaceName::Parse(seed.keyspace).value();
    const auto& buckets = result->app.keyspaces.buckets;
    const auto bucket = buckets.find(name.bucket);
    const bool known = bucket != buckets.end() && bucket->second.scopes.contains(name.scope) &&
                       bucket->second.scopes.at(name.scope).collections.contains(name.collection);
    if (!known) {
      result->problems.push_back(Error(Code::kInvalidArgument, "app.invalid",
                                       "{} does not declare the keyspace {}", kAppFile,
                                       seed.keyspace)
                                     .At({seed.path, 0, 0}));
    }
  }
}

}  // namespace

json::Value IndexPartSpec::ToJson() const {
  json::Value part = json::Value::Object({{"path", path}});
  if (each_element) part.Set("each", true);
  if (descending) part.Set("desc", true);
  return part;
}

AppResult ReadAppYaml(std::string_view text, const std::string& file) {
  AppResult result;
  const auto root = yaml::Parse(text, file);
  if (!root) {
    result.problems.push_back(root.error());
  } else {
    YamlReader(file, &result).Read(*root);
  }
  return result;
}

AppResult ReadAppDirectory(const std::string& directory) {
  AppResult result;
  const fs::path root(directory);
  std::error_code ignored;
  if (!fs::is_directory(root, ignored)) {
    result.problems.push_back(
        Error(Code::kNotFound, "app.no_directory", "{} is not a directory", directory));
    return result;
  }
  const std::string file = (root / kAppFile).string();
  if (!fs::exists(file, ignored)) {
    result.problems.push_back(Error(Code::kNotFound, "app.no_file",
                                    "{} is not an app directory: it has no {}, which may be empty",
                                    directory, kAppFile));
    return result;
  }
  const auto node = yaml::ParseFile(file);
  if (!node) {
    result.problems.push_back(node.error());
  } else {
    YamlReader(file, &result).Read(*node);
  }
  result.app.functions = ReadFunctions(root / kFunctionsDirectory, &result.problems);
  result.app.procedures = ReadProcedureFiles(root / kProceduresDirectory, &result.problems);
  result.app.sql = ReadSqlFiles(root / kSqlDirectory, &result.problems);
  result.app.flow_files = ReadFlowFiles(root, &result.problems);
  result.app.types = ReadTypes(root / kTypesDirectory, &result.problems);
  result.app.directory = directory;
  FindSeeds(root, &result);
  if (node) CheckSeeds(&result);
  return result;
}

}  // namespace sluice::cli
