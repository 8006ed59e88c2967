#include "function/keyspaces_check.h"

#include "db/table_schema.h"

namespace sluice::function {
namespace {

Status Exists(const db::Catalog& catalog, const db::KeyspaceName& name) {
  if (name.scope == "*") {
    const auto bucket = catalog.FindBucket(name.bucket);
    return bucket ? OkStatus() : bucket.error();
  }
  if (name.collection == "*") {
    const auto scope = catalog.FindScope(name.bucket, name.scope);
    return scope ? OkStatus() : scope.error();
  }
  const auto keyspace = catalog.Resolve(name);
  return keyspace ? OkStatus() : keyspace.error();
}

}  // namespace

Status CheckKeyspaces(const Definition& definition, const db::Catalog& catalog) {
  const auto check = [&](const std::string& what, const db::KeyspaceName& name) {
    const Status exists = Exists(catalog, name);
    return exists.ok() ? OkStatus() : exists.Prefixed(what);
  };
  RETURN_IF_ERROR(check("the source", definition.source));
  RETURN_IF_ERROR(check("the metadata keyspace", definition.metadata));
  for (const BucketBinding& binding : definition.buckets) {
    RETURN_IF_ERROR(check(fmt::format("the binding '{}'", binding.alias), binding.keyspace));
    if (binding.writable && binding.keyspace.bucket == db::kTablesBucket) {
      return Error(Code::kInvalidArgument, "keyspace.is_system",
                   "the binding '{}' is to a table, which it can only read (access r): rows are "
                   "written by INSERT, UPDATE and DELETE",
                   binding.alias);
    }
  }
  if (definition.scope_bucket == "*") return OkStatus();
  return check(
      "function_scope",
      {.bucket = definition.scope_bucket, .scope = definition.scope_scope, .collection = "*"});
}

}  // namespace sluice::function
