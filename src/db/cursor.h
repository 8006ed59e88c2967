// A follower's place in a shard's log, kept in the cursor family (docs/formats/cursors.md) and
// moved only inside a commit.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"

namespace sluice::db {

// The last change that was consumed: change `n` of commit `sequence`.
struct LogPosition {
  Sequence sequence = 0;
  uint32_t n = UINT32_MAX;  // UINT32_MAX: all of that commit

  // The last commit that was consumed as a whole.
  Sequence done() const { return n == UINT32_MAX || sequence == 0 ? sequence : sequence - 1; }
  auto operator<=>(const LogPosition&) const = default;
};

// While `backfilling`, documents with from < sequence <= position.sequence are being read in key
// order, and (keyspace, key) is the last one delivered; the log continues after `position`.
struct CursorState {
  LogPosition position;
  uint64_t events = 0;  // how many were consumed
  bool backfilling = false;
  Sequence backfill_from = 0;
  KeyspaceId backfill_keyspace = 0;
  std::string backfill_key;

  bool operator==(const CursorState&) const = default;
};

struct CursorId {
  std::string follower;
  ShardId shard = 0;
  uint16_t lane = 0;
};

// The cursor must be at `expected` and goes to `next`.
struct CursorMove {
  CursorId cursor;
  CursorState expected;
  CursorState next;
};

// A new cursor at the place of the commit that makes it: the follower gets the changes after it,
// and with `everything` first a backfill of the existing documents.
struct CursorCreate {
  CursorId cursor;
  bool everything = false;
};

std::string CursorKey(const CursorId& cursor);
// The prefix of the keys of a follower's cursors in one shard.
std::string CursorPrefix(std::string_view follower, ShardId shard);
Result<CursorId> DecodeCursorKey(std::string_view key);
std::string EncodeCursor(const CursorState& state);
Result<CursorState> DecodeCursor(std::string_view stored);

}  // namespace sluice::db
