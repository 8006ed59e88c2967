#include "function/worker.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxQueued = 4096;
constexpr size_t kMaxQueuedBytes = 32ull << 20;
constexpr size_t kMaxBatch = 512;
// A batch is committed early when it has this many writes; far below what a commit may have.
constexpr size_t kMaxBatchWrites = 2000;
constexpr int kMaxAttempts = 1000;
constexpr std::chrono::milliseconds kRetryPause(100);
// An isolate has about two megabytes and is made in a few milliseconds: a function that hears
// nothing for this long has none.
constexpr std::chrono::seconds kIdleIsolate(10);

bool IsConflict(const Status& status) { return status.code() == Code::kConflict; }
bool IsPassing(const Status& status) {
  return status.code() == Code::kOverloaded || status.code() == Code::kNoSpace ||
         status.code() == Code::kIo;
}

}  // namespace

Worker::Worker(WorkerContext context) : context_(std::move(context)) {
  thread_ = std::thread([this] { Loop(); });
}

Worker::~Worker() { Stop(); }

void Worker::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool Worker::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool Worker::Offer(Event& event) {
  const std::lock_guard lock(mutex_);
  const size_t bytes = event.bytes();
  if (queue_.size() >= kMaxQueued || (!queue_.empty() && queued_bytes_ + bytes > kMaxQueuedBytes)) {
    return false;
  }
  queued_bytes_ += bytes;
  queue_.push_back(std::move(event));
  if (queue_.size() == 1) wake_.notify_one();
  return true;
}

bool Worker::idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !busy_;
}

void Worker::Loop() {
  while (true) {
    Events events = Take();
    if (events.empty()) return;
    const Status processed = Process(events);
    context_.statistics.backlog -= events.size();
    if (!processed.ok()) {
      if (!stopping()) context_.failed(processed);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      busy_ = false;
    }
    context_.drained();
  }
}

