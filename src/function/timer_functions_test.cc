// createTimer and cancelTimer: from a write over a timer to its effect.
#include "function/test_manager.h"
#include "timer/owned.h"
#include "timer/write_set.h"

namespace sluice::function {
namespace {

// Beside a function f, whose callback Ring writes what it got.
constexpr std::string_view kRing =
    "function Ring(context) {\n"
    "  couchbase.increment(dst, {id: 'rings'});\n"
    "  dst['ring::' + context.id] = {early: Date.now() < context.due, id: context.id};\n"
    "}\n";

class TimerFunctionsTest : public ShardedManagerTest {
 protected:
  void DeployWithRing(const std::string& code) { Deploy(code + "\n" + std::string(kRing)); }
  // Another key of the same shard.
  std::string Neighbour(const std::string& key) const {
    for (int i = 0;; ++i) {
      std::string other = "n" + std::to_string(i);
      if (database_->ShardOfKey(other) == database_->ShardOfKey(key)) return other;
    }
  }
  // "callback:reference:context" of all.
  std::vector<std::string> Waiting() {
    std::vector<std::string> waiting;
    const auto page = manager_->Timers("f", {}, SIZE_MAX);
    for (const timer::Timer& timer : page->timers) {
      waiting.push_back(timer.callback + ":" + timer.reference + ":" + timer.context);
    }
    return waiting;
  }
};

using List = std::vector<std::string>;

TEST_P(TimerFunctionsTest, ATimerRunsWhenItIsDueAndOnce) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  const due = Date.now() + doc.in;\n"
      "  const made = createTimer(Ring, new Date(due), meta.id, {id: meta.id, due});\n"
      "  dst['made::' + meta.id] = made;\n}");
  Put("soon", R"({"in":60000})");
  Put("past", R"({"in":-60000})");
  Put("later", R"({"in":3600000})");
  EXPECT_EQ(AwaitDocument("ring::past"), R"({"early":false,"id":"past"})");
  Settle();
  EXPECT_EQ(Get("ring::soon"), "-");
  Advance(60'000);
  EXPECT_EQ(AwaitDocument("ring::soon"), R"({"early":false,"id":"soon"})");
  EXPECT_EQ(Get("made::soon"), "\"soon\"");
  AwaitCount("execution_stats", "timer_callback_success", 2);
  EXPECT_EQ(Get("rings"), R"({"count":2})");
  EXPECT_EQ(Get("ring::later"), "-");
  EXPECT_EQ(Count("execution_stats", "timer_create_counter"), 3u);
  EXPECT_EQ(Count("execution_stats", "timer_msg_counter"), 2u);
  ASSERT_EQ(Waiting().size(), 1u);
  EXPECT_TRUE(Waiting()[0].starts_with(R"(Ring:later:{"id":"later","due":)")) << Waiting()[0];
}

TEST_P(TimerFunctionsTest, TheSameReferenceReplacesAndCancelTells) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  const late = new Date(Date.now() + 3600000);\n"
      "  createTimer(Ring, late, 'r', 1);\n"
      "  createTimer(Ring, late, 'r', 2);\n"
      "  createTimer(Ring, late, 'gone');\n"
      "  const generated = couchbase.createTimer(Ring, late, null, 'g');\n"
      "  dst['told'] = [cancelTimer(Ring, 'gone'), cancelTimer(Ring, 'gone'),\n"
      "    typeof generated, couchbase.cancelTimer(Ring, generated), cancelTimer(OnUpdate, 'r')];\n"
      "}");
  Put("a", "1");
  Settle();
  EXPECT_EQ(Get("told"), R"([true,false,"string",true,false])");
  EXPECT_EQ(Waiting(), List{"Ring:r:2"});
  Put(Neighbour("a"), "1");
  Settle();
  EXPECT_EQ(Waiting(), List{"Ring:r:2"}) << "also over another commit";
  EXPECT_EQ(Count("execution_stats", "timer_create_counter"), 8u);
  EXPECT_EQ(Count("execution_stats", "timer_cancel_counter"), 4u);
}

