#include "function/worker.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "function/debug_worker.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxQueued = 4096;
constexpr size_t kMaxQueuedTimers = 1024;  // room of their own, so that changes can't keep them out
constexpr size_t kMaxQueuedBytes = 32ull << 20;
constexpr size_t kMaxBatch = 512;
constexpr std::chrono::milliseconds kLongestBatch(20);
// Of an event that is not the first of its batch. One that takes longer is undone, so that what
// came before it can be committed, and run again as the first of the next.
constexpr uint64_t kLongestInBatchMs = 100;
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

// Somebody else has the function, or the database can't go on.
bool EndsFunction(const Status& status) {
  return status.id().starts_with("cursor.") || status.code() == Code::kUnavailable ||
         status.code() == Code::kCancelled || status.code() == Code::kInternal;
}

// What was not committed is run again when the function goes on.
Status Stopping() { return Error(Code::kUnavailable, "function.stopping", "the function stops"); }

}  // namespace

Worker::Worker(WorkerContext context, Start)
    : context_(std::move(context)),
      log_(context_.log, context_.services.clock),
      insight_(context_.insight, context_.services.clock),
      under_way_(context_.services.under_way, context_.definition->Location()),
      random_(context_.services.database.NewCas()),
      most_at_once_(kMaxBatch) {}

Worker::Worker(WorkerContext context) : Worker(std::move(context), Start::kLater) {
  thread_ = Thread({"fn", context_.definition->name}, [this] { Loop(); });
}

Worker::~Worker() { Stop(); }

void Worker::RequestStop() {
  {
    const std::lock_guard lock(mutex_);
    *stop_ = true;
  }
  wake_.notify_one();
}

void Worker::Stop() {
  RequestStop();
  if (thread_.joinable()) thread_.join();
  // What was dropped is read again by the next run.
  const std::lock_guard lock(mutex_);
  for (std::deque<Event>* const dropped : {&queue_, &aside_}) {
    for (const Event& event : *dropped) {
      if (event.timer) continue;
      --context_.statistics.backlog;
      context_.statistics.backlog_bytes -= event.bytes();
    }
    dropped->clear();
  }
  queued_bytes_ = 0;
  queued_timers_ = 0;
}

bool Worker::Offer(Event& event) {
  const std::lock_guard lock(mutex_);
  const size_t bytes = event.bytes();
  if (event.timer) {
    if (queued_timers_ >= kMaxQueuedTimers) return false;
    ++queued_timers_;
  } else if (queue_.size() + aside_.size() - queued_timers_ >= kMaxQueued ||
             (!queue_.empty() && queued_bytes_ + bytes > kMaxQueuedBytes)) {
    return false;
  }
  queued_bytes_ += bytes;
  queue_.push_back(std::move(event));
  if (queue_.size() == 1) wake_.notify_one();
  return true;
}

bool Worker::idle() const {
  const std::lock_guard lock(mutex_);
  return queue_.empty() && !held_lane_ && !busy_;
}

