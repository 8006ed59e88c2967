#include "follow/cursors.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sluice::follow {

bool IsBefore(const db::CursorState& a, const db::CursorState& b) {
  if (a.backfilling != b.backfilling) return a.backfilling;
  if (a.backfilling) {
    return std::tie(a.backfill_keyspace, a.backfill_key) <
           std::tie(b.backfill_keyspace, b.backfill_key);
  }
  return a.position < b.position;
}

Result<LaneCursors> LaneCursors::Load(const Source& source, uint16_t lanes) {
  std::vector<db::CursorState> stored(lanes);
  for (uint16_t lane = 0; lane < lanes; ++lane) {
    ASSIGN_OR_RETURN(stored[lane], source.Stored(lane));
  }
  return LaneCursors(source.follower(), source.shard(), std::move(stored));
}

const db::CursorState& LaneCursors::lowest() const {
  return *std::ranges::min_element(stored_, IsBefore);
}

std::vector<db::CursorMove> LaneCursors::MovesPast(std::span<const EventPtr> events) const {
  struct Passed {
    const Event* last = nullptr;
    uint64_t events = 0;
  };
  std::vector<Passed> passed(stored_.size());
  for (const EventPtr& event : events) {
    if (!event->from_log) continue;
    passed[event->lane].last = event.get();
    ++passed[event->lane].events;
  }
  std::vector<db::CursorMove> moves;
  for (uint16_t lane = 0; lane < lanes(); ++lane) {
    if (passed[lane].last == nullptr) continue;
    db::CursorState next = passed[lane].last->after;
    next.events = stored_[lane].events + passed[lane].events;
    moves.push_back({{follower_, shard_, lane}, stored_[lane], std::move(next)});
  }
  return moves;
}

void LaneCursors::Moved(std::span<const EventPtr>, std::vector<db::CursorMove> moves) {
  for (db::CursorMove& move : moves) stored_[move.cursor.lane] = std::move(move.next);
}

std::vector<db::CursorMove> LaneCursors::MovesTo(const db::CursorState& place) const {
  std::vector<db::CursorMove> moves;
  for (uint16_t lane = 0; lane < lanes(); ++lane) {
    if (!IsBefore(stored_[lane], place)) continue;
    db::CursorState next = place;
    next.events = stored_[lane].events;
    moves.push_back({{follower_, shard_, lane}, stored_[lane], std::move(next)});
  }
  return moves;
}

}  // namespace sluice::follow
