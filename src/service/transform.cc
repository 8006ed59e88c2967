#include "service/transform.h"

#include <utility>

#include "db/conflict_retry.h"
#include "net/run_blocking.h"

namespace sluice::service {
namespace {

constexpr size_t kMaxCommitterBytes = 64 << 10;

db::CommitResult Failed(Status status) {
  db::CommitResult result;
  result.status = std::move(status);
  return result;
}

Status NoDocument(const Target& target) {
  return Error(Code::kNotFound, "document.not_found", "there is no document '{}'", target.key);
}

db::Write CommitterWrite(const Target& target, db::Precondition condition,
                         std::shared_ptr<const Transformation> transformation) {
  db::Write write;
  write.kind = db::Write::Kind::kMutate;
  write.keyspace = target.keyspace;
  write.key = target.key;
  write.precondition =
      condition.kind == db::Precondition::Kind::kNone ? db::Precondition::Present() : condition;
  write.mutation = [transformation = std::move(transformation)](const db::DocumentView* present) {
    return (*transformation)(*present);
  };
  return write;
}

struct Prepared {
  db::Write write;
  std::string reply;
};

// The transformed document as a write over the version it was made from.
Result<Prepared> Prepare(const db::Database& database, const Target& target,
                         db::Precondition condition, const Transformation& transformation) {
  db::PinnedDocument present;
  ASSIGN_OR_RETURN(const bool found, database.Get(target.keyspace, target.key, &present));
  if (!found) return Unexpected(NoDocument(target));
  ASSIGN_OR_RETURN(db::Mutated mutated, transformation(present.view()));
  // The caller's own version, if there is one, is checked by the commit.
  const db::Cas cas = condition.kind == db::Precondition::Kind::kCas ? condition.cas : present->cas;
  mutated.document.cas = 0;
  return Prepared{db::PutWrite(target.keyspace, std::string(target.key),
                               std::move(mutated.document), db::Precondition::CasIs(cas)),
                  std::move(mutated.reply)};
}

}  // namespace

net::Task<db::CommitResult> Transform(db::Database& database, Caller caller, Target target,
                                      db::Precondition condition,
                                      std::shared_ptr<const Transformation> transformation) {
  {
    db::PinnedDocument present;
    const Result<bool> found =
        database.read_forms().GetStored(target.keyspace, target.key, &present);
    if (!found) co_return Failed(found.error());
    if (!*found || present->body.size() + present->xattrs.size() <= kMaxCommitterBytes) {
      co_return co_await CommitAndWait(database, caller,
                                       CommitterWrite(target, condition, transformation));
    }
  }
  for (int attempt = 1;; ++attempt) {
    Result<Result<Prepared>> prepared = co_await net::RunBlocking(
        caller.exchange, [&] { return Prepare(database, target, condition, *transformation); });
    if (!prepared) co_return Failed(prepared.error());
    if (!*prepared) co_return Failed(prepared->error());
    db::CommitResult result =
        co_await CommitAndWait(database, caller, std::move((*prepared)->write));
    const bool overtaken = result.status.id() == "document.cas_mismatch" &&
                           condition.kind != db::Precondition::Kind::kCas;
    if (overtaken && attempt < db::ConflictRetry::kMostAttempts) continue;
    if (result.status.ok()) result.writes.front().reply = std::move((*prepared)->reply);
    co_return result;
  }
}

}  // namespace sluice::service
