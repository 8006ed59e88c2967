// A function in an app directory: functions/NAME.js with its code and NAME.yaml beside it.
//
//   source: shop.inventory.orders
//   metadata: shop                 # Couchbase needs one; here the default is the source's bucket
//   bindings:
//     items: {keyspace: shop.inventory.items, access: rw}    # access is r unless given
//     api: {url: "https://example.com", auth: bearer, bearer_key: "..."}
//     threshold: {constant: 5000}  # JavaScript: text is in quotes of its own
//   settings: {worker_count: 2}    # those of docs/reference/functions.md
//   deploy: true                   # the default
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::cli {

struct FunctionSpec {
  std::string name;
  std::string code_file;
  json::Value definition;  // as the server takes it
  bool deploy = true;
  // The places of the definition's parts in the YAML file, by the server's names for them:
  // settings.worker_count, depcfg.buckets[0].
  std::map<std::string, Place> places;
};

// All functions of the directory `functions`, sorted by name; none when there is no such directory.
// Problems have ids app.invalid, file.unreadable and those of yaml.
std::vector<FunctionSpec> ReadFunctions(const std::filesystem::path& directory,
                                        std::vector<Status>* problems);

// One function, by the path of its code or, if that ends in .json, of a definition as the server
// and Couchbase export it.
FunctionSpec ReadFunction(const std::filesystem::path& script, std::vector<Status>* problems);

// The server's error about a function, with the place in the app's files if the error names a part.
Status Located(const Status& error, const FunctionSpec& function);

}  // namespace sluice::cli
