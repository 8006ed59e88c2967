// Rows in `meta` of commits that several shards share (docs/formats/shared.md): the group that a
// shard has prepared, and the decision that all prepared groups take effect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/types.h"

namespace sluice::db {

// Names what is decided together: a stamp of the hybrid clock.
using SharedId = uint64_t;

// A shard has at most one such row. Its group takes effect if the decision's row is in the shard
// `decided_in`, and never if there is none.
struct PreparedGroup {
  SharedId id = 0;
  ShardId decided_in = 0;
  Sequence after =
      0;  // the shard's sequence with this row; that of the group's first commit follows
  std::string group;  // as Batch::Serialize gives it

  std::string Encode() const;
  static Result<PreparedGroup> Decode(std::string_view stored);
};
std::string PreparedKey();  // within the shard

// The shards that have prepared a group.
struct Decision {
  std::vector<ShardId> prepared;

  std::string Encode() const;
  static Result<Decision> Decode(std::string_view stored);
};
inline constexpr std::string_view kDecisionPrefix = "shared/decided/";
std::string DecisionKey(SharedId id);  // within the shard

}  // namespace sluice::db
