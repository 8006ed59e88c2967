// Resolves the path of a statement to a keyspace.
#include <algorithm>

#include "base/nearest.h"
#include "query/bind/binder.h"
#include "query/error.h"

namespace sluice::query {
namespace {

constexpr std::string_view kNamespace = "default";

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    const size_t end = text.find(separator, from);
    std::string part(text.substr(from, end - from));
    std::erase(part, '`');
    parts.push_back(std::move(part));
    if (end == std::string_view::npos) return parts;
    from = end + 1;
  }
}

std::string Joined(const KeyspacePath& path) {
  std::string text;
  for (const std::string& part : path.parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

}  // namespace

Result<QueryContext> QueryContext::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (text.substr(0, colon) != kNamespace && colon != 0) {
      return QueryFail(QueryCode::kBadParameter,
                       "query_context: expected the namespace 'default', got '{}'",
                       text.substr(0, colon));
    }
    text.remove_prefix(colon + 1);
  }
  if (text.empty()) return QueryContext{};
  std::vector<std::string> parts = SplitAt(text, '.');
  if (parts.size() > 2 || parts[0].empty() || parts.back().empty()) {
    return QueryFail(QueryCode::kBadParameter,
                     "query_context: expected 'default:bucket.scope', got '{}'", text);
  }
  return QueryContext{.bucket = parts[0],
                      .scope = parts.size() == 2 ? parts[1] : std::string(db::kDefaultName)};
}

const LocalTable* QueryContext::FindLocal(std::string_view name) const {
  const auto found = std::ranges::find_if(
      local_tables, [&](const LocalTable& table) { return db::SameColumnName(table.name, name); });
  return found == local_tables.end() ? nullptr : &*found;
}

const LocalTable* QueryContext::FindLocalByKey(std::string_view key) const {
  const auto found = std::ranges::find(local_tables, key, &LocalTable::key);
  return found == local_tables.end() ? nullptr : &*found;
}

bool IsSystemKeyspace(const KeyspacePath& path) { return path.name_space == "system"; }

bool IsSystemTableName(std::string_view name) {
  constexpr std::string_view kPrefix = "comdb2_";
  return db::SameColumnName(name.substr(0, kPrefix.size()), kPrefix) ||
         db::SameColumnName(name, "sqlite_master");
}

bool IsSystemTable(const KeyspacePath& path) {
  if (path.parts.size() != 1 || (!path.name_space.empty() && !IsSystemKeyspace(path))) return false;
  return IsSystemTableName(path.parts[0]);
}

Result<db::KeyspaceName> KeyspaceNameOf(const QueryContext& context, const KeyspacePath& path) {
  if (!path.name_space.empty() && path.name_space != kNamespace) {
    return Unexpected(
        AtPlace(QueryError(QueryCode::kKeyspaceNotFound,
                           "there is no namespace '{}': expected 'default'", path.name_space),
                path.place));
  }
  const auto& parts = path.parts;
  if (parts.size() == 3) {
    return db::KeyspaceName{.bucket = parts[0], .scope = parts[1], .collection = parts[2]};
  }
  if (parts.size() == 1 && path.name_space.empty() && !context.bucket.empty()) {
    return db::KeyspaceName{
        .bucket = context.bucket, .scope = context.scope, .collection = parts[0]};
  }
  if (parts.size() == 1) return db::KeyspaceName{.bucket = parts[0]};
  return Unexpected(
      AtPlace(QueryError(QueryCode::kKeyspaceNotFound,
                         "'{}' is not a keyspace: expected a bucket, or bucket.scope.collection",
                         Joined(path)),
              path.place));
}

Result<std::shared_ptr<const db::KeyspaceInfo>> ResolveKeyspace(const db::Catalog& catalog,
                                                                const QueryContext& context,
                                                                const KeyspacePath& path,
                                                                const KeyspaceGuard& guard) {
  if (path.parts.size() == 1 && path.name_space.empty()) {
    if (auto table = catalog.FindTable(path.parts[0])) {
      if (guard) RETURN_IF_ERROR(guard(table->name));
      return table;
    }
  }
  ASSIGN_OR_RETURN(const db::KeyspaceName name, KeyspaceNameOf(context, path));
  if (guard) RETURN_IF_ERROR(guard(name));
  auto found = catalog.Resolve(name);
  if (found) return *found;
  const bool no_scope = found.error().id() == "scope.not_found";
  return Unexpected(
      AtPlace(QueryError(no_scope ? QueryCode::kScopeNotFound : QueryCode::kKeyspaceNotFound,
                         "keyspace '{}' not found: {}", name.ToString(), found.error().message()),
              path.place));
}

}  // namespace sluice::query
