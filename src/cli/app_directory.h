// An app directory, which users keep in git. `sluice apply` changes a server to match it.
//
//   sluice.yaml        buckets, scopes, collections and indexes
//   data/KEYSPACE.jsonl  documents ({"key":...,"value":...} per line) that are put if absent
//   functions/NAME.js  a function's code, and NAME.yaml with the rest of it (function_spec.h)
//   procedures/NAME.lua, sql/*.sql  Lua procedures, tables and triggers (sql_files.h)
//   types/NAME.yaml    a document type, with the schemas and migrations it names (type_files.h)
//   flows.yaml, rest.yaml, preload-override.yaml, flows/, tasks/, resources/  flows (flow_files.h)
//
// sluice.yaml:
//
//   buckets:
//     shop:
//       indexes: {by_name: [name]}          # of shop._default._default
//       scopes:
//         inventory:
//           collections:
//             items:
//               max_expiry: 30d
//               indexes:
//                 by_price: [{path: price, desc: true}]
//                 by_tag: [{path: tags, each: true}]
//             orders: {}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/function_spec.h"
#include "cli/sql_files.h"
#include "json/value.h"

namespace sluice::cli {

inline constexpr std::string_view kAppFile = "sluice.yaml";

struct IndexPartSpec {
  std::string path;
  bool each_element = false;
  bool descending = false;

  bool operator==(const IndexPartSpec&) const = default;
  json::Value ToJson() const;
};
using IndexSpec = std::vector<IndexPartSpec>;

struct CollectionSpec {
  uint64_t max_expiry_ms = 0;
  std::map<std::string, IndexSpec> indexes;
};
struct ScopeSpec {
  std::map<std::string, CollectionSpec> collections;
};
struct BucketSpec {
  std::map<std::string, ScopeSpec> scopes;
};
// The keyspaces and indexes that an app wants, or that a server has.
struct KeyspacesSpec {
  std::map<std::string, BucketSpec> buckets;
};

struct SeedFile {
  std::string path;
  std::string keyspace;  // from the file's name
};

struct TypeSpec {
  std::string path;  // of its file
  std::string name;
  std::string keyspace;
  json::Value definition;  // as the server takes it
};

struct AppDirectory {
  KeyspacesSpec keyspaces;
  std::vector<SeedFile> seeds;          // sorted by path
  std::vector<FunctionSpec> functions;  // sorted by name
  std::vector<ProcedureFile> procedures;
  std::vector<SqlFileStatement> sql;
  std::vector<TypeSpec> types;  // sorted by path
  std::string directory;
  json::Value flow_files;  // as flow_files.h reads them
};

// Reads the whole directory. `problems` has every problem with its place; the app is usable if it
// is empty. Ids: app.no_directory, app.invalid and those of yaml.
struct AppResult {
  AppDirectory app;
  std::vector<Status> problems;
};
AppResult ReadAppDirectory(const std::string& directory);

// Reads a sluice.yaml's text; `file` is for places.
AppResult ReadAppYaml(std::string_view text, const std::string& file);

}  // namespace sluice::cli
