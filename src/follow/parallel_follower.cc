#include "follow/parallel_follower.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sluice::follow {

ParallelFollower::ParallelFollower(Options options, LaneCursors cursors)
    : options_(std::move(options)), signal_(options_.clock), cursors_(std::move(cursors)) {
  for (uint16_t lane = 0; lane < options_.lanes; ++lane) given_.push_back(cursors_.at(lane));
}

ParallelFollower::~ParallelFollower() { Stop(); }

Result<std::unique_ptr<ParallelFollower>> ParallelFollower::Start(Options options) {
  ASSIGN_OR_RETURN(LaneCursors cursors, LaneCursors::Load(*options.source, options.lanes));
  RETURN_IF_ERROR(options.source->Open(cursors.lowest()));
  CHECK(!options.workers.empty());
  std::unique_ptr<ParallelFollower> follower(
      new ParallelFollower(std::move(options), std::move(cursors)));
  const Options& given = follower->options_;
  for (const Code& code : given.workers) {
    follower->workers_.push_back(std::make_unique<LaneWorker>(LaneWorker::Parts{
        .name = given.worker_name,
        .processor = code.processor,
        .failures = code.failures,
        .sink = given.sink,
        .cursors = follower->cursors_,
        .turns = follower->turns_,
        .clock = given.clock,
        .borrower = given.borrower,
        .rest_after = given.rest_after,
        .drained = [raw = follower.get()] { raw->Wake(); },
        .failed = [raw = follower.get()](const Status& status) { raw->Fail(status); }}));
  }
  follower->thread_ = Thread(given.reader_name, [raw = follower.get()] { raw->Loop(); });
  return follower;
}

void ParallelFollower::Fail(const Status& status) {
  if (!failed_.exchange(true) && options_.failed) options_.failed(status);
}

void ParallelFollower::WakeFor(std::span<const db::KeyspaceId> keyspaces, CommitWake& commits) {
  subscription_ = commits.Subscribe(keyspaces, [this] { Wake(); });
  Wake();  // for earlier commits
}

void ParallelFollower::RequestStop() {
  signal_.Close();
  for (const auto& worker : workers_) worker->RequestStop();
}

void ParallelFollower::Stop() {
  subscription_.reset();
  RequestStop();
  if (thread_.joinable()) thread_.join();
  for (const auto& worker : workers_) worker->Stop();
}

bool ParallelFollower::caught_up() const {
  if (!WorkersIdle()) return false;  // an offered event may run
  const uint64_t with = caught_up_with_;
  return with != kNotCaughtUp && with == signal_.news();
}

bool ParallelFollower::WorkersIdle() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->idle(); });
}

void ParallelFollower::Loop() {
  while (true) {
    const uint64_t seen = signal_.news();
    caught_up_with_ = kNotCaughtUp;
    Status status = Pump();
    if (signal_.closed()) return;
    const bool idle = status.ok() && WorkersIdle();
    if (idle) status = StorePlaces();
    if (!status.ok()) return Fail(status);
    if (idle) {
      caught_up_with_ = seen;
      if (options_.handled_all) options_.handled_all();
    }
    Signal::Deadline deadline;
    if (!places_stored_) deadline = options_.clock.Now() + kStoreInterval;
    if (signal_.Wait(seen, deadline) == Signal::Waited::kClosed) return;
  }
}

// Reads until there is nothing new.
Status ParallelFollower::Pump() {
  Source& source = *options_.source;
  while (true) {
    Status failed;
    bool stopped = false;
    const auto visit = [&](const db::Change& change) {
      const uint16_t lane = options_.lane_of(change);
      CHECK(lane < options_.lanes);
      // After a restart the lanes are not all at the same place.
      if (!IsBefore(given_[lane], source.place())) return true;
      given_[lane] = source.place();
      Result<EventPtr> event = options_.make_event(change, source.place());
      if (!event) {
        failed = event.error();
        return false;
      }
      if (*event == nullptr) return true;
      (*event)->lane = lane;
      (*event)->after = source.place();
      stopped = !Deliver(std::move(*event));
      return !stopped;
    };
    ASSIGN_OR_RETURN(const size_t read, source.Read(kReadAtOnce, visit));
    RETURN_IF_ERROR(failed);
    if (read == 0 || stopped) return OkStatus();
  }
}

// Waits while the worker has no room. False when it is time to end; then the event is dropped.
bool ParallelFollower::Deliver(EventPtr event) {
  LaneWorker& worker = WorkerOf(event->lane);
  while (true) {
    const uint64_t seen = signal_.news();
    if (worker.Offer(event)) return true;
    if (signal_.Wait(seen) == Signal::Waited::kClosed) break;
  }
  options_.workers[event->lane % workers_.size()].processor.LetGo({&event, 1});
  return false;
}

// All workers are idle and have got all events that were read: every lane is at the reader's place.
Status ParallelFollower::StorePlaces() {
  const Clock::Time now = options_.clock.Now();
  places_stored_ = now - stored_at_ >= kStoreInterval;
  if (!places_stored_) return OkStatus();
  stored_at_ = now;
  db::Commit commit;
  commit.shard = cursors_.shard();
  commit.origin = options_.source->follower();
  commit.cursor_moves = cursors_.MovesTo(options_.source->place());
  if (commit.cursor_moves.empty()) return OkStatus();
  std::vector<db::CursorMove> moves = commit.cursor_moves;
  const Status status = options_.sink.Apply(std::move(commit));
  if (!status.ok()) return status.id().starts_with("cursor.") ? status : OkStatus();
  cursors_.Moved({}, std::move(moves));
  for (uint16_t lane = 0; lane < options_.lanes; ++lane) given_[lane] = cursors_.at(lane);
  return OkStatus();
}

}  // namespace sluice::follow
