// bucket list|create|drop and keyspace list|create|alter|drop.
#include <memory>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/keyspace_name.h"
#include "cli/keyspace_path.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

struct KeyspaceOptions {
  std::string name;
  std::string max_expiry;
  bool counts = false;
  bool yes = false;
};

Result<json::Value> FetchBuckets(const KeyspaceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(
      const json::Value answer,
      api->CallJson({.path = options.counts ? "/v1/buckets?counts=true" : "/v1/buckets"}));
  return answer["buckets"];
}

Status ListBuckets(const KeyspaceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const json::Value buckets, FetchBuckets(options, context));
  json::Value rows = json::Value::EmptyArray();
  for (const json::Value& bucket : buckets.items()) {
    int64_t collections = 0;
    for (const json::Value& scope : bucket["scopes"].items()) {
      collections += static_cast<int64_t>(scope["collections"].size());
    }
    rows.Append(json::Value::Object({{"name", bucket["name"]},
                                     {"scopes", static_cast<int64_t>(bucket["scopes"].size())},
                                     {"collections", collections}}));
  }
  context.output.Rows(rows,
                      {{"BUCKET", "name"}, {"SCOPES", "scopes"}, {"COLLECTIONS", "collections"}});
  return OkStatus();
}

Status ListKeyspaces(const KeyspaceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const json::Value buckets, FetchBuckets(options, context));
  json::Value rows = json::Value::EmptyArray();
  for (const json::Value& bucket : buckets.items()) {
    for (const json::Value& scope : bucket["scopes"].items()) {
      for (const json::Value& collection : scope["collections"].items()) {
        json::Value row = json::Value::Object({{"keyspace", collection["keyspace"]}});
        row.Set("max_expiry", collection["max_expiry"]);
        row.Set("documents", collection["documents"]);
        row.Set("indexes", static_cast<int64_t>(collection["indexes"].size()));
        rows.Append(std::move(row));
      }
    }
  }
  std::vector<Column> columns = {
      {"KEYSPACE", "keyspace"}, {"INDEXES", "indexes"}, {"MAX EXPIRY", "max_expiry"}};
  if (options.counts) columns.push_back({"DOCUMENTS", "documents"});
  context.output.Rows(rows, columns);
  return OkStatus();
}

Status CreateBucket(const KeyspaceOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspacePart("bucket", options.name));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const ApiResponse response,
                   api->Call({.method = "PUT", .path = BucketPath(options.name)}));
  context.output.Note(
      fmt::format("bucket {} {}", options.name, response.status == 201 ? "created" : "was there"));
  return OkStatus();
}

Status DropBucket(const KeyspaceOptions& options, Context& context) {
  if (!options.yes) {
    return UsageError("dropping a bucket deletes all its documents: add --yes if you mean it");
  }
  RETURN_IF_ERROR(CheckKeyspacePart("bucket", options.name));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = BucketPath(options.name)}));
  context.output.Note(fmt::format("bucket {} dropped", options.name));
  return OkStatus();
}

std::string PathOfKeyspace(const KeyspaceName& name) {
  return CollectionPath(name.bucket, name.scope, name.collection);
}

// Also creates the bucket and the scope if they do not exist.
Status CreateKeyspace(const KeyspaceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const KeyspaceName name, KeyspaceName::Parse(options.name));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "PUT", .path = BucketPath(name.bucket)}));
  if (name.scope != "_default") {
    RETURN_IF_ERROR(api->Do({.method = "PUT", .path = ScopePath(name.bucket, name.scope)}));
  }
  ApiRequest put = {.method = "PUT", .path = PathOfKeyspace(name)};
  if (!options.max_expiry.empty()) {
    put.headers = {{"Content-Type", "application/json"}};
    put.body = json::ToText(json::Value::Object({{"max_expiry", options.max_expiry}}));
  }
  ASSIGN_OR_RETURN(const ApiResponse response, api->Call(put));
  context.output.Note(fmt::format("keyspace {} {}", options.name,
                                  response.status == 201 ? "created" : "was there"));
  return OkStatus();
}

Status AlterKeyspace(const KeyspaceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const KeyspaceName name, KeyspaceName::Parse(options.name));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(
      api->Do({.method = "PATCH",
               .path = PathOfKeyspace(name),
               .headers = {{"Content-Type", "application/json"}},
               .body = json::ToText(json::Value::Object({{"max_expiry", options.max_expiry}}))}));
  context.output.Note(fmt::format("keyspace {} altered", options.name));
  return OkStatus();
}

Status DropKeyspace(const KeyspaceOptions& options, Context& context) {
  if (!options.yes) {
    return UsageError("dropping a keyspace deletes all its documents: add --yes if you mean it");
  }
  ASSIGN_OR_RETURN(const KeyspaceName name, KeyspaceName::Parse(options.name));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = PathOfKeyspace(name)}));
  context.output.Note(fmt::format("keyspace {} dropped", options.name));
  return OkStatus();
}

using KeyspaceAction = Status (*)(const KeyspaceOptions&, Context&);

CLI::App* AddKeyspaceCommand(Program* program, CLI::App* group, const std::string& name,
                             const std::string& help,
                             const std::shared_ptr<KeyspaceOptions>& options,
                             KeyspaceAction action) {
  return program->AddCommand(
      group, name, help, [options, action](Context& context) { return action(*options, context); });
}

}  // namespace

void AddKeyspaceCommands(Program* program) {
  const auto options = std::make_shared<KeyspaceOptions>();
  CLI::App* bucket = program->AddGroup("bucket", "Buckets");
  AddKeyspaceCommand(program, bucket, "list", "List the buckets", options, &ListBuckets);
  AddKeyspaceCommand(program, bucket, "create", "Create a bucket, if it does not exist", options,
                     &CreateBucket)
      ->add_option("name", options->name, "Bucket")
      ->required();
  CLI::App* drop_bucket = AddKeyspaceCommand(
      program, bucket, "drop", "Drop a bucket with all its documents", options, &DropBucket);
  drop_bucket->add_option("name", options->name, "Bucket")->required();
  drop_bucket->add_flag("-y,--yes", options->yes, "Confirm; without this the command refuses");

  CLI::App* keyspace = program->AddGroup("keyspace", "Scopes and collections");
  AddKeyspaceCommand(program, keyspace, "list", "List all keyspaces", options, &ListKeyspaces)
      ->add_flag("--counts", options->counts, "Count the documents, which reads them all");
  CLI::App* create =
      AddKeyspaceCommand(program, keyspace, "create",
                         "Create a collection, and its scope and bucket if they do not exist",
                         options, &CreateKeyspace);
  create->add_option("name", options->name, "Keyspace: shop.inventory.items")->required();
  create->add_option("--max-expiry", options->max_expiry,
                     "Longest lifetime of its documents: 12h, 30d");
  CLI::App* alter = AddKeyspaceCommand(program, keyspace, "alter", "Change a collection's settings",
                                       options, &AlterKeyspace);
  alter->add_option("name", options->name, "Keyspace: shop or shop.inventory.items")->required();
  alter
      ->add_option("--max-expiry", options->max_expiry,
                   "Longest lifetime of documents written from now on: 12h, 30d; 0s: no limit")
      ->required();
  CLI::App* drop =
      AddKeyspaceCommand(program, keyspace, "drop", "Drop a collection with all its documents",
                         options, &DropKeyspace);
  drop->add_option("name", options->name, "Keyspace: shop.inventory.items")->required();
  drop->add_flag("-y,--yes", options->yes, "Confirm; without this the command refuses");
}

}  // namespace sluice::cli
