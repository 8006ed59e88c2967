// A place in a change feed as text: the id of a server-sent event. Opaque to clients, stable: any
// version of the server reads what an earlier one gave. Base64url of
//
//   u8 1, varint keyspace, varint shards, then for each shard:
//     varint sequence, varint n + 1 (0 for "all of that commit"), u8 backfilling,
//     and while backfilling: varint from, string last key
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/cursor.h"
#include "db/types.h"

namespace sluice::service {

struct FeedPosition {
  db::KeyspaceId keyspace = 0;
  std::vector<db::CursorState> shards;

  std::string ToText() const;
  // feed.bad_position when it is nothing that ToText gave.
  static Result<FeedPosition> Parse(std::string_view text);
};

}  // namespace sluice::service
