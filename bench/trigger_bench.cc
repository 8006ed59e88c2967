// Tables and triggers inside one process, durable, as in Comdb2's manual: rows inserted by
// statements of 100, events of its audit trigger over a backlog, and the time from a commit's
// acknowledgement until the audit has the row. The yardstick is what the same database can commit
// durably with as many in flight.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"
#include "procedure/manager.h"
#include "procedure/test_audit.h"
#include "query/engine.h"

namespace sluice::bench {
namespace {

constexpr size_t kRowsOfStatement = 100;
constexpr size_t kClients = 4;
constexpr int kRounds = 3;
constexpr int kLatencySamples = 400;
constexpr double kRoundSeconds = 1;

class TriggerRig {
 public:
  explicit TriggerRig(const std::string& path) {
    auto opened = db::Database::Open(path, {}, clock_);
    CHECK(opened.has_value());
    database_ = std::move(*opened);
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
    manager_ = std::make_unique<procedure::Manager>(*engine_, procedure::ManagerOptions{});
    CHECK(manager_->Start().ok());
    CHECK(database_->admin().CreateBucket("plain").ok());
    plain_ = *database_->Resolve({.bucket = "plain"});
    Run("CREATE TABLE t(i int, j int)");
    Run("CREATE TABLE audit(type cstring(4), tbl cstring(64), logtime datetime, i int, j int, "
        "old_i int, old_j int)");
    Run(procedure::AuditProcedure());
  }

  void Run(const std::string& statement) {
    auto run = engine_->Query(statement, {}, {});
    CHECK(run.has_value());
    while ((*run)->Next()) {
    }
    CHECK((*run)->status().ok());
  }
  void MakeTrigger() {
    Run("CREATE LUA TRIGGER audit ON (TABLE t FOR INSERT AND UPDATE AND DELETE)");
  }
  procedure::Triggers& triggers() { return manager_->triggers(); }
  uint64_t handled() { return triggers().ProgressOf("audit")->handled; }

  void InsertRows(size_t rows) {
    for (size_t at = 0; at < rows; at += kRowsOfStatement) {
      std::string statement = "INSERT INTO t VALUES ";
      for (size_t n = 0; n < kRowsOfStatement; ++n) {
        statement += (n > 0 ? ",(" : "(") + std::to_string(at + n) + "," + std::to_string(n) + ")";
      }
      Run(statement);
    }
  }
  void CommitOne(size_t n) {
    db::Commit commit;
    commit.writes.push_back(
        db::PutWrite(plain_, std::to_string(n), db::Document{.body = R"({"n":1})"}));
    CHECK(database_->Apply(std::move(commit)).status.ok());
  }

 private:
  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<procedure::Manager> manager_;
  db::KeyspaceId plain_ = 0;
};

// What `step` does a second, by so many threads.
double RateOf(size_t threads, const std::function<size_t(size_t thread)>& step) {
  std::atomic<size_t> done{0};
  std::vector<std::thread> running;
  const double began = Seconds();
  for (size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      while (Seconds() - began < kRoundSeconds) done += step(thread);
    });
  }
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(done) / (Seconds() - began);
}

void MeasureInserts(TriggerRig& rig, size_t clients, const char* goal) {
  std::vector<double> rows;
  std::vector<double> commits;
  for (int round = 0; round < kRounds; ++round) {
    commits.push_back(RateOf(clients, [&](size_t thread) {
      rig.CommitOne(thread);
      return 1;
    }));
    rows.push_back(RateOf(clients, [&](size_t) {
      rig.InsertRows(kRowsOfStatement);
      return kRowsOfStatement;
    }));
  }
  const std::string name = "table rows inserted, 100 a statement, " + std::to_string(clients) +
                           (clients == 1 ? " client" : " clients");
  const std::string yardstick = "durable commits/s, as many in flight";
  const double commit_rate = Median(commits);
  Report(name, {Median(rows), commit_rate, Median(rows) / commit_rate}, "rows/s", yardstick, "");
  if (*goal != '\0') ReportValue(name, Median(rows), "rows/s", goal);
}

void MeasureEvents(TriggerRig& rig, size_t events) {
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    CHECK(rig.triggers().Hold("audit", true).ok());
    rig.InsertRows(events);
    const uint64_t before = rig.handled();
    const double began = Seconds();
    CHECK(rig.triggers().Hold("audit", false).ok());
    while (rig.handled() - before < events) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    rates.push_back(static_cast<double>(events) / (Seconds() - began));
  }
  ReportValue("trigger events to an audit table, a backlog", Median(rates), "events/s", ">= 30000");
}

void MeasureLatency(TriggerRig& rig) {
  std::vector<double> waits;
  std::vector<double> commits;
  for (int n = 0; n < kLatencySamples; ++n) {
    const uint64_t before = rig.handled();
    rig.Run("INSERT INTO t VALUES (1, 2)");
    const double acknowledged = Seconds();
    while (rig.handled() == before) std::this_thread::yield();
    waits.push_back((Seconds() - acknowledged) * 1000);
    const double began = Seconds();
    rig.CommitOne(0);
    commits.push_back((Seconds() - began) * 1000);
  }
  ReportValue("trigger, commit acknowledged to effect durable, median", Median(waits), "ms",
              "<= 0.5");
  ReportValue("trigger, commit acknowledged to effect durable, p99", Percentile(waits, 0.99), "ms");
  ReportValue("one durable commit, median", Median(commits), "ms");
}

void Main(bool full) {
  const auto path = std::filesystem::current_path() / "build" / "bench-triggers";
  std::filesystem::remove_all(path);
  {
    TriggerRig rig(path.string());
    MeasureInserts(rig, 1, "");
    MeasureInserts(rig, kClients, ">= 120000");
    rig.MakeTrigger();
    MeasureEvents(rig, full ? 200'000 : 40'000);
    MeasureLatency(rig);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  sluice::bench::Main(argc > 1 && std::string_view(argv[1]) == "--full");
  return 0;
}