TEST_P(TimerFunctionsTest, ArgumentsThatCantBeAreRefused) {
  Definition definition = Function(
      "function OnUpdate(doc, meta) {\n"
      "  const now = new Date();\n"
      "  const tried = [];\n"
      "  const inner = () => {};\n"
      "  for (const args of [['Ring', now, 'r'], [() => {}, now, 'r'], [inner, now, 'r'],\n"
      "      [Ring, 5, 'r'], [Ring, new Date('x'), 'r'], [Ring, now, 5],\n"
      "      [Ring, now, 'r', 'x'.repeat(100)]]) {\n"
      "    try { createTimer(...args); tried.push('made'); } catch (e) {\n"
      "      tried.push(e instanceof EventingError);\n    }\n  }\n"
      "  try { cancelTimer(Ring, null); } catch (e) { tried.push(e.message); }\n"
      "  try { createTimer(function() {}, now, 'r'); } catch (e) { tried.push(e.message); }\n"
      "  dst['tried'] = tried;\n}\nfunction Ring() {}");
  definition.settings.timer_context_bytes = 100;
  Deploy(definition);
  Put("a", "1");
  Settle();
  EXPECT_EQ(Get("tried"), R"([true,true,true,true,true,true,true,)"
                          R"("Second argument to cancelTimer must be a string",)"
                          R"("First argument to createTimer must be a valid global function"])");
  EXPECT_EQ(Waiting(), List{});
  EXPECT_EQ(Count("failure_stats", "timer_context_size_exceeded_counter"), 1u);
  EXPECT_EQ(Count("execution_stats", "timer_create_counter"), 0u);
}

TEST_P(TimerFunctionsTest, AThrowTakesTheTimersOfItsInvocationAlong) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  createTimer(Ring, new Date(Date.now() + 3600000), meta.id);\n"
      "  if (doc === 2) throw new Error('two');\n}");
  Put("a", "1");
  Put("b", "2");
  Settle();
  EXPECT_EQ(Waiting(), List{"Ring:a:"});
  EXPECT_EQ(Count("execution_stats", "timer_create_counter"), 1u);
}

TEST_P(TimerFunctionsTest, AThrowingCallbackIsNotRunAgain) {
  Deploy(
      "function OnUpdate(doc, meta) { createTimer(Bad, new Date(), meta.id, {id: meta.id}); }\n"
      "function Bad(context) {\n"
      "  dst['half'] = context;\n"
      "  createTimer(Bad, new Date(), 'again', context);\n"
      "  throw new Error('ringing ' + context.id);\n}");
  Put("a", "1");
  AwaitCount("execution_stats", "timer_callback_failure", 1);
  Settle();
  EXPECT_EQ(Get("half"), "-");
  EXPECT_EQ(Waiting(), List{});
  EXPECT_NE(LogText().find("ringing a"), std::string::npos) << LogText();
  EXPECT_EQ(Count("execution_stats", "timer_create_counter"), 1u);
}

TEST_P(TimerFunctionsTest, ACallbackMayCreateTheNextOne) {
  DeployWithRing(
      "function OnUpdate(doc, meta) { createTimer(Step, new Date(), 's', {n: 1}); }\n"
      "function Step(context) {\n"
      "  if (context.n < 20) createTimer(Step, new Date(), 's', {n: context.n + 1});\n"
      "  else dst['end'] = context;\n}");
  Put("a", "1");
  EXPECT_EQ(AwaitDocument("end"), R"({"n":20})");
  AwaitCount("execution_stats", "timer_callback_success", 20);
}

TEST_P(TimerFunctionsTest, APausedFunctionsTimersWaitForItsReturn) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  createTimer(Ring, new Date(Date.now() + 60000), meta.id, {id: meta.id});\n"
      "  createTimer(Gone, new Date(Date.now() + 60000), meta.id);\n}\n"
      "function Gone() {}");
  Put("a", "1");
  Settle();
  ASSERT_TRUE(manager_->Pause("f").ok());
  Advance(60'000);
  AwaitDueTimers();
  EXPECT_EQ(Waiting().size(), 2u);
  ASSERT_TRUE(manager_->Store(Function("function OnUpdate() {}\n" + std::string(kRing))).ok());
  ASSERT_TRUE(manager_->Resume("f").ok());
  EXPECT_NE(AwaitDocument("ring::a"), "-");
  AwaitCount("failure_stats", "timer_callback_missing_counter", 1);
  EXPECT_EQ(Waiting(), List{});
  EXPECT_NE(LogText().find("no callback 'Gone'"), std::string::npos) << LogText();
  EXPECT_EQ(Get("rings"), R"({"count":1})");
}

TEST_P(TimerFunctionsTest, TimersSurviveARestart) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  createTimer(Ring, new Date(Date.now() + doc), meta.id, {id: meta.id});\n}");
  Put("late", "3600000");
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(i), "60000");
  Settle();
  Close();
  clock_.AddMs(60'000);
  Open();
  for (int i = 0; i < 50; ++i) EXPECT_NE(AwaitDocument("ring::k" + std::to_string(i)), "-");
  EXPECT_EQ(Get("rings"), R"({"count":50})");
  EXPECT_EQ(Waiting(), List{R"(Ring:late:{"id":"late"})"});
}

