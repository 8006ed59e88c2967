// A host with an app, for tests.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/test_database.h"
#include "flow_engine/host.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {

class HostTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions());
    procedure::ManagerOptions limits;
    limits.limits.instructions = 2'000'000;
    procedures_ = std::make_unique<procedure::Manager>(*engine_, limits);
    ASSERT_TRUE(procedures_->Start().ok());
    Begin();
  }
  void TearDown() override {
    host_.reset();
    procedures_.reset();
    engine_.reset();
  }
  void Begin() {
    host_ = std::make_unique<Host>(
        Services{{*database_, *engine_, SystemClockForTests(),
                  std::make_shared<function::AddressRules>(function::PrivateAddresses::kAllowed)},
                 *engine_,
                 *procedures_},
        options_, retention_);
    ASSERT_TRUE(host_->Start().ok());
  }
  static const Clock& SystemClockForTests() {
    static const SystemClock clock;
    return clock;
  }

  // The problems, a line each.
  std::string Apply(std::map<std::string, std::string, std::less<>> files) {
    flow::Problems problems;
    const Status status = host_->Apply({std::move(files)}, &problems);
    std::string text = status.ok() ? "" : status.ToString() + "\n";
    for (const flow::Problem& problem : problems.Sorted()) text += problem.ToString() + "\n";
    return text;
  }
  std::string Run(const std::string& flow, json::Value input) {
    std::promise<Reply> done;
    flow::Start start;
    start.flow = flow;
    start.input = std::move(input);
    host_->engine().Start(host_->app(), std::move(start),
                          [&](Reply reply) { done.set_value(std::move(reply)); });
    const Reply reply = done.get_future().get();
    return fmt::format("{} {}", reply.status, json::ToText(reply.body));
  }
  static void WaitUntil(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  static json::Value User(std::string_view user) {
    return json::Value::Object({{"path_parameter", json::Value::Object({{"user", user}})}});
  }

  EngineOptions options_;   // from the next Begin on
  RunRetention retention_;  // as well
  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<procedure::Manager> procedures_;
  std::unique_ptr<Host> host_;
};

}  // namespace sluice::flow_engine
