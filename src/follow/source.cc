#include "follow/source.h"

namespace sluice::follow {

Status DatabaseSource::Open(const db::CursorState& start) {
  ASSIGN_OR_RETURN(feed_, db::Feed::OfFollower(database_, shard(), follower(), start));
  return OkStatus();
}

}  // namespace sluice::follow