TEST_P(TimerFunctionsTest, UndeployDropsThemAlsoAfterACrash) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  createTimer(Ring, new Date(Date.now() + 3600000), meta.id);\n}");
  Put("a", "1");
  Settle();
  EXPECT_EQ(timer::Owners(*database_)->size(), 1u);
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  EXPECT_EQ(timer::Owners(*database_)->size(), 0u);
  EXPECT_EQ(Waiting(), List{});

  // As after an end between the new state and the removal of the timers.
  timer::WriteSet left(*database_, db::ShardId{0}, "function:1-gone");
  ASSERT_TRUE(left.Create({"Ring", "r", {1, database_->NewCas()}, ""}).ok());
  db::Commit commit;
  left.MoveTo(&commit);
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  ASSERT_TRUE(manager_->Deploy("f").ok());
  Settle();
  EXPECT_EQ(timer::Owners(*database_)->size(), 2u);
  Close();
  Open();
  EXPECT_EQ(timer::Owners(*database_)->size(), 1u);
  EXPECT_EQ(Waiting(), List{"Ring:a:"});
}

TEST_P(TimerFunctionsTest, ThousandsInOneCall) {
  Definition definition = Function(
      "function OnUpdate(doc, meta) {\n"
      "  for (let i = 0; i < doc.n; i++) createTimer(Tick, new Date(), String(i), {i});\n}\n"
      "function Tick(context) { dst['tick' + context.i] = context; }");
  definition.settings.worker_count = 2;
  Deploy(definition);
  Put("some", R"({"n":5000})");
  AwaitCount("execution_stats", "timer_callback_success", 5000);
  for (int i = 0; i < 5000; ++i) ASSERT_NE(Get("tick" + std::to_string(i)), "-") << i;
  EXPECT_EQ(Waiting(), List{});
  Put("too many", R"({"n":20000})");
  AwaitCount("execution_stats", "on_update_failure", 1);
  EXPECT_NE(LogText().find("at most 10000 timers"), std::string::npos) << LogText();
  EXPECT_EQ(Waiting(), List{});
}

TEST_P(TimerFunctionsTest, TimersAreListedCancelledAndFired) {
  DeployWithRing(
      "function OnUpdate(doc, meta) {\n"
      "  const due = Date.now() + 3600000 + doc;\n"
      "  createTimer(Ring, new Date(due), meta.id, {id: meta.id, due: 0});\n}");
  for (const char* key : {"c", "a", "b"}) Put(key, key[0] == 'c' ? "20000" : "0");
  Settle();
  const TimerPage first = *manager_->Timers("f", {}, 2);
  ASSERT_EQ(first.timers.size(), 2u);
  EXPECT_EQ(first.timers[0].reference, "a");
  EXPECT_EQ(first.timers[1].reference, "b");
  ASSERT_TRUE(first.next);
  const TimerPage second = *manager_->Timers("f", *first.next, 2);
  ASSERT_EQ(second.timers.size(), 1u);
  EXPECT_EQ(second.timers[0].reference, "c");
  EXPECT_FALSE(second.next);

  EXPECT_TRUE(manager_->CancelTimer("f", "Ring", "a").ok());
  EXPECT_EQ(manager_->CancelTimer("f", "Ring", "a").id(), "timer.not_found");
  EXPECT_EQ(manager_->FireTimer("f", "Ring", "a").id(), "timer.not_found");
  EXPECT_EQ(manager_->FireTimer("g", "Ring", "a").id(), "function.not_found");
  ASSERT_TRUE(manager_->FireTimer("f", "Ring", "c").ok());
  EXPECT_EQ(AwaitDocument("ring::c"), R"({"early":false,"id":"c"})");
  EXPECT_EQ(Waiting(), List{R"(Ring:b:{"id":"b","due":0})"});
}

TEST_P(TimerFunctionsTest, OnDeployMayCreateThem) {
  DeployWithRing(
      "function OnDeploy() { createTimer(Ring, new Date(), 'first', {id: 'first'}); }\n"
      "function OnUpdate() {}");
  EXPECT_NE(AwaitDocument("ring::first"), "-");
  EXPECT_EQ(Count("execution_stats", "timer_create_counter"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Shards, TimerFunctionsTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::function
