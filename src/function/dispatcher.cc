#include "function/dispatcher.h"

#include <utility>

namespace sluice::function {
namespace {

// After this time without events a worker drops its isolate, which takes about two megabytes and is
// made again in a few milliseconds.
constexpr std::chrono::seconds kIdleIsolate(10);

// Whether the document is Sync Gateway's own. Attachments are users' data.
bool IsSyncDocument(std::string_view key) {
  return key.starts_with("_sync:") && !key.starts_with("_sync:att");
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

Dispatcher::Dispatcher(Options options)
    : options_(std::move(options)), sink_(options_.services.database), follower_(MakeFollower()) {}

Dispatcher::~Dispatcher() { Stop(); }

std::unique_ptr<follow::ParallelFollower> Dispatcher::MakeFollower() {
  const uint32_t workers = options_.definition->settings.workers();
  std::vector<follow::ParallelFollower::Code> code;
  for (uint32_t i = 0; i < workers; ++i) {
    processors_.push_back(std::make_unique<FunctionProcessor>(ContextOfProcessors()));
    code.push_back({.processor = *processors_.back(), .failures = *processors_.back()});
  }
  options_.statistics.workers_started += workers;
  return std::make_unique<follow::ParallelFollower>(follow::ParallelFollower::Options{
      .sink = sink_,
      .rules = {.lanes = kLanes,
                .lane_of = [](const db::Change& change) { return LaneOf(change.key); },
                .make_event = [this](const db::Change& change, const db::CursorState& after)
                    -> Result<follow::EventPtr> { return EventFrom(change, after); }},
      .workers = std::move(code),
      .reader_name = ThreadName{"fn feed", options_.definition->name},
      .worker_name = ThreadName{"fn", options_.definition->name},
      .failed = [this](db::ShardId shard, const Status& status) { Failed(shard, status); },
      .handled_all = [this] { options_.services.Progressed(); },
      .borrower = &trap_,
      .rest_after = kIdleIsolate});
}

// --- shards -------------------------------------------------------------------------------------

Status Dispatcher::Follow(db::ShardId shard) {
  RETURN_IF_ERROR(follower_->Follow(std::make_unique<follow::DatabaseSource>(
      options_.services.database, options_.follower, shard)));
  followed_.emplace(shard, AddTimers(shard));
  return OkStatus();
}

void Dispatcher::RequestLeave(db::ShardId shard) {
  const auto found = followed_.find(shard);
  if (found == followed_.end()) return;
  RemoveTimers(shard, found->second);
  follower_->RequestLeave(shard);
}

void Dispatcher::Leave(db::ShardId shard) {
  RequestLeave(shard);
  if (followed_.erase(shard) == 0) return;
  // No worker lends an event of the shard any more.
  if (trap_.HasEventOf(shard)) StopDebugger();
  follower_->Leave(shard);
  failures_.Lock()->erase(shard);
}

void Dispatcher::Failed(db::ShardId shard, const Status& status) {
  failures_.Lock()->insert_or_assign(shard, status.ToString());
  options_.failed(shard, status);
}

std::string Dispatcher::failure() const {
  const auto failures = failures_.Lock();
  return failures->empty() ? "" : failures->begin()->second;
}

Dispatcher::Added Dispatcher::AddTimers(db::ShardId shard) {
  const auto failed = [this, shard](const Status& status) { Failed(shard, status); };
  Added added;
  added.timers = options_.timers.Add(
      options_.follower, shard,
      [this](const timer::Timer& timer) {
        follow::EventPtr event = std::make_unique<Event>(EventOf(timer));
        return follower_->Offer(event);
      },
      failed);
  added.retries = options_.timers.Add(
      failure::RetryOwner(options_.failures.owner()), shard,
      [this](const timer::Timer& timer) {
        follow::EventPtr event = std::make_unique<Event>(RetryOf(timer));
        return follower_->Offer(event);
      },
      failed);
  return added;
}

void Dispatcher::RemoveTimers(db::ShardId shard, const Added& added) {
  options_.timers.Remove(options_.follower, shard, added.timers);
  options_.timers.Remove(failure::RetryOwner(options_.failures.owner()), shard, added.retries);
}

ProcessorContext Dispatcher::ContextOfProcessors() const {
  return {.services = options_.services,
          .timers = options_.timers,
          .failures = options_.failures,
          .definition = options_.definition,
          .prepared = options_.prepared,
          .follower = options_.follower,
          .statistics = options_.statistics,
          .log = options_.log,
          .insight = options_.insight};
}

// Runs on the reader's thread.
follow::EventPtr Dispatcher::EventFrom(const db::Change& change, const db::CursorState& after) {
  Statistics& statistics = options_.statistics;
  if (change.origin == options_.follower) {
    ++(change.after ? statistics.updates_suppressed : statistics.deletions_suppressed);
    return nullptr;
  }
  const Settings& settings = options_.definition->settings;
  if ((!settings.sync_documents && IsSyncDocument(change.key)) ||
      (!HearsBinary(settings) && IsBinary(change))) {
    ++(change.after ? statistics.updates_filtered : statistics.deletions_filtered);
    return nullptr;
  }
  auto event = std::make_unique<Event>(EventOf(change, after, settings.previous));
  ++statistics.backlog;
  statistics.backlog_bytes += event->bytes;
  statistics.bytes_given += event->body.size();
  ++(event->operation == db::Operation::kExpire   ? statistics.expiries_given
     : event->operation == db::Operation::kDelete ? statistics.deletions_given
                                                  : statistics.updates_given);
  options_.services.Progressed();
  return event;
}

void Dispatcher::StartDebugger(std::shared_ptr<const js::Program> program,
                               std::shared_ptr<js::Inspector> inspector) {
  StopDebugger();
  const MutexLock lock(debug_mutex_);
  if (stopping_) return inspector->Close();
  ProcessorContext context = ContextOfProcessors();
  context.prepared.program = std::move(program);
  context.inspector = std::move(inspector);
  debug_worker_ = std::make_unique<DebugWorker>(std::move(context), trap_, sink_, *follower_);
}

void Dispatcher::StopDebugger() {
  const MutexLock lock(debug_mutex_);
  debug_worker_.reset();
}

void Dispatcher::RequestStop() { follower_->RequestStop(); }

void Dispatcher::Stop() {
  RequestStop();
  for (const auto& [shard, added] : followed_) RemoveTimers(shard, added);
  followed_.clear();
  {
    const MutexLock lock(debug_mutex_);
    stopping_ = true;
  }
  StopDebugger();
  follower_->Stop();
}

}  // namespace sluice::function
