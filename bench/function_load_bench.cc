// JavaScript functions under what a server meets: how long an effect takes at half of the possible
// load, a million documents that are there before a deployment, a million timers that wait while
// others fire, a thousand functions.
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/function_rig.h"
#include "db/feed.h"
#include "function/dispatcher.h"
#include "js/engine.h"
#include "timer/write_set.h"

namespace sluice::bench {
namespace {

constexpr size_t kBacklog = 20'000;
constexpr size_t kMillion = 1'000'000;
constexpr double kLoadSeconds = 4;
constexpr size_t kFunctions = 1000;
constexpr std::string_view kCopy =
    "function OnUpdate(doc, meta) { dst[meta.id] = {id: doc.id, n: 1}; }";

// --- from commit to effect ---

// Sees the copies that the function makes, when they are committed.
class Effects {
 public:
  explicit Effects(db::Database& database)
      : database_(database),
        keyspace_(*database.Resolve({.bucket = "dst"})),
        token_(*database.followers().FollowTransiently(keyspace_)),
        listener_(database.followers().OnCommitted(0, [this](const db::Committed&) { Wake(); })),
        thread_([this] { Loop(); }) {}
  ~Effects() {
    stopping_ = true;
    Wake();
    thread_.join();
  }
  std::vector<std::pair<std::string, double>> Take() {
    const std::lock_guard lock(mutex_);
    return std::move(seen_);
  }

 private:
  void Wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    wake_.notify_one();
  }
  void Loop() {
    db::Feed feed(
        database_, 0, {keyspace_},
        *db::Feed::StartAfter(database_, 0, {keyspace_}, database_.followers().LastSequence(0)));
    while (!stopping_) {
      const auto read = feed.Read(1000, [&](const db::Change& change) {
        const std::lock_guard lock(mutex_);
        seen_.emplace_back(change.key, Seconds());
        return true;
      });
      CHECK(read.has_value());
      std::unique_lock lock(mutex_);
      if (*read == 0) wake_.wait(lock, [this] { return woken_; });
      woken_ = false;
    }
  }

  db::Database& database_;
  const db::KeyspaceId keyspace_;
  const std::shared_ptr<void> token_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;                                // guarded by mutex_
  std::vector<std::pair<std::string, double>> seen_;  // guarded by mutex_
  const std::shared_ptr<void> listener_;
  std::thread thread_;
};

void BenchLatency(const std::string& directory) {
  FunctionRig rig(directory);
  rig.Deploy(std::string(kCopy));
  const std::vector<std::string> bodies = Bodies(kBacklog);
  rig.BacklogRate(bodies);
  const double rate = rig.BacklogRate(bodies) / 2;
  const db::KeyspaceId source = *rig.database().Resolve({.bucket = "src"});
  const auto total = static_cast<size_t>(rate * kLoadSeconds);
  std::vector<double> committed(total);
  std::vector<double> latencies;
  {
    Effects effects(rig.database());
    const double began = Seconds();
    for (size_t n = 0; n < total;) {
      // What is due by now, in one commit, as a group of clients would have it.
      const auto due = std::min(total, static_cast<size_t>((Seconds() - began) * rate));
      if (due == n) {
        FunctionRig::Wait();
        continue;
      }
      db::Commit commit;
      const size_t first = n;
      for (; n < due && n - first < FunctionRig::kBatch; ++n) {
        commit.writes.push_back(
            db::PutWrite(source, "load" + std::to_string(n), {.body = bodies[n % kBacklog]}));
      }
      CHECK(rig.database().Apply(std::move(commit)).status.ok());
      for (size_t i = first; i < n; ++i) committed[i] = Seconds();
    }
    rig.Settle();
    for (int i = 0; i < 5000 && latencies.size() < total; ++i) {
      FunctionRig::Wait();
      for (const auto& [key, at] : effects.Take()) {
        latencies.push_back(std::max(0.0, at - committed[std::stoul(key.substr(4))]) * 1000);
      }
    }
  }
  CHECK(latencies.size() == total);
  const std::string load = " at " + std::to_string(static_cast<int>(rate)) + " events/s, half load";
  ReportValue("function, bktop, commit to effect, median" + load, Median(latencies), "ms");
  ReportValue("function, bktop, commit to effect, p99" + load, Percentile(latencies, 0.99), "ms");
}

// --- deployed over what is there ---

void BenchEverything(const std::string& directory) {
  FunctionRig rig(directory);
  constexpr std::string_view kNothing = "function OnUpdate(doc, meta) {}";
  rig.Deploy(std::string(kNothing));
  const std::vector<std::string> bodies = Bodies(kBacklog);
  rig.BacklogRate(bodies);
  std::vector<double> live;
  for (int i = 0; i < 3; ++i) live.push_back(rig.BacklogRate(bodies));
  CHECK(rig.manager().Undeploy("bench").ok());
  const db::KeyspaceId source = *rig.database().Resolve({.bucket = "src"});
  for (size_t n = 0; n < kMillion;) {
    db::Commit commit;
    for (size_t i = 0; i < FunctionRig::kBatch && n < kMillion; ++i, ++n) {
      commit.writes.push_back(db::PutWrite(source, Key(n), {.body = bodies[n % kBacklog]}));
    }
    CHECK(rig.database().Apply(std::move(commit)).status.ok());
  }
  const double began = Seconds();
  CHECK(rig.manager().Deploy("bench").ok());
  rig.Settle();
  const double rate = kMillion / (Seconds() - began);
  Report("function, noop, deployed over 1M documents", {rate, Median(live), rate / Median(live)},
         "events/s", "noop of the same run, over a backlog in the log", "1");
}

// --- timers ---

// 32 digits that do not compress, as a real reference or token.
std::string Token(size_t n) {
  std::mt19937_64 random(n);
  return fmt::format("{:016x}{:016x}", random(), random());
}

void MakeTimers(FunctionRig& rig, size_t count, const std::string& callback, uint64_t first_ms,
                double per_ms) {
  const std::string owner = function::FollowerOf(*rig.manager().Find("bench"));
  for (size_t n = 0; n < count;) {
    timer::WriteSet timers(rig.database(), db::ShardId{0}, owner);
    for (size_t i = 0; i < 1024 && n < count; ++i, ++n) {
      const uint64_t due = first_ms + static_cast<uint64_t>(static_cast<double>(n) / per_ms);
      const std::string reference = callback + std::to_string(n);
      CHECK(timers
                .Create({callback,
                         reference,
                         {due, rig.database().NewCas()},
                         fmt::format(R"({{"id":"{}","due":{},"token":"{}"}})", reference, due,
                                     Token(n))})
                .ok());
    }
    db::Commit commit;
    timers.MoveTo(&commit);
    CHECK(rig.database().Apply(std::move(commit)).status.ok());
  }
}

uint64_t NowMs() { return SystemClock().WallMs(); }

double TableBytes(const std::string& directory) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".sst") bytes += static_cast<double>(entry.file_size());
  }
  return bytes;
}