// What has piled up; nobody waits for more. Empty when it is time to end.
Worker::Events Worker::Take() {
  Events events;
  std::unique_lock lock(mutex_);
  const auto news = [this] { return stopping_ || !queue_.empty(); };
  if (handler_ != nullptr && !wake_.wait_for(lock, kIdleIsolate, news)) {
    lock.unlock();
    handler_.reset();
    lock.lock();
  }
  wake_.wait(lock, news);
  if (stopping_) return events;
  while (!queue_.empty() && events.size() < kMaxBatch) {
    queued_bytes_ -= queue_.front().bytes();
    events.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  busy_ = true;
  return events;
}

Status Worker::Process(std::span<Event> events) {
  while (!events.empty()) {
    size_t done = 0;
    bool conflict = false;
    RETURN_IF_ERROR(ProcessTogether(events, &done, &conflict));
    if (conflict) {
      // Somebody changed what one of them read: one by one, only that one is run again.
      ++context_.statistics.conflicts;
      for (size_t i = 0; i < done; ++i) RETURN_IF_ERROR(ProcessAlone(events[i]));
    }
    events = events.subspan(done);
  }
  return OkStatus();
}

// As many events as fit into one commit; `done` is how many those were.
Status Worker::ProcessTogether(std::span<const Event> events, size_t* done, bool* conflict) {
  db::Transaction transaction(context_.services.database, db::Isolation::kSnapshot);
  while (*done < events.size() && transaction.writes() < kMaxBatchWrites && !stopping()) {
    RETURN_IF_ERROR(EnsureHandler());
    // The isolate stays ours until it is spent or the commit is full.
    Handler::Turn turn(*handler_);
    while (*done < events.size() && transaction.writes() < kMaxBatchWrites && !handler_->spent()) {
      RunOne(turn, transaction, events[(*done)++]);
    }
  }
  if (*done == 0) return Error(Code::kUnavailable, "function.stopping", "the function stops");
  return Commit(transaction, events.first(*done), conflict);
}

Status Worker::ProcessAlone(const Event& event) {
  for (int attempt = 0; attempt < kMaxAttempts && !stopping(); ++attempt) {
    RETURN_IF_ERROR(EnsureHandler());
    db::Transaction transaction(context_.services.database, db::Isolation::kSnapshot);
    {
      Handler::Turn turn(*handler_);
      RunOne(turn, transaction, event);
    }
    bool conflict = false;
    RETURN_IF_ERROR(Commit(transaction, {&event, 1}, &conflict));
    if (!conflict) return OkStatus();
    ++context_.statistics.conflicts;
  }
  return Error(Code::kConflict, "function.conflict",
               "an event of document '{}' met a conflict {} times", event.key, kMaxAttempts);
}

void Worker::RunOne(Handler::Turn& turn, db::Transaction& transaction, const Event& event) {
  const size_t savepoint = transaction.Savepoint();
  const script::Outcome outcome = handler_->Run(turn, transaction, event);
  if (!outcome.ok()) transaction.RollbackTo(savepoint);
  Note(event, outcome);
}

void Worker::Note(const Event& event, const script::Outcome& outcome) {
  Statistics& statistics = context_.statistics;
  const bool update =
      event.operation == db::Operation::kInsert || event.operation == db::Operation::kUpdate;
  if (outcome.ok()) {
    ++(update ? statistics.on_update_success : statistics.on_delete_success);
    return;
  }
  ++(update ? statistics.on_update_failure : statistics.on_delete_failure);
  if (outcome.ended == script::Ended::kTimedOut) ++statistics.timeouts;
  context_.log(fmt::format("{} of document '{}' failed: {}{}", update ? "OnUpdate" : "OnDelete",
                           event.key, outcome.message,
                           outcome.stack.empty() ? "" : "\n" + outcome.stack));
}

Status Worker::EnsureHandler() {
  if (handler_ != nullptr && !handler_->spent()) return OkStatus();
  handler_.reset();
  script::Outcome failed;
  handler_ = Handler::Make(context_.services, context_.definition, context_.program, context_.log,
                           &failed);
  if (handler_ != nullptr) return OkStatus();
  return Error(Code::kInternal, "function.not_loaded", "the function can't be loaded: {}",
               failed.message);
}

// Adds the lanes' cursors and waits until it is durable. Refusals that pass (a full queue, a full
// disk) are waited out.
Status Worker::Commit(db::Transaction& transaction, std::span<const Event> events, bool* conflict) {
  std::array<const Event*, kLanes> last{};
  std::array<uint64_t, kLanes> counts{};
  for (const Event& event : events) {
    last[event.lane] = &event;
    ++counts[event.lane];
  }
  db::Commit commit = transaction.TakeCommit();
  commit.shard = context_.shard;
  commit.origin = context_.follower;
  for (uint16_t lane = 0; lane < kLanes; ++lane) {
    if (last[lane] == nullptr) continue;
    db::CursorState next = last[lane]->after;
    next.events = context_.cursors[lane].events + counts[lane];
    commit.cursor_moves.push_back(
        {{context_.follower, context_.shard, lane}, context_.cursors[lane], std::move(next)});
  }
  std::vector<db::CursorMove> moves = commit.cursor_moves;
  const db::CommitResult result = context_.services.database.Apply(std::move(commit));
  if (result.status.ok()) {
    for (db::CursorMove& move : moves) context_.cursors[move.cursor.lane] = std::move(move.next);
    ++context_.statistics.commits;
    return OkStatus();
  }
  if (result.status.id() == "cursor.moved") return result.status;  // somebody else has the function
  if (IsConflict(result.status)) {
    *conflict = true;
    return OkStatus();
  }
  if (!IsPassing(result.status)) return result.status;
  log::Warn("a function waits to commit",
            {{"function", context_.definition->name}, {"error", result.status.ToString()}});
  std::this_thread::sleep_for(kRetryPause);
  *conflict = true;  // run again: the transaction is gone
  return OkStatus();
}

}  // namespace sluice::function
