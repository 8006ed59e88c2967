// A host with an app, for tests.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/signal.h"
#include "db/test_database.h"
#include "flow_engine/host.h"
#include "follow/commit_wake.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {

class HostTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    commits_ = std::make_unique<follow::CommitWake>(*database_);
    on_commit_ = commits_->SubscribeToAll([this](const db::Committed&) { committed_.Wake(); });
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
    on_commit_.reset();
    commits_.reset();
  }
  void Begin() {
    host_ = std::make_unique<Host>(
        Services{{*database_, *engine_, *host_clock_,
                  std::make_shared<function::AddressRules>(function::PrivateAddresses::kAllowed)},
                 *engine_,
                 *procedures_},
        options_, retention_);
    ASSERT_TRUE(host_->Start().ok());
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
  // Looks after each commit, and every 5 ms: memory changes just after a commit, without a signal.
  void WaitUntil(const std::function<bool()>& holds) {
    const Clock& clock = MachineClock();
    const Clock::Time end = clock.Now() + std::chrono::seconds(60);
    uint64_t seen = committed_.news();
    while (!holds()) {
      ASSERT_LT(clock.Now(), end);
      committed_.Wait(seen, clock.Now() + std::chrono::milliseconds(5));
      seen = committed_.news();
    }
  }
  static json::Value User(std::string_view user) {
    return json::Value::Object({{"path_parameter", json::Value::Object({{"user", user}})}});
  }

  // From the next Begin on.
  EngineOptions options_;
  RunRetention retention_;
  const Clock* host_clock_ = &MachineClock();

  Signal committed_;
  std::unique_ptr<follow::CommitWake> commits_;
  follow::CommitWake::Subscription on_commit_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<procedure::Manager> procedures_;
  std::unique_ptr<Host> host_;
};

}  // namespace sluice::flow_engine
