#include "follow/lane_feed.h"

#include <utility>

#include "base/check.h"

namespace sluice::follow {

Result<std::unique_ptr<LaneFeed>> LaneFeed::Open(std::unique_ptr<Source> source,
                                                 const Rules& rules) {
  ASSIGN_OR_RETURN(LaneCursors cursors, LaneCursors::Load(*source, rules.lanes));
  RETURN_IF_ERROR(source->Open(cursors.lowest()));
  return std::unique_ptr<LaneFeed>(new LaneFeed(std::move(source), rules, std::move(cursors)));
}

LaneFeed::LaneFeed(std::unique_ptr<Source> source, const Rules& rules, LaneCursors cursors)
    : source_(std::move(source)), rules_(rules), cursors_(std::move(cursors)) {
  for (uint16_t lane = 0; lane < rules_.lanes; ++lane) given_.push_back(cursors_.at(lane));
}

Result<size_t> LaneFeed::Read(size_t max, const Deliver& deliver) {
  Status failed;
  const auto visit = [&](const db::Change& change) {
    if (ended_) return false;
    const uint16_t lane = rules_.lane_of(change);
    CHECK(lane < rules_.lanes);
    // After a restart the lanes are not all at the same place.
    if (!IsBefore(given_[lane], source_->place())) return true;
    given_[lane] = source_->place();
    Result<EventPtr> event = rules_.make_event(change, source_->place());
    if (!event) {
      failed = event.error();
      return false;
    }
    if (*event == nullptr) return true;
    (*event)->shard = shard();
    (*event)->lane = lane;
    (*event)->after = source_->place();
    return deliver(std::move(*event));
  };
  ASSIGN_OR_RETURN(const size_t read, source_->Read(max, visit));
  RETURN_IF_ERROR(failed);
  return read;
}

Status LaneFeed::StorePlaces(CommitSink& sink, Clock::Time now) {
  places_stored_ = now - stored_at_ >= kStoreInterval;
  if (!places_stored_) return OkStatus();
  stored_at_ = now;
  db::Commit commit;
  commit.shard = shard();
  commit.origin = source_->follower();
  commit.cursor_moves = cursors_.MovesTo(source_->place());
  if (commit.cursor_moves.empty()) return OkStatus();
  std::vector<db::CursorMove> moves = commit.cursor_moves;
  const Status status = sink.Apply(std::move(commit));
  if (!status.ok()) return status.id().starts_with("cursor.") ? status : OkStatus();
  cursors_.Moved({}, std::move(moves));
  for (uint16_t lane = 0; lane < rules_.lanes; ++lane) given_[lane] = cursors_.at(lane);
  return OkStatus();
}

}  // namespace sluice::follow
