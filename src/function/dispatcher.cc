#include "function/dispatcher.h"

#include <algorithm>
#include <tuple>

#include "base/log.h"

namespace sluice::function {
namespace {

constexpr size_t kReadAtOnce = 1024;
// Lanes that hear nothing follow the others this often, so that they do not hold the log.
constexpr std::chrono::seconds kStoreInterval(1);

// What Sync Gateway keeps for itself; attachments are users' data.
bool IsSyncDocument(std::string_view key) {
  return key.starts_with("_sync:") && !key.starts_with("_sync:att");
}

// Whether a cursor is before another one of the same follower: a backfill comes before the log.
bool Before(const db::CursorState& a, const db::CursorState& b) {
  if (a.backfilling != b.backfilling) return a.backfilling;
  if (a.backfilling) {
    return std::tie(a.backfill_keyspace, a.backfill_key) <
           std::tie(b.backfill_keyspace, b.backfill_key);
  }
  return a.position < b.position;
}

// Binary documents came with language 6.6.2.
bool HearsBinary(const Settings& settings) {
  return settings.language != "6.0.0" && settings.language != "6.5.0";
}
bool IsBinary(const db::Change& change) {
  return change.after && change.after->datatype == db::Datatype::kBinary;
}

}  // namespace

std::string FollowerOf(const Definition& definition) {
  return "function:" + definition.instance_id;
}

std::string FailuresOwnerOf(const std::string& location) { return "function:" + location; }

Dispatcher::Dispatcher(Options options) : options_(std::move(options)) {}
Dispatcher::~Dispatcher() { Stop(); }

Result<std::unique_ptr<Dispatcher>> Dispatcher::Start(Options options) {
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(std::move(options)));
  RETURN_IF_ERROR(dispatcher->LoadCursors());
  const Options& given = dispatcher->options_;
  given.statistics.workers_started += given.definition->settings.workers();
  for (uint32_t i = 0; i < given.definition->settings.workers(); ++i) {
    dispatcher->workers_.push_back(std::make_unique<Worker>(dispatcher->ContextOfWorkers()));
  }
  dispatcher->thread_ =
      Thread({"fn feed", given.definition->name}, [raw = dispatcher.get()] { raw->Loop(); });
  dispatcher->timers_added_ = given.timers.Add(
      given.follower,
      [raw = dispatcher.get()](const timer::Timer& timer) {
        return raw->OfferToWorker(EventOf(timer));
      },
      given.failed);
  dispatcher->retries_added_ = given.timers.Add(
      failure::RetryOwner(given.failures.owner()),
      [raw = dispatcher.get()](const timer::Timer& timer) {
        return raw->OfferToWorker(RetryOf(timer));
      },
      given.failed);
  return dispatcher;
}

WorkerContext Dispatcher::ContextOfWorkers() {
  return {options_.services,
          options_.timers,
          options_.failures,
          options_.definition,
          options_.prepared,
          options_.follower,
          0,
          cursors_,
          options_.statistics,
          options_.log,
          options_.insight,
          turns_,
          [this] { Wake(); },
          options_.failed,
          &trap_};
}

void Dispatcher::StartDebugger(std::shared_ptr<const js::Program> program,
                               std::shared_ptr<js::Inspector> inspector) {
  StopDebugger();
  const std::lock_guard lock(debug_mutex_);
  {
    const std::lock_guard held(mutex_);
    if (stopping_) return inspector->Close();
  }
  WorkerContext context = ContextOfWorkers();
  context.prepared.program = std::move(program);
  context.inspector = std::move(inspector);
  debug_worker_ = std::make_unique<DebugWorker>(std::move(context));
  trap_.Set(debug_worker_.get());
}

void Dispatcher::StopDebugger() {
  const std::lock_guard lock(debug_mutex_);
  trap_.Set(nullptr);
  debug_worker_.reset();
}

Status Dispatcher::LoadCursors() {
  const db::CursorState* lowest = nullptr;
  for (uint16_t lane = 0; lane < kLanes; ++lane) {
    ASSIGN_OR_RETURN(cursors_[lane], options_.services.database.followers().ReadCursor(
                                         {options_.follower, 0, lane}));
    if (lowest == nullptr || Before(cursors_[lane], *lowest)) lowest = &cursors_[lane];
  }
  given_ = cursors_;
  ASSIGN_OR_RETURN(feed_,
                   db::Feed::OfFollower(options_.services.database, 0, options_.follower, *lowest));
  return OkStatus();
}

void Dispatcher::WakeFor(std::span<const db::KeyspaceId> keyspaces, follow::CommitWake& commits) {
  subscription_ = commits.Subscribe(keyspaces, [this] { Wake(); });
  Wake();  // for what was committed before
}

void Dispatcher::Wake() {
  {
    const std::lock_guard lock(mutex_);
    if (woken_) return;
    woken_ = true;
  }
  wake_.notify_one();
}

