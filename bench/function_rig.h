// A database with one JavaScript function, durable, and documents of 1 KB for it: what the
// benchmarks of functions measure.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"
#include "function/manager.h"
#include "query/engine.h"

namespace sluice::bench {

inline std::string Key(size_t n) { return "user::" + std::to_string(n); }

inline std::string Body(size_t n) {
  std::string body = R"({"type":"user","id":)" + std::to_string(n) + R"(,"items":[)";
  for (size_t i = 0; i < 8; ++i) {
    body += (i > 0 ? "," : "") + (R"({"name":"item )" + std::to_string(i * n)) +
            R"(","price":12.5,"tags":["river","gate"]})";
  }
  body += R"(],"text":")";
  while (body.size() < 1000) body += "lock gate ";
  return body + "\"}";
}

inline std::vector<std::string> Bodies(size_t count) {
  std::vector<std::string> bodies;
  for (size_t n = 0; n < count; ++n) bodies.push_back(Body(n));
  return bodies;
}

class FunctionRig {
 public:
  static constexpr size_t kBatch = 256;  // documents of a commit

  explicit FunctionRig(std::string path) : path_(std::move(path)) {
    Open();
    for (const char* bucket : {"src", "dst", "meta"})
      CHECK(database_->admin().CreateBucket(bucket).ok());
  }

  db::Database& database() { return *database_; }
  function::Manager& manager() { return *manager_; }

  void Deploy(const std::string& code, const std::string& name = "bench", uint32_t workers = 1) {
    function::Definition definition;
    definition.settings.worker_count = workers;
    definition.name = name;
    definition.code = code;
    definition.source = {.bucket = "src"};
    definition.metadata = {.bucket = "meta"};
    definition.buckets = {{"dst", {.bucket = "dst"}, true}};
    CHECK(manager_->Store(definition).ok());
    CHECK(manager_->Deploy(name).ok());
  }
  void Reopen() {
    manager_.reset();
    engine_.reset();
    database_.reset();
    Open();
  }

  // Events per second from resuming until all of a backlog is handled, with one worker.
  double BacklogRate(const std::vector<std::string>& bodies) {
    Settle();
    CHECK(manager_->Pause("bench").ok());
    Write(bodies);
    const uint64_t fired = TimersFired();
    const double began = Seconds();
    CHECK(manager_->Resume("bench").ok());
    Settle();
    if (makes_timers) {
      while (TimersFired() - fired < bodies.size()) Wait();
    }
    return static_cast<double>(bodies.size()) / (Seconds() - began);
  }
  // Each document of the backlog makes a timer, which is waited for too.
  bool makes_timers = false;

  void Write(const std::vector<std::string>& bodies) {
    const db::KeyspaceId keyspace = *database_->Resolve({.bucket = "src"});
    for (size_t n = 0; n < bodies.size();) {
      db::Commit commit;
      for (const size_t end = std::min(n + kBatch, bodies.size()); n < end; ++n) {
        commit.writes.push_back(db::PutWrite(keyspace, Key(n), db::Document{.body = bodies[n]}));
      }
      CHECK(database_->Apply(std::move(commit)).status.ok());
    }
  }
  void Settle() {
    while (!manager_->StatusOf("bench")->caught_up) Wait();
  }
  uint64_t TimersFired() {
    const auto statistics = *manager_->StatisticsOf("bench");
    return static_cast<uint64_t>(statistics["execution_stats"]["timer_callback_success"].AsInt());
  }
  static void Wait() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

 private:
  void Open() {
    auto opened = db::Database::Open(path_, {}, clock_);
    CHECK(opened.has_value());
    database_ = std::move(*opened);
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
    manager_ =
        std::make_unique<function::Manager>(function::Services{*database_, *engine_, clock_});
    CHECK(manager_->Start().ok());
  }

  const std::string path_;
  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<function::Manager> manager_;
};

}  // namespace sluice::bench
