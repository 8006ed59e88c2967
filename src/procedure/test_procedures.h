// A database with an engine and procedures, and statements as text.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/signal.h"
#include "db/test_database.h"
#include "json/print.h"
#include "procedure/manager.h"

namespace sluice::procedure {

class ProceduresTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    Begin();
  }
  void TearDown() override {
    manager_.reset();
    engine_.reset();
  }
  void Begin() {
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions());
    ManagerOptions options;
    options.limits.instructions = 2'000'000;
    options.limits.clock = lua_clock_;
    manager_ = std::make_unique<Manager>(*engine_, options);
    const Status started = manager_->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  void Restart() {
    manager_.reset();
    engine_.reset();
    Reopen();
    Begin();
  }

  // The rows, one a line, or the error.
  std::string Ask(std::string_view statement, query::RunRequest request = {}) {
    auto run = engine_->Query(statement, {}, std::move(request));
    if (!run) return "error " + run.error().id() + ": " + run.error().message();
    std::string text;
    while ((*run)->Next()) text += json::ToText((*run)->row()) + "\n";
    if (!(*run)->status().ok()) {
      text += "error " + (*run)->status().id() + ": " + (*run)->status().message();
    }
    return text;
  }

  // Waits until the condition holds. A commit wakes it; it also looks every few milliseconds, since
  // not every change is a commit.
  bool Eventually(const std::function<bool()>& condition) {
    const auto give_up = MachineClock().Now() + std::chrono::seconds(60);
    Signal committed;
    const auto listener = database_->followers().OnCommitted(
        db::kTablesShard, [&](const auto&) { committed.Wake(); });
    while (true) {
      const uint64_t seen = committed.news();
      if (condition()) return true;
      if (MachineClock().Now() > give_up) return false;
      committed.Wait(seen, MachineClock().Now() + std::chrono::milliseconds(2));
    }
  }
  testing::AssertionResult Becomes(std::string_view query, const std::string& expected) {
    std::string last;
    const bool came = Eventually([&] { return (last = Ask(query)) == expected; });
    if (came) return testing::AssertionSuccess();
    return testing::AssertionFailure() << query << " is\n" << last << "and not\n" << expected;
  }

  const Clock* lua_clock_ = &MachineClock();  // of the limits of procedures, from Begin on
  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<Manager> manager_;
};

}  // namespace sluice::procedure
