// What becomes of events that fail: kept, tried again, replayed, dropped.
#include "function/failed_event.h"
#include "function/test_manager.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

constexpr uint64_t kHourMs = 3'600'000;

// Throws until there is a document 'go' in dst; counts what went well.
constexpr std::string_view kUntilGo =
    "function OnUpdate(doc, meta) {\n"
    "  dst['seen::' + meta.id] = doc;\n"
    "  if (!dst['go']) throw new TypeError('not yet');\n"
    "  couchbase.increment(dst, {id: 'done::' + meta.id});\n"
    "}\n";

class FailuresTest : public ShardedManagerTest {
 protected:
  Definition UntilGo(uint32_t retries) {
    Definition definition = Function(std::string(kUntilGo));
    definition.settings.retry = {.count = retries,
                                 .delay_ms = kHourMs,
                                 .backoff = 2,
                                 .max_delay_ms = 10 * kHourMs,
                                 .jitter = 0};
    return definition;
  }
  std::vector<failure::FailureList::Item> All() {
    return manager_->Failures("f", {}, 1000)->failures;
  }
  // "operation key: message, attempts, state" of all.
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (const auto& [failure, due_ms] : All()) {
      const json::Value event = *json::Parse(failure.event);
      texts.push_back(fmt::format("{} {}: {}, {}, {}", event["operation"].AsString(), failure.key,
                                  failure.problem.message, failure.attempts,
                                  due_ms ? "waiting" : "dead"));
    }
    return texts;
  }
  failure::FailureId Id(size_t index = 0) { return All().at(index).failure.id; }
  std::string EventText(size_t index = 0) {
    const auto kept = manager_->FindFailure("f", Id(index));
    return json::ToText(*PrintEvent(kept->item.failure, kept->payload));
  }
  void AwaitTexts(const std::vector<std::string>& texts) {
    Await([&] { return Texts() == texts; });
    EXPECT_EQ(Texts(), texts);
  }
};

using List = std::vector<std::string>;

TEST_P(FailuresTest, AFailedEventIsKeptAsTheHandlerSawIt) {
  Definition definition = UntilGo(0);
  definition.settings.previous = true;
  Deploy(definition);
  Put("a", R"({"n":1})");
  Settle();
  Put("a", R"({"n":2})");
  Delete("a");
  Settle();
  EXPECT_EQ(Get("seen::a"), "-") << "its writes are dropped";
  EXPECT_EQ(Texts(), (List{"insert a: TypeError: not yet, 1, dead",
                           "update a: TypeError: not yet, 1, dead"}));
  const failure::Problem problem = All()[1].failure.problem;
  EXPECT_EQ(problem.kind, "exception");
  EXPECT_EQ(problem.type, "TypeError");
  EXPECT_EQ(problem.line, 3u);
  EXPECT_EQ(problem.column, 25u);
  EXPECT_NE(problem.stack.find("f.js:3"), std::string::npos) << problem.stack;
  EXPECT_NE(EventText(1).find(R"("document":{"n":2},"previous":{"n":1})"), std::string::npos)
      << EventText(1);
  EXPECT_EQ(Count("failures", "kept"), 2u);
  EXPECT_EQ(Count("failures", "dead"), 2u);
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 2u);

  Close();
  Open();
  EXPECT_EQ(Texts().size(), 2u);
  EXPECT_EQ(Count("failures", "kept"), 2u);
}