void BenchTimers(const std::string& directory) {
  FunctionRig rig(directory);
  rig.Deploy(
      "function OnUpdate(doc, meta) {} function Later(context) {}\n"
      "function Fire(context) { dst[context.id] = Date.now() - context.due; }");
  rig.Settle();
  CHECK(rig.manager().Pause("bench").ok());
  rig.Reopen();  // closing flushes
  const double before = TableBytes(directory);
  MakeTimers(rig, kMillion, "Later", NowMs() + 3'600'000, 100);
  rig.Reopen();  // closing flushes
  ReportValue("function, 1M pending timers, each on disk",
              (TableBytes(directory) - before) / kMillion, "bytes", "<= 300");

  MakeTimers(rig, kBacklog, "Fire", NowMs(), 1e9);
  const double began = Seconds();
  CHECK(rig.manager().Resume("bench").ok());
  while (rig.TimersFired() < kBacklog) FunctionRig::Wait();
  const double per_ms = kBacklog / (Seconds() - began) / 1000 / 2;
  CHECK(rig.manager().Pause("bench").ok());

  const auto count = static_cast<size_t>(per_ms * 1000 * kLoadSeconds);
  const uint64_t first_ms = NowMs() + 2000 + count / 20;  // they are made before that
  MakeTimers(rig, count, "Fire", first_ms, per_ms);
  CHECK(rig.manager().Resume("bench").ok());
  CHECK(NowMs() < first_ms);
  while (rig.TimersFired() < kBacklog + count) FunctionRig::Wait();
  const db::KeyspaceId target = *rig.database().Resolve({.bucket = "dst"});
  std::vector<double> late;
  for (size_t n = 0; n < count; ++n) {
    late.push_back(std::stod((*rig.database().Get(target, "Fire" + std::to_string(n)))->body));
    CHECK(late.back() >= 0);  // never early
  }
  const std::string load =
      " at " + std::to_string(static_cast<int>(per_ms * 1000)) + " timers/s, half load, 1M pending";
  ReportValue("function, timer fired after due, median" + load, Median(late), "ms");
  ReportValue("function, timer fired after due, p99" + load, Percentile(late, 0.99), "ms", "<= 50");
}

// --- many functions ---

double ResidentMb() {
  size_t total = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

void BenchMany(const std::string& directory) {
  FunctionRig rig(directory);
  const double before = ResidentMb();
  std::vector<double> times;
  for (size_t n = 0; n < kFunctions; ++n) {
    const double began = Seconds();
    rig.Deploy(std::string(kCopy), "f" + std::to_string(n));
    times.push_back((Seconds() - began) * 1000);
  }
  ReportValue("function, deploy of a small one, median of 1000", Median(times), "ms", "<= 50");
  ReportValue("function, deploy of a small one, p99 of 1000", Percentile(times, 0.99), "ms");
  ReportValue("function, memory of 1000 idle ones", ResidentMb() - before, "MB");
}

}  // namespace
}  // namespace sluice::bench

int main() {
  using namespace sluice::bench;
  const std::string directory =
      (std::filesystem::current_path() / "build" / "bench-function-load").string();
  for (const auto& bench : {BenchMany, BenchLatency, BenchTimers, BenchEverything}) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    sync();  // what the one before wrote is not this one's to wait for
    // Each in a process of its own, so that it has memory of its own.
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      bench(directory);
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0) return 1;
  }
  std::filesystem::remove_all(directory);
  return 0;
}
