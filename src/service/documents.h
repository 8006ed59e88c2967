// Operations on single documents: how every interface reads and writes them for its clients.
//
// Those that wait are coroutines of a request (net/exchange.h) and run on its thread; work that may
// take long goes to its workers.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "auth/roles.h"
#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "db/document.h"
#include "db/types.h"
#include "net/completion.h"
#include "net/exchange.h"
#include "net/task.h"

namespace sluice::service {

// Whose operation it is. Lives as long as the operation.
struct Caller {
  net::Exchange& exchange;
  std::string actor;  // on whose behalf it writes: Commit::actor
};

enum class Access : uint8_t { kRead, kWrite };

// The id of the keyspace that `bucket.scope.collection` names. Rows of a table are written by
// statements only, since others would not keep to its columns: keyspace.is_system.
Result<db::KeyspaceId> ResolveKeyspace(const db::Database& database, std::string_view text,
                                       Access access);
// The same if `who` has the permission on its bucket, else auth.forbidden.
Result<db::KeyspaceId> ResolvePermitted(const db::Database& database, const auth::Principal& who,
                                        Access access, std::string_view text);

struct Target {
  db::KeyspaceId keyspace = 0;
  std::string_view key;
};
Result<Target> ResolveTarget(const db::Database& database, std::string_view keyspace,
                             std::string_view key, Access access);

// Reads a document in the current version of its type and notes that it was read. Nothing is
// returned if scripts have to run for that: GetOnWorker goes on with the same `document`. False:
// there is none.
std::optional<Result<bool>> GetNow(const db::Database& database, const Target& target,
                                   db::PinnedDocument* document);
net::Task<Result<bool>> GetOnWorker(const db::Database& database, net::Exchange& exchange,
                                    Target target, db::PinnedDocument* document);
// In the given version of its type's schema. Both views stay valid while it runs.
net::Task<Result<bool>> GetAtVersion(const db::Database& database, net::Exchange& exchange,
                                     Target target, std::string_view version,
                                     db::PinnedDocument* document);

// A key for a new document: what the pattern of its type makes of its properties, else a UUID.
Result<std::string> NewKeyOf(const db::Database& database, db::KeyspaceId keyspace,
                             const db::Document& document);

// A commit of one write.
db::Commit CommitOf(const db::Database& database, db::Write write);

// co_await CommitAndWait(...): submits one commit and waits for its result. A client that leaves
// ends the wait (http.cancelled), not the commit. If types of the keyspace may run scripts, which
// the connection's thread must not wait for, a worker submits it.
class CommitAndWait {
 public:
  CommitAndWait(db::Database& database, const Caller& caller, db::Commit commit);
  CommitAndWait(db::Database& database, const Caller& caller, db::Write write)
      : CommitAndWait(database, caller, CommitOf(database, std::move(write))) {}

  auto operator co_await() const { return Awaiter{done_.operator co_await()}; }

 private:
  using Done = net::Completion<db::CommitResult>;
  struct Awaiter {
    bool await_ready() const { return inner.await_ready(); }
    bool await_suspend(std::coroutine_handle<> handle) { return inner.await_suspend(handle); }
    db::CommitResult await_resume() {
      Result<db::CommitResult> result = inner.await_resume();
      if (result) return std::move(*result);
      db::CommitResult cancelled;
      cancelled.status = std::move(result).error();
      return cancelled;
    }
    decltype(std::declval<const Done&>().operator co_await()) inner;
  };

  Done done_;
};

}  // namespace sluice::service