TEST_P(FailuresTest, IsTriedAgainNeverEarlyUntilItSucceeds) {
  Deploy(UntilGo(5));
  Put("a", R"({"n":1})");
  Settle();
  EXPECT_EQ(Texts(), List{"insert a: TypeError: not yet, 1, waiting"});
  Advance(kHourMs - 60'000);
  AwaitDueTimers();
  Settle();
  EXPECT_EQ(All()[0].failure.attempts, 1u);
  Advance(60'000);
  AwaitTexts({"insert a: TypeError: not yet, 2, waiting"});
  EXPECT_GE(*All()[0].due_ms, clock_.WallMs() + 2 * kHourMs - 60'000) << "the second is later";
  EXPECT_EQ(Get("done::a"), "-");

  Put("go", "1", "dst");
  Advance(2 * kHourMs);
  AwaitCount("failures", "retry_success", 1);
  EXPECT_EQ(Get("done::a"), R"({"count":1})");
  EXPECT_EQ(Get("seen::a"), R"({"n":1})");
  EXPECT_EQ(Texts(), List{});
  EXPECT_EQ(Count("failures", "kept"), 0u);
  AwaitCount("failures", "retry_failure", 1);
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 1u) << "retries are counted apart";
  EXPECT_NE(LogText().find("attempt 2 of OnUpdate of document 'a' failed: TypeError: not yet"),
            std::string::npos)
      << LogText();
}

TEST_P(FailuresTest, IsDeadAfterTheLastAttempt) {
  Definition definition = UntilGo(2);
  definition.settings.retry.delay_ms = 1;
  Deploy(definition);
  Put("a", "1");
  AwaitTexts({"insert a: TypeError: not yet, 3, dead"});
  AwaitCount("failures", "retry_failure", 2);  // counted just after it is committed
}

TEST_P(FailuresTest, NewerEventsDoNotWait) {
  Deploy(UntilGo(5));
  Put("a", R"({"n":1})");
  Settle();
  Put("go", "1", "dst");
  Put("a", R"({"n":2})");
  Settle();
  EXPECT_EQ(Get("seen::a"), R"({"n":2})");
  Advance(kHourMs);
  AwaitCount("failures", "retry_success", 1);
  EXPECT_EQ(Get("seen::a"), R"({"n":1})") << "the older one comes later";
}

TEST_P(FailuresTest, ARestartAPauseAndAnUndeployment) {
  Deploy(UntilGo(5));
  Put("a", "1");
  Settle();
  Close();
  clock_.AddMs(kHourMs);
  Open();
  AwaitTexts({"insert a: TypeError: not yet, 2, waiting"});

  ASSERT_TRUE(manager_->Pause("f").ok());
  Advance(2 * kHourMs);
  AwaitDueTimers();
  EXPECT_EQ(Texts(), List{"insert a: TypeError: not yet, 2, waiting"}) << "a pause holds it";
  ASSERT_TRUE(manager_->Resume("f").ok());
  AwaitTexts({"insert a: TypeError: not yet, 3, waiting"});

  ASSERT_TRUE(manager_->Undeploy("f").ok());
  EXPECT_EQ(Texts(), List{"insert a: TypeError: not yet, 3, dead"});
  EXPECT_EQ(manager_->ReplayFailure("f", Id()).id(), "function.not_deployed");
  EXPECT_EQ(manager_->ReplayFailures("f").error().id(), "function.not_deployed");

  Put("go", "1", "dst");
  Definition again = UntilGo(5);
  again.settings.boundary = Boundary::kFromNow;
  Deploy(again);
  Settle();
  EXPECT_EQ(Texts(), List{"insert a: TypeError: not yet, 3, dead"}) << "they outlive it";
  EXPECT_TRUE(manager_->ReplayFailure("f", Id()).ok());
  AwaitTexts({});
  EXPECT_EQ(Get("done::a"), R"({"count":1})");
  EXPECT_EQ(Count("failures", "replayed"), 1u);
}

TEST_P(FailuresTest, ReplayAllEditAndDrop) {
  Deploy(UntilGo(0));
  for (const char* key : {"a", "b", "c"}) Put(key, R"({"n":1})");
  Settle();
  ASSERT_EQ(Texts().size(), 3u);
  EXPECT_EQ(*manager_->ReplayFailures("f"), 3u);
  AwaitCount("failures", "retry_failure", 3);
  EXPECT_EQ(All()[0].failure.attempts, 2u);

  const auto edit = [&](const char* text) {
    return manager_->EditFailure("f", Id(), *json::Parse(text)).id();
  };
  EXPECT_EQ(edit(R"({"context":1})"), "failure.bad_edit");
  EXPECT_EQ(edit(R"({"document":1,"context":1})"), "failure.bad_edit");
  EXPECT_EQ(edit(R"({"document":{"n":"edited"}})"), "");
  EXPECT_EQ(manager_->EditFailure("f", {.stamp = 7}, *json::Parse(R"({"document":1})")).id(),
            "failure.not_found");
  EXPECT_EQ(All()[0].failure.edits, 1u);

  const std::string kept_key = All()[0].failure.key;
  const std::string dropped_key = All()[1].failure.key;
  EXPECT_TRUE(manager_->DropFailure("f", Id(1)).ok());
  EXPECT_EQ(manager_->DropFailure("f", {.stamp = 7}).id(), "failure.not_found");
  Put("go", "1", "dst");
  EXPECT_EQ(*manager_->ReplayFailures("f"), 2u);
  AwaitCount("failures", "retry_success", 2);
  EXPECT_EQ(Get("seen::" + kept_key), R"({"n":"edited"})");
  EXPECT_EQ(Get("seen::" + dropped_key), "-");
  EXPECT_EQ(Texts(), List{});
  EXPECT_EQ(*manager_->DropFailures("f"), 0u);
  EXPECT_EQ(Count("failures", "dropped"), 1u);
  EXPECT_EQ(Count("failures", "replayed"), 5u);
}

TEST_P(FailuresTest, DeletionsAndTimersAreEventsToo) {
  Deploy(
      "function OnDelete(meta, options) {\n"
      "  if (!dst['go']) throw new Error('no ' + meta.id);\n"
      "  dst['deleted'] = [meta.id, options.expired];\n"
      "}\n"
      "function OnUpdate(doc, meta) { createTimer(Ring, new Date(), meta.id, {of: meta.id}); }\n"
      "function Ring(context) {\n"
      "  if (!dst['go']) throw new Error('no ring');\n"
      "  dst['rung'] = context;\n"
      "}\n");
  Put("a", "1");
  AwaitTexts({"timer Ring:a: Error: no ring, 1, dead"});
  EXPECT_EQ(EventText(),
            R"({"operation":"timer","callback":"Ring","reference":"a","context":{"of":"a"}})");
  EXPECT_EQ(manager_->EditFailure("f", Id(), *json::Parse(R"({"context":{"of":"b"}})")).id(), "");
  Delete("a");
  AwaitTexts({"timer Ring:a: Error: no ring, 1, dead", "delete a: Error: no a, 1, dead"});
  EXPECT_EQ(manager_->EditFailure("f", Id(1), *json::Parse(R"({"document":1})")).id(),
            "failure.bad_edit");
  Put("go", "1", "dst");
  EXPECT_EQ(*manager_->ReplayFailures("f"), 2u);
  AwaitTexts({});
  EXPECT_EQ(Get("rung"), R"({"of":"b"})");
  EXPECT_EQ(Get("deleted"), R"(["a",false])");
}

TEST_P(FailuresTest, ATimerWithoutItsCallbackIsKept) {
  Deploy(
      "function OnUpdate(doc, meta) { createTimer(Ring, new Date(Date.now() + 3600000), 'r', 1); "
      "}\n"
      "function Ring(context) {}\n");
  Put("a", "1");
  Settle();
  ASSERT_TRUE(manager_->Pause("f").ok());
  ASSERT_TRUE(manager_->Store(Function("function OnUpdate(doc, meta) {}\n")).ok());
  ASSERT_TRUE(manager_->Resume("f").ok());
  Advance(kHourMs);
  AwaitTexts({"timer Ring:r: the function has no callback 'Ring', 1, dead"});
  EXPECT_EQ(All()[0].failure.problem.kind, "missing");
  ASSERT_TRUE(manager_->Pause("f").ok());
  ASSERT_TRUE(manager_
                  ->Store(Function("function OnUpdate(doc, meta) {}\n"
                                   "function Ring(context) { dst['rung'] = context; }\n"))
                  .ok());
  EXPECT_TRUE(manager_->ReplayFailure("f", Id()).ok()) << "of a paused one, for later";
  ASSERT_TRUE(manager_->Resume("f").ok());
  AwaitTexts({});
  EXPECT_EQ(Get("rung"), "1");
}

TEST_P(FailuresTest, OfALargeDocumentOnlyTheNameIsKept) {
  Deploy(UntilGo(0));
  const std::string large = "\"" + std::string(kMaxKeptEventBytes, 'x') + "\"";
  Put("a", large);
  Put("b", large);
  Settle();
  EXPECT_NE(EventText().find(R"("data":"left_out")"), std::string::npos);
  EXPECT_LT(EventText().size(), 1000u);
  Put("go", "1", "dst");
  Delete("b");
  Put("a", R"({"n":"now"})");
  Settle();
  EXPECT_EQ(*manager_->ReplayFailures("f"), 2u);
  AwaitCount("failures", "retry_failure", 1);
  AwaitCount("failures", "retry_success", 1);
  EXPECT_EQ(Get("seen::a"), R"({"n":"now"})");
  EXPECT_EQ(Get("done::a"), R"({"count":2})");
  ASSERT_EQ(All().size(), 1u);
  EXPECT_EQ(All()[0].failure.key, "b");
  EXPECT_EQ(All()[0].failure.problem.kind, "missing");

  EXPECT_TRUE(manager_->EditFailure("f", Id(), *json::Parse(R"({"document":5})")).ok());
  EXPECT_TRUE(manager_->ReplayFailure("f", Id()).ok());
  AwaitTexts({});
  EXPECT_EQ(Get("seen::b"), "5") << "what was put there instead";
}

TEST_P(FailuresTest, TheOldestGoWhenThereAreTooMany) {
  Definition definition = UntilGo(0);
  definition.settings.max_failures = 10;
  definition.settings.worker_count = 4;
  Deploy(definition);
  for (int i = 0; i < 200; ++i) Put("k" + std::to_string(i), "1");
  Settle();
  EXPECT_EQ(All().size(), 10u);
  EXPECT_EQ(Count("failures", "kept"), 10u);
  EXPECT_EQ(Count("failures", "dropped_by_limit"), 190u);
}

TEST_P(FailuresTest, EveryFailedEventIsThereOnceWithManyWorkers) {
  Definition definition = UntilGo(1);
  definition.settings.worker_count = 4;
  Deploy(definition);
  constexpr size_t kKeys = 500;
  for (size_t i = 0; i < kKeys; ++i) Put("k" + std::to_string(i), "1");
  Settle();
  std::set<std::string> keys;
  for (const auto& item : All()) keys.insert(item.failure.key);
  EXPECT_EQ(All().size(), kKeys);
  EXPECT_EQ(keys.size(), kKeys);
  Put("go", "1", "dst");
  EXPECT_EQ(*manager_->ReplayFailures("f"), kKeys);
  AwaitCount("failures", "retry_success", kKeys);
  for (const std::string& key : keys) EXPECT_EQ(Get("done::" + key), R"({"count":1})") << key;
  EXPECT_EQ(Texts(), List{});
}

TEST_P(FailuresTest, OnlySomeErrorsAreTriedAgain) {
  Definition definition = Function(
      "function OnUpdate(doc, meta) {\n"
      "  if (doc === 'loop') { while (true) {} }\n"
      "  if (doc === 'kv') { couchbase.replace(dst, {id: 'none', cas: meta.cas}, 1).x.y; }\n"
      "  throw new RangeError('r');\n"
      "}\n");
  definition.settings.execution_timeout_s = 1;
  definition.settings.retry = {
      .count = 1, .delay_ms = kHourMs, .jitter = 0, .on = {"timeout", "RangeError"}};
  Deploy(definition);
  Put("a", "\"range\"");
  Settle();
  Put("b", "\"loop\"");
  Settle();
  Put("c", "\"kv\"");
  Settle();
  const auto all = All();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].failure.problem.type, "RangeError");
  EXPECT_TRUE(all[0].due_ms);
  EXPECT_EQ(all[1].failure.problem.kind, "timeout");
  EXPECT_TRUE(all[1].due_ms);
  EXPECT_EQ(all[2].failure.problem.type, "TypeError");
  EXPECT_EQ(all[2].failure.problem.line, 3u);
  EXPECT_FALSE(all[2].due_ms);
}