void Worker::Loop() {
  while (true) {
    Events events = Take();
    if (events.empty()) return;
    std::span<const Event> left = events;
    const Status processed = Process(&left);
    Finish(left);
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

void Worker::Finish(std::span<const Event> events) {
  std::vector<timer::Moment> timers;
  std::vector<timer::Moment> retries;
  uint64_t bytes = 0;
  for (const Event& event : events) {
    if (event.timer) {
      (event.retry ? retries : timers).push_back(*event.timer);
    } else {
      bytes += event.bytes();
    }
  }
  context_.statistics.backlog_bytes -= bytes;
  context_.statistics.backlog -= events.size() - timers.size() - retries.size();
  if (!timers.empty()) context_.timers.Done(context_.follower, timers);
  if (!retries.empty()) {
    context_.timers.Done(failure::RetryOwner(context_.failures.owner()), retries);
  }
}

// What has piled up; nobody waits for more. Empty when it is time to end.
Worker::Events Worker::Take() {
  Events events;
  std::unique_lock lock(mutex_);
  const auto news = [this] { return stopping() || !queue_.empty(); };
  if (handler_ != nullptr && !wake_.wait_for(lock, kIdleIsolate, news)) {
    lock.unlock();
    handler_.reset();
    lock.lock();
  }
  while (events.empty()) {
    wake_.wait(lock, news);
    if (stopping()) return events;
    while (!queue_.empty() && events.size() < kMaxBatch) TakeFront(&events);
  }
  busy_ = true;
  return events;
}

// Into the batch, unless the event goes to the debugger or waits for one that did.
void Worker::TakeFront(Events* events) {
  Event event = std::move(queue_.front());
  queue_.pop_front();
  if (held_lane_ == event.lane) return aside_.push_back(std::move(event));
  queued_bytes_ -= event.bytes();
  if (event.timer) --queued_timers_;
  // Only the first of a batch: those before it in its lane are done with.
  const uint16_t lane = event.lane;
  if (events->empty() && context_.trap != nullptr && context_.trap->Take(event, *this)) {
    held_lane_ = lane;
    return;
  }
  events->push_back(std::move(event));
}

void Worker::Release(std::optional<Event> event) {
  {
    const std::lock_guard lock(mutex_);
    held_lane_.reset();
    queue_.insert(queue_.begin(), std::make_move_iterator(aside_.begin()),
                  std::make_move_iterator(aside_.end()));
    aside_.clear();
    if (event) {
      queued_bytes_ += event->bytes();
      if (event->timer) ++queued_timers_;
      queue_.push_front(std::move(*event));
    }
    wake_.notify_one();
  }
  context_.drained();
}

Status Worker::Process(std::span<const Event>* events) {
  while (!events->empty()) {
    const follow::Turns::Turn turn(context_.turns);
    Tried tried;
    const size_t most = refused_ ? 1 : std::min(events->size(), most_at_once_);
    RETURN_IF_ERROR(ProcessTogether(events->first(most), &tried));
    if (!tried.refused.ok()) {
      RETURN_IF_ERROR(Refused(events->first(tried.events), tried, turn.alone()));
      continue;
    }
    Finish(events->first(tried.events));
    *events = events->subspan(tried.events);
    most_at_once_ = std::min(most_at_once_ * 2, kMaxBatch);
    attempts_ = 0;
    refused_.reset();
  }
  return OkStatus();
}

// As many events as fit into one commit.
Status Worker::ProcessTogether(std::span<const Event> events, Tried* tried) {
  Effects effects(context_.services.database, context_.follower, context_.failures.owner());
  bool end = false;
  const auto until = std::chrono::steady_clock::now() + kLongestBatch;
  size_t& done = tried->events;
  const auto more = [&] {
    return !end && done < events.size() && !effects.full() && !log_.full() && !stopping() &&
           (done == 0 || std::chrono::steady_clock::now() < until);
  };
  while (more()) {
    RETURN_IF_ERROR(EnsureHandler());
    // The isolate stays ours until it is spent or the commit is full.
    Handler::Turn turn(*handler_);
    while (more() && !handler_->spent()) {
      const Event& event = events[done];
      handler_->set_longest_ms(done > 0 && !event.retry ? kLongestInBatchMs : 0);
      const Effects::Savepoint before = effects.Mark();
      const size_t lines = log_.size();
      const Status ran = RunOne(turn, effects, event);
      if (handler_->cut_short()) {
        effects.UndoTo(before);
        log_.CutTo(lines);
        end = true;
        break;
      }
      RETURN_IF_ERROR(ran);
      ++done;
      // Somebody outside was called: what would be run again after a crash is kept short.
      end = handler_->called_out();
    }
  }
  if (done == 0) return Stopping();
  return Commit(effects, events.first(done), tried);
}

// They are run again. Whoever of the other workers writes the same is kept away first; if that does
// not help, fewer events together have a better chance. One that is refused alone for what it has
// done is a failure.
Status Worker::Refused(std::span<const Event> events, const Tried& tried, bool alone) {
  if (tried.passing) {
    std::this_thread::sleep_for(kRetryPause);
    return OkStatus();
  }
  const bool conflict = IsConflict(tried.refused);
  if (conflict) {
    ++context_.statistics.conflicts;
    context_.turns.Conflicted();
  }
  if (events.size() > 1) {
    if (alone || !conflict) most_at_once_ = events.size() / 2;
    return OkStatus();
  }
  if (conflict && ++attempts_ < kMaxAttempts) return OkStatus();
  if (refused_) return tried.refused;  // not even that it failed can be kept
  refused_.emplace();
  refused_->kind = kCommit;
  refused_->type = tried.refused.id();
  refused_->message = tried.refused.ToString();
  return OkStatus();
}

Status Worker::ProcessAlone(const Event& event) {
  attempts_ = 0;
  refused_.reset();
  for (int attempt = 0; attempt < kMaxAttempts && !stopping(); ++attempt) {
    Tried tried;
    RETURN_IF_ERROR(ProcessTogether({&event, 1}, &tried));
    if (tried.refused.ok()) return OkStatus();
    RETURN_IF_ERROR(Refused({&event, 1}, tried, true));
  }
  return Stopping();
}

Status Worker::RunOne(Handler::Turn& turn, Effects& effects, const Event& event) {
  insight_.Begin();
  if (event.retry) return RunRetry(turn, effects, event);
  return event.timer ? RunTimer(turn, effects, event) : RunChange(turn, effects, event);
}

Worker::Attempted Worker::Ended(Effects& effects, const Effects::Savepoint& savepoint,
                                const script::Outcome& outcome) {
  under_way_.End();
  if (handler_->interrupted() || handler_->cut_short()) return Unexpected(Stopping());
  if (outcome.ok()) return std::nullopt;
  effects.RollbackTo(savepoint);
  return ProblemOf(outcome);
}

Worker::Attempted Worker::Try(Handler::Turn& turn, Effects& effects, const Event& event) {
  if (refused_) return *refused_;
  if (!event.unreadable.empty()) {
    failure::Problem problem;
    problem.kind = kUnreadable;
    problem.message = event.unreadable;
    return problem;
  }
  const Effects::Savepoint savepoint = effects.Mark();
  under_way_.Begin(UnderWay::Kind::kDocument, event.sequence, event.key);
  return Ended(effects, savepoint, handler_->Run(turn, effects, event));
}

Worker::Attempted Worker::Try(Handler::Turn& turn, Effects& effects, const timer::Timer& timer) {
  if (refused_) return *refused_;
  if (!handler_->HasCallback(turn, timer.callback)) {
    failure::Problem problem;
    problem.kind = kMissing;
    problem.message = fmt::format("the function has no callback '{}'", timer.callback);
    return problem;
  }
  const Effects::Savepoint savepoint = effects.Mark();
  under_way_.Begin(UnderWay::Kind::kTimer, timer.moment.id, timer.reference);
  return Ended(effects, savepoint, handler_->RunTimer(turn, effects, timer));
}

void Worker::Log(Effects::Counts& counts, std::string_view what, const failure::Problem& problem) {
  if (problem.kind == kTimeout) ++counts.timeouts;
  insight_.AddError(static_cast<int>(problem.line), problem.message);
  log_.Add(LogLevel::kError, fmt::format("{} failed: {}{}", what, problem.message,
                                         problem.stack.empty() ? "" : "\n" + problem.stack));
}

Status Worker::RunChange(Handler::Turn& turn, Effects& effects, const Event& event) {
  ASSIGN_OR_RETURN(std::optional<failure::Problem> problem, Try(turn, effects, event));
  Effects::Counts& counts = effects.counts();
  const bool update = HasDocument(event.operation);
  if (!problem) {
    ++(update ? counts.on_update_success : counts.on_delete_success);
    return OkStatus();
  }
  ++(update ? counts.on_update_failure : counts.on_delete_failure);
  Log(counts, fmt::format("{} of document '{}'", HandlerOf(event), event.key), *problem);
  const auto catalog = context_.services.database.catalog();
  const db::KeyspaceInfo* keyspace = catalog->Find(event.keyspace);
  const db::KeyspaceName& name = keyspace == nullptr ? context_.definition->source : keyspace->name;
  return Keep(effects, event.key, KeptEvent(event, name), std::move(*problem));
}

// The timer ends whatever its callback does. One that was cancelled, replaced or run since it was
// handed out is not there any more.
Status Worker::RunTimer(Handler::Turn& turn, Effects& effects, const Event& event) {
  ASSIGN_OR_RETURN(const std::optional<timer::Timer> timer, effects.timers().Take(*event.timer));
  if (!timer) return OkStatus();
  ++effects.counts().timers_due;
  ASSIGN_OR_RETURN(std::optional<failure::Problem> problem, Try(turn, effects, *timer));
  if (!problem) {
    ++effects.counts().callback_success;
    return OkStatus();
  }
  ++(problem->kind == kMissing ? effects.counts().callback_missing
                               : effects.counts().callback_failure);
  Log(effects.counts(), fmt::format("timer '{}'", event.key), *problem);
  return Keep(effects, event.key, KeptEvent(*timer), std::move(*problem));
}

Status Worker::EnsureHandler() {
  if (handler_ != nullptr && !handler_->spent()) return OkStatus();
  if (handler_ != nullptr) ++context_.statistics.isolates_replaced;
  handler_.reset();
  script::Outcome failed;
  handler_ = Handler::Make(
      context_.services, context_.definition, context_.prepared.program,
      [this](std::string_view line) { log_.Add(LogLevel::kInfo, line); }, &failed,
      context_.inspector, stop_);
  if (handler_ != nullptr) {
    handler_->Attach(context_.statistics, insight_);
    return OkStatus();
  }
  if (stopping()) return Stopping();
  return Error(Code::kInternal, "function.not_loaded", "the function can't be loaded: {}",
               failed.message);
}

// Of the lanes whose changes were handled. Timers move none: the lane may be the dispatcher's.
std::vector<db::CursorMove> Worker::CursorMoves(std::span<const Event> events) const {
  std::array<const Event*, kLanes> last{};
  std::array<uint64_t, kLanes> counts{};
  for (const Event& event : events) {
    if (event.timer) continue;
    last[event.lane] = &event;
    ++counts[event.lane];
  }
  std::vector<db::CursorMove> moves;
  for (uint16_t lane = 0; lane < kLanes; ++lane) {
    if (last[lane] == nullptr) continue;
    db::CursorState next = last[lane]->after;
    next.events = context_.cursors[lane].events + counts[lane];
    moves.push_back(
        {{context_.follower, context_.shard, lane}, context_.cursors[lane], std::move(next)});
  }
  return moves;
}

void Worker::Committed(const Effects::Counts& counts,
                       const std::optional<uint64_t>& earliest_timer_ms) {
  Statistics& statistics = context_.statistics;
  ++statistics.commits;
  statistics.on_update_success += counts.on_update_success;
  statistics.on_update_failure += counts.on_update_failure;
  statistics.on_delete_success += counts.on_delete_success;
  statistics.on_delete_failure += counts.on_delete_failure;
  statistics.timeouts += counts.timeouts;
  statistics.timers_created += counts.timers_created;
  statistics.timers_cancelled += counts.timers_cancelled;
  statistics.timer_contexts_too_large += counts.contexts_too_large;
  statistics.timers_due += counts.timers_due;
  statistics.timer_success += counts.callback_success;
  statistics.timer_failure += counts.callback_failure;
  statistics.timer_callback_missing += counts.callback_missing;
  statistics.retry_success += counts.retry_success;
  statistics.retry_failure += counts.retry_failure;
  if (earliest_timer_ms) context_.timers.Created(context_.follower, *earliest_timer_ms);
}

// Adds the lanes' cursors and waits until it is durable.
Status Worker::Commit(Effects& effects, std::span<const Event> events, Tried* tried) {
  const std::optional<uint64_t> earliest_timer_ms = effects.timers().earliest_ms();
  const std::optional<uint64_t> earliest_retry_ms = effects.failures().earliest_ms();
  db::Commit commit = effects.TakeCommit();
  commit.shard = context_.shard;
  commit.origin = context_.follower;
  commit.actor = "function:" + context_.definition->name;
  commit.cursor_moves = CursorMoves(events);
  std::vector<db::CursorMove> moves = commit.cursor_moves;
  const db::CommitResult result = context_.services.database.Apply(std::move(commit));
  if (result.status.ok()) {
    for (db::CursorMove& move : moves) context_.cursors[move.cursor.lane] = std::move(move.next);
    Committed(effects.counts(), earliest_timer_ms);
    log_.Release();
    insight_.Release();
    FailuresCommitted(effects.failures().change(), earliest_retry_ms);
    return OkStatus();
  }
  log_.Drop();
  insight_.Drop();
  if (EndsFunction(result.status)) return result.status;
  tried->refused = result.status;
  tried->passing = IsPassing(result.status);
  if (tried->passing) {
    ++context_.statistics.commit_failures;
    log::Warn("a function waits to commit",
              {{"function", context_.definition->name}, {"error", result.status.ToString()}});
  }
  return OkStatus();
}

}  // namespace sluice::function
