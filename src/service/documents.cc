#include "service/documents.h"

#include <algorithm>

#include "base/random.h"
#include "doctype_db/keyspace_policy.h"
#include "net/run_blocking.h"
#include "service/authorization.h"
#include "service/whole_reads.h"

namespace sluice::service {
namespace {

Result<db::KeyspaceId> ResolveName(const db::Database& database, const db::KeyspaceName& name,
                                   Access access) {
  ASSIGN_OR_RETURN(const db::KeyspaceId keyspace, database.Resolve(name));
  if (access == Access::kWrite && db::IsTableId(keyspace)) {
    return Fail(Code::kInvalidArgument, "keyspace.is_system",
                "this is a table: its rows are written by INSERT, UPDATE and DELETE");
  }
  return keyspace;
}

}  // namespace

Result<db::KeyspaceId> ResolveKeyspace(const db::Database& database, std::string_view text,
                                       Access access) {
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(text));
  return ResolveName(database, name, access);
}

Result<db::KeyspaceId> ResolvePermitted(const db::Database& database, const auth::Principal& who,
                                        Access access, std::string_view text) {
  ASSIGN_OR_RETURN(const db::KeyspaceName name, db::KeyspaceName::Parse(text));
  const auto permission =
      access == Access::kWrite ? auth::Permission::kWrite : auth::Permission::kRead;
  RETURN_IF_ERROR(Require(who, permission, name.bucket));
  return ResolveName(database, name, access);
}

Result<Target> ResolveTarget(const db::Database& database, std::string_view keyspace,
                             std::string_view key, Access access) {
  RETURN_IF_ERROR(db::CheckKey(key));
  ASSIGN_OR_RETURN(const db::KeyspaceId id, ResolveKeyspace(database, keyspace, access));
  return Target{id, key};
}

std::optional<Result<bool>> GetNow(const db::Database& database, const Target& target,
                                   db::PinnedDocument* document) {
  NoteWholeRead(database, target.keyspace);
  const auto found = database.read_forms().GetAtOnce(target.keyspace, target.key, document);
  if (!found) return Result<bool>(Unexpected(found.error()));
  if (!*found) return std::nullopt;
  return Result<bool>(**found);
}

net::Task<Result<bool>> GetOnWorker(const db::Database& database, net::Exchange& exchange,
                                    Target target, db::PinnedDocument* document) {
  const Result<Status> finished = co_await net::RunBlocking(exchange, [&] {
    return database.read_forms().FinishGet(target.keyspace, target.key, document);
  });
  if (!finished) co_return Unexpected(finished.error());
  if (!finished->ok()) co_return Unexpected(*finished);
  co_return true;
}

net::Task<Result<bool>> GetAtVersion(const db::Database& database, net::Exchange& exchange,
                                     Target target, std::string_view version,
                                     db::PinnedDocument* document) {
  NoteWholeRead(database, target.keyspace);
  Result<Result<bool>> found = co_await net::RunBlocking(exchange, [&] {
    return database.read_forms().GetAtVersion(target.keyspace, target.key, version, document);
  });
  if (!found) co_return Unexpected(found.error());
  co_return std::move(*found);
}

Result<std::string> NewKeyOf(const db::Database& database, db::KeyspaceId keyspace,
                             const db::Document& document) {
  const auto policy = database.read_forms().PolicyOf(keyspace, nullptr);
  const auto* const types = dynamic_cast<const doctype_db::KeyspacePolicy*>(policy.get());
  if (types == nullptr || document.datatype != db::Datatype::kJson) return NewUuid();
  ASSIGN_OR_RETURN(std::optional<std::string> key, types->NewKey(document.body));
  return key ? std::move(*key) : NewUuid();
}

db::Commit CommitOf(const db::Database& database, db::Write write) {
  db::Commit commit;
  commit.shard = database.ShardOf(write.keyspace, write.key);
  commit.writes.push_back(std::move(write));
  return commit;
}

CommitAndWait::CommitAndWait(db::Database& database, const Caller& caller, db::Commit commit)
    : done_(caller.exchange) {
  commit.actor = caller.actor;
  const auto submit = [&database, done = done_](db::Commit ready) {
    database.Submit(std::move(ready),
                    [done](db::CommitResult result) { done.Complete(std::move(result)); });
  };
  const bool waits = std::ranges::any_of(commit.writes, [&](const db::Write& write) {
    return database.read_forms().RunsScripts(write.keyspace);
  });
  if (!waits) {
    submit(std::move(commit));
    return;
  }
  const bool taken = caller.exchange.workers().Post(
      [submit, ready = std::move(commit)]() mutable { submit(std::move(ready)); });
  if (taken) return;
  db::CommitResult refused;
  refused.status = net::OverloadedError();
  done_.Complete(std::move(refused));
}

}  // namespace sluice::service