TEST_P(FailuresTest, AnErrorOfTheLibraryIsAtTheCallOfTheHandler) {
  Deploy(
      "function OnUpdate(doc, meta) {\n"
      "  // one\n"
      "  dst['k'] = undefined;\n"
      "}\n");
  Put("a", "1");
  Settle();
  ASSERT_EQ(All().size(), 1u);
  EXPECT_EQ(All()[0].failure.problem.type, "EventingError");
  EXPECT_EQ(All()[0].failure.problem.line, 3u) << All()[0].failure.problem.stack;
}

TEST_P(FailuresTest, PlacesAreThoseOfTheTextAsItWasWritten) {
  Deploy(
      "function OnUpdate(doc, meta) {\n"
      "  const rows = SELECT 1 AS one; doc.n.toFixed();\n"
      "}\n");
  Put("a", R"({"n":"text"})");
  Settle();
  ASSERT_EQ(All().size(), 1u);
  EXPECT_EQ(All()[0].failure.problem.line, 2u);
  EXPECT_EQ(All()[0].failure.problem.column, 39u);
}

TEST_P(FailuresTest, GoWithTheirFunction) {
  Deploy(UntilGo(3));
  Put("a", "1");
  Settle();
  EXPECT_EQ(Texts().size(), 1u);
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  ASSERT_TRUE(manager_->Remove("f").ok());
  EXPECT_TRUE(failure::Owners(*database_)->empty());
  ASSERT_TRUE(manager_->Store(UntilGo(3)).ok());
  EXPECT_EQ(Texts(), List{});
}

TEST_P(FailuresTest, WhatACrashLeftIsClearedAtTheStart) {
  Deploy(UntilGo(3));
  Put("a", "1");
  Settle();
  failure::WriteSet write_set(*database_, db::ShardId{0}, FailuresOwnerOf("gone"));
  ASSERT_TRUE(write_set.Add({.id = {.stamp = 1}, .key = "k", .event = "{}"}, "", 5).ok());
  db::Commit commit;
  write_set.MoveTo(&commit);
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  Close();
  Open();
  EXPECT_EQ(*failure::Owners(*database_), List{"function:f"});
  EXPECT_EQ(Texts(), List{"insert a: TypeError: not yet, 1, waiting"});
}

TEST_P(FailuresTest, ThePolicyMayChangeWhileItRuns) {
  Deploy(UntilGo(0));
  Put("a", "1");
  Settle();
  Definition changed = UntilGo(1);
  changed.settings.max_failures = 1;
  ASSERT_TRUE(manager_->Store(changed).ok());
  Put("b", "1");
  Settle();
  EXPECT_EQ(Texts(), List{"insert b: TypeError: not yet, 1, waiting"});
}

INSTANTIATE_TEST_SUITE_P(Shards, FailuresTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::function
