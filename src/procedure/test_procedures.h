// A database with an engine and procedures, and statements as text.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

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

  // What happens by itself, soon.
  static bool Eventually(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }
  testing::AssertionResult Becomes(std::string_view query, const std::string& expected) {
    std::string last;
    const bool came = Eventually([&] { return (last = Ask(query)) == expected; });
    if (came) return testing::AssertionSuccess();
    return testing::AssertionFailure() << query << " is\n" << last << "and not\n" << expected;
  }

  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<Manager> manager_;
};

}  // namespace sluice::procedure
