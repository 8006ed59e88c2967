// A commit: a set of writes with the conditions that they depend on, applied as a whole or not at
// all. There is no other way to change data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/cursor.h"
#include "db/document.h"
#include "db/document_policy.h"
#include "db/revisions.h"
#include "db/rows.h"
#include "db/types.h"

namespace sluice::db {

// A condition on the present document. If it does not hold, the write's commit is refused.
struct Precondition {
  enum class Kind : uint8_t { kNone, kAbsent, kPresent, kCas };
  Kind kind = Kind::kNone;
  Cas cas = 0;

  static Precondition None() { return {}; }
  static Precondition Absent() { return {Kind::kAbsent, 0}; }
  static Precondition Present() { return {Kind::kPresent, 0}; }
  static Precondition CasIs(Cas cas) { return {Kind::kCas, cas}; }
};

// The result of a mutation.
struct Mutated {
  Document document;
  bool remove = false;
  std::string reply;  // for the writer: the new value of a counter, for example
};

// Computes a document from the present one (null when there is none). Runs on the committer's
// thread, so it must be short and must not wait.
using Mutation = std::move_only_function<Result<Mutated>(const DocumentView* present)>;

// The document that a put replaces, as the writer's thread read it, and the put's result over that
// document. The committer uses it if nobody has written the document since.
struct ReadAhead {
  Sequence as_of = 0;  // the read saw all commits up to this one, perhaps more
  bool found = false;
  PinnedDocument present;  // if found
  bool live = false;
  RevisionList revisions;
  DocumentPolicy::Settled settled;
};

// The work that the writer's thread has done for a write to a keyspace with types. The committer
// uses it while `policy` is the keyspace's policy, and `ahead` only while the replaced document is
// the one that was read.
struct PreparedWrite {
  std::shared_ptr<const DocumentPolicy> policy;
  bool document = false;  // the result of Prepare is in the write and in the next fields
  Status violation;
  std::optional<std::string> diverted;
  std::unique_ptr<ReadAhead> ahead;  // null: the committer reads and settles
  // The replaced document as readers see it, if that differs from its stored form; `sequence` and
  // `body_hash` identify it.
  Sequence sequence = 0;
  size_t body_hash = 0;  // a kMigrate does not change the sequence
  Result<std::string> present_as_read = std::string();
  // The written document as readers will see it, if that differs from its stored form.
  std::optional<std::string> written_as_read;
};

struct Write {
  // kExpire deletes the document if it is still the one that expires at document.expiry_ms.
  enum class Kind : uint8_t { kPut, kDelete, kMutate, kExpire };

  KeyspaceId keyspace = 0;
  std::string key;
  Kind kind = Kind::kPut;
  Document document;  // kPut; its cas is 0, or a stamp taken from Database::NewCas
  Mutation mutation;  // kMutate
  Precondition precondition;
  // A kPut keeps the expiry, or the extended attributes, of the document that it replaces.
  bool keep_expiry = false;
  bool keep_xattrs = false;
  // The change has no origin, so that the follower that wrote it sees it, too.
  bool anonymous = false;
  // How document types treat the write. kChange: a new version. kTouch: only other metadata, which
  // makes no revision. kMigrate: the same document in another form, which makes no revision and
  // changes no stamps; followers get an event only if `announced`.
  enum class Intent : uint8_t { kChange, kTouch, kMigrate };
  Intent intent = Intent::kChange;
  bool announced = false;
  // The present document must have exactly this body. For a kMigrate that was computed from it: CAS
  // and sequence do not tell, because another kMigrate leaves them as they are.
  std::optional<std::string> only_over = std::nullopt;
  // A fact about the document that follows from one of Commit::reads, which the committer checks
  // before the writes. kAbsent: there is no row, not even a tombstone. kOlder: there is one, and it
  // is older than the write's stamp. It saves the committer a read.
  enum class Seen : uint8_t { kNothing, kAbsent, kOlder };
  Seen seen = Seen::kNothing;  // kNothing: there is no such read
  // Filled in by Database; null for keyspaces without types.
  std::unique_ptr<PreparedWrite> prepared = nullptr;
};

// A document that was read and must not have changed: its sequence then, 0 if there was none.
struct ReadCheck {
  KeyspaceId keyspace = 0;
  std::string key;
  Sequence sequence = 0;
};

// A range of one shard that was read: no document in [from, to) may have changed after `snapshot`.
struct RangeCheck {
  KeyspaceId keyspace = 0;
  std::string from;
  std::string to;  // exclusive; empty for the keyspace's end
  Sequence snapshot = 0;
  ShardId shard = kDefinitionsShard;
};

// Documents may be in any shards. A commit that stays in one shard costs least: the others wait for
// several appends, and the shards take nothing else meanwhile (shared_commits.h).
struct Commit {
  // Rows and cursors of the commit are in this shard. The default is that of definitions.
  ShardId shard = kDefinitionsShard;
  std::vector<Write> writes;
  std::vector<ReadCheck> reads;
  // The reads saw all commits of `shard` up to this one, perhaps more. The committer does not look
  // at documents that were not written since.
  std::optional<Sequence> reads_as_of = std::nullopt;
  std::vector<RangeCheck> ranges;
  std::vector<CursorCreate> cursor_creates;
  std::vector<CursorMove> cursor_moves;
  std::vector<RowWrite> rows;
  std::string origin;  // the writer, for followers that skip their own writes; often empty
  // The user for whom it writes, for the stamps of document types; the origin if it is empty.
  std::string actor;
};

struct WriteResult {
  Cas cas = 0;
  std::string reply;
  // Not OK: the document does not fit its type, and was stored nevertheless.
  Status violation;
  std::string diverted_to;  // keyspace and key where it was stored instead; empty if it was not
};

struct CommitResult {
  Status status;
  Sequence sequence = 0;            // in the shard of its first document
  std::vector<WriteResult> writes;  // one for each of Commit::writes, when status is OK
  int failed_write = -1;            // which write's precondition failed, if one did
};

// A durable group of commits: everything up to `sequence` is durable.
struct Committed {
  Sequence sequence = 0;
  std::vector<KeyspaceId> keyspaces;  // the logged keyspaces that the group changed, sorted
  // Of the rows of `meta` that it changed, sorted; keys within the shard, without the shard's
  // state.
  std::vector<std::string> meta_keys;
  std::vector<std::string> followers;   // whose cursors it made, sorted
  std::vector<std::string> unfollowed;  // whose cursors it deleted, sorted
};
using CommitListener = std::function<void(const Committed&)>;

// Called once, on a committer's thread. It must only pass the result on.
using CommitCallback = std::move_only_function<void(CommitResult)>;

// About how much memory it takes.
size_t BytesOf(const Commit& commit);

// The usual writes.
Write PutWrite(KeyspaceId keyspace, std::string key, Document document,
               Precondition precondition = {});
Write DeleteWrite(KeyspaceId keyspace, std::string key, Precondition precondition = {});
// Sets the expiry only (0 clears it); the document must be present.
Write TouchWrite(KeyspaceId keyspace, std::string key, uint64_t expiry_ms,
                 Precondition precondition = {});

// The body of a counter document is a JSON integer. A counter that does not exist is made with
// `initial`, if that is given.
struct CounterOptions {
  int64_t delta = 1;
  std::optional<int64_t> initial;
  uint64_t expiry_ms = 0;  // for a counter that is made now
};
Write CounterWrite(KeyspaceId keyspace, std::string key, CounterOptions options);

}  // namespace sluice::db
