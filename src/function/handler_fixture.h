// For tests: code of handlers run over a database in this process, one call at a time.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "function/handler.h"

namespace sluice::function {

class HandlerTest : public ::testing::Test {
 protected:
  HandlerTest() {
    std::string path = (std::filesystem::temp_directory_path() / "sluice_handler_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    directory_ = path;
    db::DatabaseOptions options;
    options.durability = db::Durability::kNone;
    database_ = std::move(*db::Database::Open(directory_ / "data", options, clock_));
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
    for (const char* bucket : {"src", "dst"}) CHECK(database_->admin().CreateBucket(bucket).ok());
    definition_.name = "f";
    definition_.source = {.bucket = "src"};
    definition_.buckets = {{"src", {.bucket = "src"}, true},
                           {"dst", {.bucket = "dst"}, true},
                           {"fixed", {.bucket = "dst"}, false}};
  }
  ~HandlerTest() override {
    engine_.reset();
    database_.reset();
    std::filesystem::remove_all(directory_);
  }

  // Runs the body of a handler. Returns its value as JSON text, or its exception as "Type:
  // message". Commits its writes.
  std::string Run(const std::string& body) {
    Definition definition = definition_;
    definition.code = "function Body() {\n" + body +
                      "\n}\nfunction OnUpdate(doc, meta) {\n  let result;\n"
                      "  try {\n    result = Body();\n  } catch (error) {\n"
                      "    result = error.toString();\n  }\n"
                      "  dst['result'] = result === undefined ? 'undefined' : result;\n}";
    auto prepared = Prepare(definition);
    if (!prepared) return prepared.error().ToString();
    script::Outcome failed;
    const auto handler = Handler::Make(
        Services{*database_, *engine_, clock_, addresses_},
        std::make_shared<const Definition>(definition), prepared->program,
        [this](std::string_view line) { log_.append(line).append("\n"); }, &failed, nullptr, stop_);
    if (handler == nullptr) return "not loaded: " + failed.message;
    handler->Attach(statistics_, held_insight_);
    Effects effects(*database_, db::ShardId{0}, "f");
    Event event;
    event.keyspace = *database_->Resolve({.bucket = "src"});
    event.key = "k";
    event.body = "{}";
    script::Outcome outcome;
    {
      Handler::Turn turn(*handler);
      outcome = handler->Run(turn, effects, event);
    }
    called_out_ = handler->called_out();
    interrupted_ = handler->interrupted();
    if (!outcome.ok()) return "ended: " + outcome.message;
    EXPECT_TRUE(database_->Apply(effects.TakeCommit()).status.ok());
    return Document("dst", "result").body;
  }

  db::Document Document(const std::string& bucket, const std::string& key) {
    auto found = *database_->Get(*database_->Resolve({.bucket = bucket}), key);
    return found ? *found : db::Document{.body = "-"};
  }

  SystemClock clock_;
  std::filesystem::path directory_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::shared_ptr<AddressRules> addresses_ =
      std::make_shared<AddressRules>(PrivateAddresses::kAllowed);
  Definition definition_;
  Statistics statistics_;
  const script::StopFlag stop_ = std::make_shared<std::atomic<bool>>(false);
  Insight insight_;
  HeldInsight held_insight_{insight_, clock_};
  std::string log_;
  bool called_out_ = false;
  bool interrupted_ = false;
};

}  // namespace sluice::function
