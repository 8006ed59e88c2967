// What a writer hands to the committer: a set of writes with the conditions they depend on, applied
// as a whole or not at all. There is no other way to change data.
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

// What must hold of a document's present state for its write to be applied.
struct Precondition {
  enum class Kind : uint8_t { kNone, kAbsent, kPresent, kCas };
  Kind kind = Kind::kNone;
  Cas cas = 0;

  static Precondition None() { return {}; }
  static Precondition Absent() { return {Kind::kAbsent, 0}; }
  static Precondition Present() { return {Kind::kPresent, 0}; }
  static Precondition CasIs(Cas cas) { return {Kind::kCas, cas}; }
};

// What a mutation makes of the present document.
struct Mutated {
  Document document;
  bool remove = false;
  std::string reply;  // handed back to the writer (a counter's new value, say)
};

// Computes a document from the present one (null when there is none). Runs on the committer's
// thread, so it must be short and must not wait.
using Mutation = std::move_only_function<Result<Mutated>(const DocumentView* present)>;

// What a put was found to replace before it reached the committer, and what becomes of it then.
struct ReadAhead {
  Sequence as_of = 0;  // all commits up to this one were seen; perhaps more
  bool found = false;
  PinnedDocument present;  // if found
  bool live = false;
  RevisionList revisions;
  DocumentPolicy::Settled settled;
};

// What is known of a write to a keyspace with types before it reaches the committer. The committer
// relies on it only while `policy` is the keyspace's and the document is still the one that was
// read.
struct PreparedWrite {
  std::shared_ptr<const DocumentPolicy> policy;
  bool document = false;  // what Prepare says of the document is below
  Status violation;
  std::optional<std::string> diverted;
  std::unique_ptr<ReadAhead> ahead;  // null: the committer has to look
  // The document that was there, as readers see it, if that differs from what is stored.
  Sequence sequence = 0;
  size_t body_hash = 0;  // a kMigrate changes no sequence
  Result<std::string> present_as_read = std::string();
  // The document that is written, as readers will see it, if that differs from what is stored.
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
  // kPut over a present document keeps that one's expiry, or extended attributes.
  bool keep_expiry = false;
  bool keep_xattrs = false;
  // Its change has no origin, so that also the follower that wrote it sees it.
  bool anonymous = false;
  // What it is to document types: a change; nothing but other metadata, which makes no revision; or
  // the same document in its present form, which makes none either, changes no stamps, and which
  // followers are told of only if `announced`.
  enum class Intent : uint8_t { kChange, kTouch, kMigrate };
  Intent intent = Intent::kChange;
  bool announced = false;
  // Only over exactly this body. For a kMigrate whose result depends on it: others of them leave
  // CAS and sequence as they are.
  std::optional<std::string> only_over = std::nullopt;
  // What one of Commit::reads says of the document, and the committer has found to hold before it
  // comes to the write: no row is there, not even a tombstone, or one that is older than the stamp.
  enum class Seen : uint8_t { kNothing, kAbsent, kOlder };
  Seen seen = Seen::kNothing;  // kNothing: no read says anything
  // Filled in by Database; null for keyspaces without types.
  std::unique_ptr<PreparedWrite> prepared = nullptr;
};

// A read that must still be what it was: the document's sequence as it was read, 0 for "none".
struct ReadCheck {
  KeyspaceId keyspace = 0;
  std::string key;
  Sequence sequence = 0;
};

// A range that was read: no document in [from, to) may have changed after `snapshot`.
struct RangeCheck {
  KeyspaceId keyspace = 0;
  std::string from;
  std::string to;  // exclusive; empty for the keyspace's end
  Sequence snapshot = 0;
};

struct Commit {
  ShardId shard = 0;
  std::vector<Write> writes;
  std::vector<ReadCheck> reads;
  // The reads saw all commits up to this one, perhaps more. Those of documents that were not
  // written since need no look at the store.
  std::optional<Sequence> reads_as_of = std::nullopt;
  std::vector<RangeCheck> ranges;
  std::vector<CursorCreate> cursor_creates;
  std::vector<CursorMove> cursor_moves;
  std::vector<RowWrite> rows;
  std::string origin;  // who wrote this, for followers that skip their own writes; often empty
  // On whose behalf, for the stamps of document types; the origin if it is empty.
  std::string actor;
};

struct WriteResult {
  Cas cas = 0;
  std::string reply;
  // Of a document that its type finds fault with and that was stored all the same.
  Status violation;
  std::string diverted_to;  // keyspace and key where it was stored instead; empty if it was not
};

struct CommitResult {
  Status status;
  Sequence sequence = 0;
  std::vector<WriteResult> writes;  // one for each of Commit::writes, when status is OK
  int failed_write = -1;            // which write's precondition failed, if one did
};

// What was made durable: everything up to `sequence`. `keyspaces` are the logged ones of which this
// group has changes, sorted.
struct Committed {
  Sequence sequence = 0;
  std::vector<KeyspaceId> keyspaces;
};
using CommitListener = std::function<void(const Committed&)>;

// Called once, on the committer's thread: must only hand the result on.
using CommitCallback = std::move_only_function<void(CommitResult)>;

// The usual writes.
Write PutWrite(KeyspaceId keyspace, std::string key, Document document,
               Precondition precondition = {});
Write DeleteWrite(KeyspaceId keyspace, std::string key, Precondition precondition = {});
// Sets the expiry only (0 clears it); the document must be present.
Write TouchWrite(KeyspaceId keyspace, std::string key, uint64_t expiry_ms,
                 Precondition precondition = {});

// The body of a counter document is a JSON integer. Made with `initial` when absent, if given.
struct CounterOptions {
  int64_t delta = 1;
  std::optional<int64_t> initial;
  uint64_t expiry_ms = 0;  // for a counter that is made now
};
Write CounterWrite(KeyspaceId keyspace, std::string key, CounterOptions options);

}  // namespace sluice::db
