// Durable runs: how they begin together with a caller's commit, go on after a restart, leave the
// memory, are cancelled, and are left to another owner.
//
// LaunchAll puts the rows of all new runs into the caller's commit, so that the runs begin if and
// only if that is stored. A run that parks moves from LiveRuns to ParkedRuns; others that look for
// it meanwhile wait in LiveRuns::Find, so they find it in one of the two.
#include <set>

#include "base/check.h"
#include "base/log.h"
#include "flow/run_codec.h"
#include "flow_engine/durable_driver.h"
#include "flow_engine/engine.h"
#include "json/parse.h"

namespace sluice::flow_engine {

namespace {

// The shard is lost at this moment, or one of the runs is in memory already.
Status NotAdded(db::ShardId shard) {
  return ::sluice::Error(Code::kUnavailable, std::string(db::kNotOwner),
                         "runs of flows can't begin in shard {} now", shard);
}

}  // namespace

Result<std::vector<std::string>> Engine::LaunchAll(std::vector<Launch> launches,
                                                   db::Commit commit) {
  if (running_ + launches.size() > options_.max_runs || stopping_) {
    return ::sluice::Fail(Code::kOverloaded, "flow.overloaded",
                          "{} runs are in memory; at most {} may be", running_.load(),
                          options_.max_runs);
  }
  std::vector<LiveRunPtr> runs;
  std::vector<uint64_t> numbers;  // of their first commits
  std::vector<std::string> ids;
  for (Launch& launch : launches) {
    LiveRunPtr run =
        NewRun(launch.app, &launch.start, nullptr, launch.origin, launch.trace, {commit.shard});
    CHECK(run->is_durable() && database_.ShardOfKey(run->id) == commit.shard);
    const MutexLock lock(run->mutex);
    Outcome outcome =
        run->driver->OnEvent({.event = std::move(launch.start), .stored_first = true}, Now());
    CHECK(outcome.commits.size() == 1 && outcome.actions.empty());
    StoreRequest& request = outcome.commits.front();
    for (db::RowWrite& row : request.commit.rows) commit.rows.push_back(std::move(row));
    numbers.push_back(request.number);
    ids.push_back(run->id);
    runs.push_back(std::move(run));
  }
  // From here on they can be found, and cancelled.
  bool added = true;
  for (const LiveRunPtr& run : runs) {
    Count(*run);
    added = live_.Add(run) && added;
  }
  const Status status = added ? database_.Apply(std::move(commit)).status : NotAdded(commit.shard);
  if (!status.ok()) {
    for (const LiveRunPtr& run : runs) {
      live_.Remove(*run);
      Uncount(*run);
    }
    return Unexpected(status);
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    threads_.Post([this, run = runs[i], number = numbers[i]] {
      CarryOut(run, AskDriver(run, Now(), [&](RunDriver& driver, RunTime now) {
                 return driver.OnStored(number, {}, now);
               }));
    });
  }
  return ids;
}

Status Engine::Resume(std::shared_ptr<const App> app, StoredRun stored,
                      std::vector<GivenUpCall> given_up, Memory memory) {
  const RunHead head = stored.head;
  auto run = std::make_shared<LiveRun>(std::move(app), head.id, nullptr, answers_, files_);
  run->stays = memory == Memory::kStays;
  run->shard = database_.ShardOfKey(run->id);
  ASSIGN_OR_RETURN(const json::Value state, json::Parse(stored.machine.text));
  ASSIGN_OR_RETURN(flow::Run machine,
                   flow::DecodeRun(state, run->app->flows, run->app->files.get(), stored.input));
  // The clock was set back while no server ran: the remaining delays and limits stay as they were.
  const uint64_t now_ms = NowMs();
  if (stored.machine.at_ms > now_ms) {
    machine.Postpone(-static_cast<int64_t>(stored.machine.at_ms - now_ms));
  }
  run->cid = machine.state().cid;
  run->trace_id = machine.state().trace;
  run->origin = head.origin;
  MutexLock lock(run->mutex);
  answers_.BeginTrace(*run, head.flow, {.id = head.trace});
  const std::vector<flow::Call> open = machine.OpenCalls();
  if (run->trace != nullptr) {
    run->trace->Note(flow::Actions(open.begin(), open.end()), time_.MonotonicNs());
  }
  std::erase_if(given_up, [&](const GivenUpCall& each) {
    return std::ranges::find(open, each.call, &flow::Call::call) == open.end();
  });
  auto driver = std::make_unique<DurableDriver>(std::move(machine), std::move(stored),
                                                DurableOptions{.writer = NewWriter()}, *run, *run);
  run->durable = driver.get();
  run->driver = std::move(driver);
  lock.Unlock();
  if (stopping_ || !live_.Add(run)) return OkStatus();
  Count(*run);
  ++counts_.durable_resumed;
  threads_.Post([this, run, given_up = std::move(given_up)] {
    std::set<uint64_t> not_called;
    for (const GivenUpCall& each : given_up) not_called.insert(each.call);
    CarryOut(run, AskDriver(run, Now(), [&](RunDriver& /*driver*/, RunTime now) {
               run->mutex.AssertHeld();
               return run->durable->Resume(not_called, now);
             }));
    for (const GivenUpCall& each : given_up) {
      Happened(run, tasks_.FailureOf(run, each.call, 500, each.why));
    }
  });
  return OkStatus();
}

bool Engine::Cancel(const std::string& id) {
  const LiveRunPtr run = live_.Find(id);
  if (run == nullptr) return false;
  Happened(run, {.event = flow::Cancel{}});
  live_.WaitUntilGone(*run);
  const MutexLock lock(run->mutex);
  return run->driver->run().ended();
}

// A run leaves the memory when it only waits for a time that is far away and nobody waits for it.
void Engine::ParkIfPossible(const LiveRunPtr& run) {
  if (options_.park_after_ms == 0 || park_ == nullptr || stopping_ || run->stays) return;
  const auto can_park = [&]() REQUIRES(run->mutex) {
    return run->reply == nullptr && run->answer_by_ms == 0 && run->running.empty() &&
           run->own_streams.empty() && run->given_streams == nullptr &&
           run->durable->CanPark(NowMs() + options_.park_after_ms);
  };
  {
    const MutexLock lock(run->mutex);
    if (!can_park()) return;
  }
  uint64_t due_ms = 0;
  const auto leaves = [&] {
    const MutexLock lock(run->mutex);
    if (!can_park()) return false;
    due_ms = *run->driver->run().next_due_ms();
    run->durable->Park();
    timers_.Set(*run, std::nullopt);
    return true;
  };
  live_.HandOver(*run, leaves, [&] {
    Uncount(*run);
    park_(run->id, due_ms);
  });
}

void Engine::CloseShard(db::ShardId shard) {
  for (const LiveRunPtr& run : live_.Close(shard)) {
    {
      const MutexLock lock(run->mutex);
      run->durable->Leave();
      timers_.Set(*run, std::nullopt);
    }
    LeaveToOther(run);
  }
}

void Engine::LeaveToOther(const LiveRunPtr& run) {
  bool begun = false;
  {
    const MutexLock lock(run->mutex);
    begun = run->durable->is_stored();
  }
  if (begun) log::Info("a run goes on elsewhere: its shard has another owner", {{"run", run->id}});
  tasks_.StopAll(*run);
  const std::string says =
      begun ? fmt::format("Run {} of the flow goes on in another server", run->id)
            : "The flow was not started: another server owns its shard. Try again";
  answers_.Respond(*run, {.status = 503, .headers = {}, .body = json::Value(says)});
  Uncount(*run);
  live_.Remove(*run);
}

}  // namespace sluice::flow_engine
