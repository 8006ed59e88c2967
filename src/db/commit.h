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
#include "db/types.h"
#include "storage/store.h"

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

// A row of a family that another module owns (timers, failures, flow runs), in the same commit.
struct RowWrite {
  storage::Family family = storage::Family::kRun;
  std::string key;
  std::optional<std::string> value;  // none deletes
  // When set, the row's present value must equal it (an empty inner optional: must be absent).
  std::optional<std::optional<std::string>> expected;
};

struct Commit {
  ShardId shard = 0;
  std::vector<Write> writes;
  std::vector<ReadCheck> reads;
  std::vector<RangeCheck> ranges;
  std::vector<CursorCreate> cursor_creates;
  std::vector<CursorMove> cursor_moves;
  std::vector<RowWrite> rows;
  std::string origin;  // who wrote this, for followers that skip their own writes; often empty
};

struct WriteResult {
  Cas cas = 0;
  std::string reply;
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