void Dispatcher::RequestStop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  for (const auto& worker : workers_) worker->RequestStop();
}

void Dispatcher::Stop() {
  subscription_.reset();
  RequestStop();
  options_.timers.Remove(options_.follower, timers_added_);
  options_.timers.Remove(failure::RetryOwner(options_.failures.owner()), retries_added_);
  StopDebugger();
  if (thread_.joinable()) thread_.join();
  for (const auto& worker : workers_) worker->Stop();
}

bool Dispatcher::caught_up() const {
  if (!WorkersIdle()) return false;  // a timer may run
  const std::lock_guard lock(mutex_);
  return caught_up_ && !woken_;
}

bool Dispatcher::WorkersIdle() const {
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->idle(); });
}

void Dispatcher::Loop() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      const auto news = [this] { return stopping_ || woken_; };
      if (places_stored_) {
        wake_.wait(lock, news);
      } else {
        wake_.wait_for(lock, kStoreInterval, news);
      }
      if (stopping_) return;
      woken_ = false;
      caught_up_ = false;
    }
    const Result<bool> pumped = Pump();
    Status status = pumped ? OkStatus() : pumped.error();
    const bool idle = status.ok() && WorkersIdle();
    if (idle) status = StorePlaces();
    if (!status.ok()) {
      if (options_.failed) options_.failed(status);
      return;
    }
    const std::lock_guard lock(mutex_);
    caught_up_ = idle;
  }
}

// Reads until there is nothing new.
Result<bool> Dispatcher::Pump() {
  bool any = false;
  while (true) {
    bool stopped = false;
    ASSIGN_OR_RETURN(const size_t read, feed_->Read(kReadAtOnce, [&](const db::Change& change) {
      const uint16_t lane = LaneOf(change.key);
      // After a restart the lanes are not all at the same place.
      if (!Before(given_[lane], feed_->state())) return true;
      given_[lane] = feed_->state();
      if (change.origin == options_.follower) {
        ++(change.after ? options_.statistics.updates_suppressed
                        : options_.statistics.deletions_suppressed);
        return true;
      }
      const Settings& settings = options_.definition->settings;
      if ((!settings.sync_documents && IsSyncDocument(change.key)) ||
          (!HearsBinary(settings) && IsBinary(change))) {
        ++(change.after ? options_.statistics.updates_filtered
                        : options_.statistics.deletions_filtered);
        return true;
      }
      stopped = !Deliver(EventOf(change, feed_->state(), settings.previous));
      return !stopped;
    }));
    if (read == 0 || stopped) return any;
    any = true;
  }
}

// Waits while the worker has no room. False when it is time to end.
bool Dispatcher::Deliver(Event event) {
  Worker& worker = *workers_[event.lane % workers_.size()];
  Statistics& statistics = options_.statistics;
  ++statistics.backlog;
  statistics.backlog_bytes += event.bytes();
  statistics.bytes_given += event.body.size();
  ++(event.operation == db::Operation::kExpire   ? statistics.expiries_given
     : event.operation == db::Operation::kDelete ? statistics.deletions_given
                                                 : statistics.updates_given);
  while (!worker.Offer(event)) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || woken_; });
    if (stopping_) {
      --statistics.backlog;
      statistics.backlog_bytes -= event.bytes();
      return false;
    }
    woken_ = false;  // Pump reads on until there is nothing, so no news are lost
  }
  return true;
}

// On the scheduler's thread.
bool Dispatcher::OfferToWorker(Event event) {
  return workers_[event.lane % workers_.size()]->Offer(event);
}

// All workers are idle and everything read was given out: every lane is where the feed is.
Status Dispatcher::StorePlaces() {
  const auto now = std::chrono::steady_clock::now();
  places_stored_ = now - stored_at_ >= kStoreInterval;
  if (!places_stored_) return OkStatus();
  stored_at_ = now;
  db::Commit commit;
  commit.origin = options_.follower;
  for (uint16_t lane = 0; lane < kLanes; ++lane) {
    if (!Before(cursors_[lane], feed_->state())) continue;
    db::CursorState next = feed_->state();
    next.events = cursors_[lane].events;
    commit.cursor_moves.push_back({{options_.follower, 0, lane}, cursors_[lane], next});
  }
  if (commit.cursor_moves.empty()) return OkStatus();
  const std::vector<db::CursorMove> moves = commit.cursor_moves;
  const db::CommitResult result = options_.services.database.Apply(std::move(commit));
  if (!result.status.ok()) {
    return result.status.id() == "cursor.moved" ? result.status : OkStatus();
  }
  for (const db::CursorMove& move : moves) cursors_[move.cursor.lane] = move.next;
  given_ = cursors_;
  return OkStatus();
}

}  // namespace sluice::function
