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
    : options_(std::move(options)), sink_(options_.services.database) {}

Dispatcher::~Dispatcher() { Stop(); }

Result<std::unique_ptr<Dispatcher>> Dispatcher::Start(Options options) {
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(std::move(options)));
  RETURN_IF_ERROR(dispatcher->StartFollower());
  dispatcher->AddTimers();
  return dispatcher;
}

Status Dispatcher::StartFollower() {
  const uint32_t workers = options_.definition->settings.workers();
  std::vector<follow::ParallelFollower::Code> code;
  for (uint32_t i = 0; i < workers; ++i) {
    processors_.push_back(std::make_unique<FunctionProcessor>(ContextOfProcessors()));
    code.push_back({.processor = *processors_.back(), .failures = *processors_.back()});
  }
  ASSIGN_OR_RETURN(follower_,
                   follow::ParallelFollower::Start(
                       {.source = std::make_unique<follow::DatabaseSource>(
                            options_.services.database, options_.follower, options_.shard),
                        .sink = sink_,
                        .lanes = kLanes,
                        .lane_of = [](const db::Change& change) { return LaneOf(change.key); },
                        .make_event = [this](const db::Change& change, const db::CursorState& after)
                            -> Result<follow::EventPtr> { return EventFrom(change, after); },
                        .workers = std::move(code),
                        .reader_name = ThreadName{"fn feed", options_.definition->name},
                        .worker_name = ThreadName{"fn", options_.definition->name},
                        .failed = options_.failed,
                        .handled_all = [this] { options_.services.Progressed(); },
                        .borrower = &trap_,
                        .rest_after = kIdleIsolate}));
  options_.statistics.workers_started += workers;
  return OkStatus();
}

void Dispatcher::AddTimers() {
  timers_added_ = options_.timers.Add(
      options_.follower,
      [this](const timer::Timer& timer) {
        follow::EventPtr event = std::make_unique<Event>(EventOf(timer));
        return follower_->Offer(event);
      },
      options_.failed);
  retries_added_ = options_.timers.Add(
      failure::RetryOwner(options_.failures.owner()),
      [this](const timer::Timer& timer) {
        follow::EventPtr event = std::make_unique<Event>(RetryOf(timer));
        return follower_->Offer(event);
      },
      options_.failed);
}

ProcessorContext Dispatcher::ContextOfProcessors() const {
  return {.services = options_.services,
          .timers = options_.timers,
          .failures = options_.failures,
          .definition = options_.definition,
          .prepared = options_.prepared,
          .follower = options_.follower,
          .shard = options_.shard,
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
  debug_worker_ =
      std::make_unique<DebugWorker>(std::move(context), trap_, sink_, follower_->cursors());
}

void Dispatcher::StopDebugger() {
  const MutexLock lock(debug_mutex_);
  debug_worker_.reset();
}

void Dispatcher::RequestStop() {
  if (follower_ != nullptr) follower_->RequestStop();
}

void Dispatcher::Stop() {
  if (follower_ == nullptr) return;  // Start has failed
  RequestStop();
  options_.timers.Remove(options_.follower, timers_added_);
  options_.timers.Remove(failure::RetryOwner(options_.failures.owner()), retries_added_);
  {
    const MutexLock lock(debug_mutex_);
    stopping_ = true;
  }
  StopDebugger();
  follower_->Stop();
}

}  // namespace sluice::function
