// A server's functions over a database in a temporary directory, for tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "function/manager.h"
#include "function/test_progress.h"

namespace sluice::function {

// The machine's clock, but its wall time can be put forward.
class ForwardClock final : public Clock {
 public:
  uint64_t WallNs() const override { return system_.WallNs() + added_ns_.load(); }
  uint64_t MonotonicNs() const override { return system_.MonotonicNs(); }
  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 uint64_t until_ns) const override {
    system_.WaitUntil(condition, lock, until_ns);
  }
  void AddMs(uint64_t ms) { added_ns_ += ms * 1'000'000; }

 private:
  SystemClock system_;
  std::atomic<uint64_t> added_ns_{0};
};

class ManagerTest : public ::testing::Test {
 protected:
  explicit ManagerTest(uint16_t shards = 1) : shards_(shards) {
    std::string path = (std::filesystem::temp_directory_path() / "sluice_function_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    directory_ = path;
    Open();
    for (const char* bucket : {"src", "dst", "meta"})
      CHECK(database_->admin().CreateBucket(bucket).ok());
  }
  ~ManagerTest() override {
    Close();
    std::filesystem::remove_all(directory_);
  }

  void Open() {
    db::DatabaseOptions options;
    options.shards = shards_;
    options.durability = db::Durability::kNone;
    auto opened = db::Database::Open(directory_ / "data", options, clock_);
    CHECK(opened.has_value());
    database_ = std::move(*opened);
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
    Services services{*database_, *engine_, clock_};
    services.log_directory = directory_ / "data/logs/functions";
    services.limits = limits_;
    services.handlers_use_clock = true;
    services.progress = progress_.signal();
    services.hold = hold_;
    if (keeps_under_way_) under_way_ = std::move(*UnderWay::Open(directory_ / "under_way"));
    services.under_way = under_way_.get();
    manager_ = std::make_unique<Manager>(services);
    CHECK(manager_->Start().ok());
  }
  void Close() {
    manager_.reset();
    under_way_.reset();
    engine_.reset();
    database_.reset();
  }

  static Definition Function(const std::string& code) {
    Definition definition;
    definition.name = "f";
    definition.code = code;
    definition.source = {.bucket = "src"};
    definition.metadata = {.bucket = "meta"};
    definition.buckets = {{"src", {.bucket = "src"}, true}, {"dst", {.bucket = "dst"}, true}};
    return definition;
  }
  void Deploy(Definition definition) {
    ASSERT_TRUE(manager_->Store(definition).ok());
    const Status deployed = manager_->Deploy(definition.name);
    ASSERT_TRUE(deployed.ok()) << deployed.ToString();
  }
  void Deploy(const std::string& code) { Deploy(Function(code)); }

  void Put(const std::string& key, const std::string& body, const std::string& bucket = "src") {
    db::Commit commit;
    commit.shard = database_->ShardOfKey(key);
    commit.writes.push_back(
        db::PutWrite(*database_->Resolve({.bucket = bucket}), key, db::Document{.body = body}));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  void Delete(const std::string& key) {
    db::Commit commit;
    commit.shard = database_->ShardOfKey(key);
    commit.writes.push_back(db::DeleteWrite(*database_->Resolve({.bucket = "src"}), key));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  std::string Get(const std::string& key, const std::string& bucket = "dst") {
    const auto document = *database_->Get(*database_->Resolve({.bucket = bucket}), key);
    return document ? document->body : "-";
  }
  // Waits until everything that was written is handled.
  void Settle() {
    const auto ended = [this] {
      const auto status = manager_->StatusOf("f");
      return !status || !status->failure.empty() || status->caught_up;
    };
    ASSERT_TRUE(Await(ended)) << "the function does not catch up";
    ASSERT_TRUE(manager_->StatusOf("f"));
    ASSERT_EQ(manager_->StatusOf("f")->failure, "");
  }
  // Waits until `holds()`, which is asked after each step of a function.
  template <typename Predicate>
  bool Await(Predicate holds) {
    return progress_.Await(std::move(holds));
  }
  void AwaitState(const std::string& name, State state) {
    EXPECT_TRUE(Await([&] { return manager_->StatusOf(name)->state == state; }));
  }
  void AwaitCount(const char* group, const char* name, uint64_t count) {
    Await([&] { return Count(group, name) >= count; });
    EXPECT_EQ(Count(group, name), count) << name;
  }
  // Waits until the document is there, and returns it.
  std::string AwaitDocument(const std::string& key) {
    Await([&] { return Get(key) != "-"; });
    return Get(key);
  }
  // Puts the clock forward.
  void Advance(uint64_t ms) {
    clock_.AddMs(ms);
    manager_->ClockWasSet();
  }
  // Waits until the scheduler has handed out all timers that are due now, by the timer of another
  // function: the scheduler hands out the one that has been due longest first.
  void AwaitDueTimers() {
    const std::string key = "probe" + std::to_string(++probes_);
    Definition probe = Function(
        "function OnDeploy() { createTimer(Tick, new Date(), 'tick'); }\n"
        "function Tick() { dst." +
        key +
        " = 1; }\n"
        "function OnUpdate() {}");
    probe.name = "probe";
    probe.buckets.erase(probe.buckets.begin());  // two functions can't both change the source
    probe.settings.boundary = Boundary::kFromNow;
    Deploy(probe);
    EXPECT_EQ(AwaitDocument(key), "1");
    ASSERT_TRUE(manager_->Undeploy("probe").ok());
  }
  // The function's log, oldest line first, without times.
  std::vector<std::string> LogLines(const std::string& name = "f") {
    std::vector<std::string> lines = *manager_->Log(name, 1 << 20);
    std::ranges::reverse(lines);
    for (std::string& line : lines) line = std::string(TextOfRecord(line));
    return lines;
  }
  std::string LogText() {
    std::string text;
    for (const std::string& line : LogLines()) text += line + "\n";
    return text;
  }
  uint64_t Count(const char* group, const char* name) {
    const json::Value statistics = *manager_->StatisticsOf("f");
    return static_cast<uint64_t>(statistics[group][name].AsInt());
  }

  const uint16_t shards_;
  ForwardClock clock_;  // also of handlers
  Progress progress_;
  int probes_ = 0;
  std::filesystem::path directory_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
  // Of the next Open.
  InvocationLimits limits_;
  bool hold_ = false;
  bool keeps_under_way_ = false;
  std::unique_ptr<UnderWay> under_way_;
  std::unique_ptr<Manager> manager_;
};

// With one shard, and with several.
class ShardedManagerTest : public ManagerTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  ShardedManagerTest() : ManagerTest(GetParam()) {}
};

}  // namespace sluice::function
