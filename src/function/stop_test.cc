// Functions that do not end by themselves, or do too much, over a database in this process: what
// stops them, and what is left of them.
#include <chrono>
#include <future>

#include <sys/wait.h>

#include "function/test_manager.h"

namespace sluice::function {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

class StopTest : public ManagerTest {
 protected:
  // Far more than a stop takes, and far less than what runs would.
  static constexpr seconds kSoon{20};

  uint64_t CommittedEvents() { return Count("execution_stats", "on_update_success"); }
  static Definition Patient(const std::string& code) {
    Definition definition = Function(code);
    definition.settings.execution_timeout_s = 3600;
    definition.settings.on_deploy_timeout_s = 3600;
    return definition;
  }
};

constexpr const char* kRunsForEver =
    "function OnUpdate(doc, meta) {\n"
    "  dst[meta.id] = doc;\n"
    "  if (doc === 'loop') for (;;) new Error('x').stack.length;\n}";

TEST_F(StopTest, UndeployEndsTheCallThatRuns) {
  Deploy(Patient(kRunsForEver));
  for (int i = 0; i < 30; ++i) Put("k" + std::to_string(i), "\"loop\"");
  ASSERT_TRUE(Await([&] { return Count("events_remaining", "dcp_backlog") == 30; }));
  const auto began = steady_clock::now();
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  EXPECT_LT(steady_clock::now() - began, kSoon);
  EXPECT_EQ(Get("k0"), "-");
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 0u);
}

TEST_F(StopTest, TheEventThatWasEndedRunsAgainOnce) {
  Deploy(Patient(kRunsForEver));
  Put("a", "1");
  ASSERT_TRUE(Await([&] { return Get("a") == "1"; }));
  Put("b", "\"loop\"");
  ASSERT_TRUE(Await([&] { return Count("events_remaining", "dcp_backlog") == 1; }));
  ASSERT_TRUE(manager_->Pause("f").ok());
  EXPECT_EQ(Get("b"), "-");
  ASSERT_TRUE(manager_
                  ->Store(Function("function OnUpdate(doc, meta) {"
                                   "  const old = dst[meta.id]; dst[meta.id] = (old ?? 0) + 1;"
                                   "}"))
                  .ok());
  ASSERT_TRUE(manager_->Resume("f").ok());
  Settle();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "1");
}

TEST_F(StopTest, SlowEventsAreCommittedOneByOne) {
  Deploy(
      Patient("function OnUpdate(doc, meta) { dst[meta.id] = doc; log('did ' + meta.id);"
              "  if (doc !== 'loop') { const end = Date.now() + 50; while (Date.now() < end) {} }"
              "  while (doc === 'loop') {} }"));
  ASSERT_TRUE(manager_->Pause("f").ok());
  Put("a", "1");
  Put("b", "2");
  Put("a", "\"loop\"");  // in the lane of the first
  ASSERT_TRUE(manager_->Resume("f").ok());
  ASSERT_TRUE(Await([&] { return CommittedEvents() >= 1 && Get("a") == "1"; }));
  EXPECT_NE(LogText().find("did a"), std::string::npos);
  ASSERT_TRUE(manager_->Undeploy("f").ok());
}

TEST_F(StopTest, WhatCameBeforeAnEventThatTakesLongIsCommittedWithoutIt) {
  Deploy(
      Patient("function OnUpdate(doc, meta) {"
              "  const old = dst[meta.id]; dst[meta.id] = (old ?? 0) + 1; log('did ' + meta.id);"
              "  const end = Date.now() + doc; while (Date.now() < end) {} }"));
  ASSERT_TRUE(manager_->Pause("f").ok());
  for (int i = 0; i < 5; ++i) Put("fast" + std::to_string(i), "0");
  Put("slow", "300");
  Put("endless", "100000");
  ASSERT_TRUE(manager_->Resume("f").ok());
  ASSERT_TRUE(Await([&] { return Get("fast4") == "1" && Get("slow") == "1"; }));
  EXPECT_EQ(Get("fast0"), "1");
  EXPECT_EQ(Get("endless"), "-");
  ASSERT_TRUE(Await([&] { return LogText().find("did slow") != std::string::npos; }));
  EXPECT_EQ(LogText().find("did slow"), LogText().rfind("did slow"));
  ASSERT_TRUE(manager_->Undeploy("f").ok());
}

TEST_F(StopTest, TheStateOnTheWayIsShownAndRefusesOtherChanges) {
  Definition slow = Patient("function OnDeploy() { for (;;) {} }\nfunction OnUpdate() {}");
  slow.name = "g";
  ASSERT_TRUE(manager_->Store(slow).ok());
  auto deploying = std::async(std::launch::async, [&] { return manager_->Deploy("g"); });
  AwaitState("g", State::kDeploying);
  EXPECT_EQ(manager_->Deploy("g").id(), "function.in_transition");
  EXPECT_EQ(manager_->Pause("g").id(), "function.in_transition");
  EXPECT_EQ(manager_->Store(slow).id(), "function.in_transition");
  EXPECT_EQ(manager_->Remove("g").id(), "function.in_transition");
  EXPECT_TRUE(manager_->Undeploy("g").ok());  // ends OnDeploy
  EXPECT_EQ(deploying.get().id(), "function.on_deploy_failed");
  EXPECT_EQ(manager_->StatusOf("g")->state, State::kUndeployed);
  EXPECT_EQ(manager_->Undeploy("g").id(), "function.not_deployed");
}

TEST_F(StopTest, AStopOfTheServerEndsEverything) {
  Deploy(
      Patient("function OnUpdate(doc) { if (doc === 1) for (;;) {}"
              "  else { UPDATE dst SET n = 1 WHERE ANY x IN ARRAY_RANGE(0, 1e7) SATISFIES"
              "    x = -1 END; } }\n"
              "function Callback() { for (;;) {} }"));
  Definition slow =
      Patient("function OnDeploy() { log('began'); for (;;) {} }\nfunction OnUpdate() {}");
  slow.name = "g";
  slow.buckets.erase(slow.buckets.begin());  // two functions can't both change the source
  ASSERT_TRUE(manager_->Store(slow).ok());
  for (int i = 0; i < 200; ++i) Put("d" + std::to_string(i), "{}", "dst");
  Put("a", "1");
  Put("b", "2");
  auto deploying = std::async(std::launch::async, [&] { return manager_->Deploy("g"); });
  ASSERT_TRUE(Await([&] { return !LogLines("g").empty(); }));
  const auto began = steady_clock::now();
  manager_->RequestStop();
  EXPECT_EQ(deploying.get().id(), "function.on_deploy_failed");
  EXPECT_EQ(manager_->Deploy("g").id(), "function.stopping");
  manager_->Stop();
  EXPECT_LT(steady_clock::now() - began, kSoon);
}

// --- what can't be committed ---------------------------------------------------------------------

class TooMuchTest : public StopTest {
 protected:
  void Fill(int documents) {
    const db::KeyspaceId keyspace = *database_->Resolve({.bucket = "dst"});
    for (int i = 0; i < documents;) {
      db::Commit commit;
      for (const int end = std::min(i + 1000, documents); i < end; ++i) {
        commit.writes.push_back(
            db::PutWrite(keyspace, "d" + std::to_string(i), db::Document{.body = "{}"}));
      }
      ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    }
  }
};

TEST_F(TooMuchTest, AStatementThatWritesTooMuchThrowsAndWritesNothing) {
  Fill(12'000);
  Deploy(
      "function OnUpdate(doc, meta) {\n"
      "  if (doc === 'bulk') { try { UPDATE dst SET touched = true; } catch (e) {\n"
      "    dst['r' + meta.id] = [e instanceof N1QLError, e.message]; } }\n"
      "  else if (doc === 'both') { for (let i = 0; i < 20; ++i) dst['x' + i] = i;\n"
      "    UPDATE dst d USE KEYS (ARRAY 'd' || TO_STRING(i) FOR i IN ARRAY_RANGE(0, 9990) END)\n"
      "      SET touched = true; }\n"
      "  else dst['r' + meta.id] = doc; }");
  Put("a", "1");
  Put("b", "\"bulk\"");
  Put("c", "\"both\"");
  Put("d", "4");
  Settle();
  EXPECT_EQ(Get("ra"), "1");
  EXPECT_EQ(
      Get("rb"),
      R"x([true,"an invocation may write at most 10000 documents (functions.max_documents)"])x");
  EXPECT_EQ(Get("rd"), "4");
  EXPECT_EQ(Get("d11999"), "{}");
  EXPECT_EQ(Get("x1"), "-");
  EXPECT_EQ(Count("failures", "dead"), 1u);
  EXPECT_EQ(Count("failure_stats", "n1ql_op_exception_count"), 2u);
}

// The event is a failure, and those around it have their effects.
TEST_F(TooMuchTest, AnEventThatDoesTooMuchIsAFailure) {
  Close();
  limits_.documents = 100;
  limits_.timers = 100;
  Open();
  Deploy(
      "function OnUpdate(doc, meta) {\n"
      "  for (let i = 0; i < doc; ++i) dst[meta.id + '_' + i] = i;\n"
      "  for (let i = 0; i < -doc; ++i) createTimer(Callback, new Date(0), null, 0);\n"
      "  createTimer(Callback, new Date(0), meta.id, doc); }\n"
      "function Callback(n) { if (n === 2) for (let i = 0; i < 101; ++i) dst['t_' + i] = i; }");
  ASSERT_TRUE(manager_->Pause("f").ok());
  Put("a", "1");
  Put("b", "101");
  Put("c", "2");
  Put("e", "-100");
  ASSERT_TRUE(manager_->Resume("f").ok());
  Settle();
  ASSERT_TRUE(Await([&] { return Count("failures", "dead") == 3; }));
  Put("d", "100");
  Settle();
  EXPECT_EQ(Get("a_0"), "0");
  EXPECT_EQ(Get("b_0"), "-");
  EXPECT_EQ(Get("c_1"), "1");
  EXPECT_EQ(Get("t_0"), "-");
  EXPECT_EQ(Get("d_99"), "99");
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 2u);
  EXPECT_EQ(Count("execution_stats", "timer_callback_failure"), 1u);
}

TEST_F(TooMuchTest, OnDeployMayWriteTenThousandDocuments) {
  Deploy(
      "function OnDeploy() { for (let i = 0; i < 10000; ++i) dst['n' + i] = i; }\n"
      "function OnUpdate() {}");
  EXPECT_EQ(Get("n9999"), "9999");
}

// --- embedded statements that fail ---------------------------------------------------------------

TEST_F(StopTest, AStatementThatCanNotWriteADocumentThrows) {
  Put("u1", "{}", "dst");
  Deploy(
      "function Tell(name, call) { try { call(); src[name] = 'nothing'; } catch (e) {\n"
      "  src[name] = [e instanceof N1QLError, e.message.includes('u1')]; } }\n"
      "function OnUpdate(doc, meta) {\n"
      "  if (!doc.go) return;\n"
      "  Tell('plain', () => { INSERT INTO dst VALUES ('u1', {'a': 1}); });\n"
      "  Tell('iterated', () => { for (const row of INSERT INTO dst VALUES ('u1', {'a': 1})"
      " RETURNING *) {} });\n"
      "  Tell('closed', () => { const rows = INSERT INTO dst VALUES ('u1', {'a': 1});"
      " rows.close(); });\n"
      "  Tell('partly', () => { const rows = INSERT INTO dst VALUES ('u9', {'a': 1}), "
      "('u1', {'a': 1}) RETURNING META().id; rows.close(); });\n"
      "  Tell('call', () => N1QL(\"INSERT INTO dst VALUES ('u1', {'a': 1})\"));\n"
      "  Tell('old', () => new N1qlQuery(\"INSERT INTO dst VALUES ('u1', {'a': "
      "1})\").execQuery());\n"
      "}");
  Put("k", R"({"go":true})");
  Settle();
  for (const char* name : {"plain", "iterated", "closed", "partly", "call", "old"}) {
    EXPECT_EQ(Get(name, "src"), "[true,true]") << name;
  }
  EXPECT_EQ(Get("u1"), "{}");
  EXPECT_EQ(Get("u9"), R"({"a":1})");
  EXPECT_EQ(Count("failure_stats", "n1ql_op_exception_count"), 6u);
}

// A statement writes all that it is about, also when its rows are not read.
TEST_F(TooMuchTest, AStatementThatWritesIsCarriedOutToItsEnd) {
  Fill(3000);
  Deploy(
      "function OnUpdate(doc, meta) { const rows = UPDATE dst SET touched = true RETURNING"
      " META().id; rows.close(); }");
  Put("k", "1");
  Settle();
  EXPECT_EQ(Get("d2999"), R"({"touched":true})");
}

// --- workers that write the same -----------------------------------------------------------------

TEST_F(StopTest, WorkersThatWriteTheSameDocumentsCountRight) {
  Definition counts = Function(
      "function OnUpdate(doc, meta) { const key = 'c' + doc % 4; const old = dst[key];"
      "  dst[key] = { n: (old === undefined ? 0 : old.n) + 1 }; }");
  counts.settings.worker_count = 4;
  Deploy(counts);
  for (int i = 0; i < 2000; ++i) Put("k" + std::to_string(i), std::to_string(i));
  Settle();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Get("c" + std::to_string(i)), R"({"n":500})");
  const json::Value statistics = *manager_->StatisticsOf("f");
  EXPECT_TRUE(statistics["event_processing_stats"]["conflicts"].is_int());
  EXPECT_EQ(CommittedEvents(), 2000u);
}

// --- what crashes --------------------------------------------------------------------------------

class HoldTest : public StopTest {
 protected:
  HoldTest() {
    Close();
    keeps_under_way_ = true;
    Open();
    Deploy("function OnUpdate(doc, meta) { dst[meta.id] = doc; }");
  }
  // The process ends while that event is handled.
  void CrashAt(const std::string& function, uint64_t number, const std::string& key) {
    Close();
    const pid_t child = fork();
    if (child == 0) {
      const auto file = UnderWay::Open(directory_ / "under_way");
      if (!file) _exit(1);
      UnderWay::Slot slot(file->get(), function);
      slot.Begin(UnderWay::Kind::kDocument, number, key);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    Open();
  }
  State StateNow() { return manager_->StatusOf("f")->state; }
};

TEST_F(HoldTest, TheSameEventAtThreeCrashesInARow) {
  for (int i = 0; i < 2; ++i) {
    CrashAt("f", 7, "poison");
    EXPECT_EQ(StateNow(), State::kDeployed);
    EXPECT_EQ(manager_->StatusOf("f")->failure, "");
  }
  CrashAt("f", 7, "poison");
  EXPECT_EQ(StateNow(), State::kPaused);
  const std::string why =
      "held: document 'poison' was under way at each of the last 3 times that the server ended by "
      "a crash. Change the code, then resume the function";
  EXPECT_EQ(manager_->StatusOf("f")->failure, why);
  EXPECT_NE(LogText().find(why), std::string::npos);
  // Until somebody resumes it, over orderly starts, too.
  Close();
  Open();
  EXPECT_EQ(StateNow(), State::kPaused);
  EXPECT_EQ(manager_->StatusOf("f")->failure, why);
  ASSERT_TRUE(manager_->Resume("f").ok());
  Put("a", "1");
  Settle();
  EXPECT_EQ(Get("a"), "1");
  Close();
  Open();
  EXPECT_EQ(StateNow(), State::kDeployed);
  EXPECT_EQ(manager_->StatusOf("f")->failure, "");
}

TEST_F(HoldTest, OtherEventsAndOrderlyEndsBeginAnew) {
  CrashAt("f", 7, "poison");
  CrashAt("f", 7, "poison");
  CrashAt("f", 8, "poison");
  CrashAt("f", 7, "poison");
  CrashAt("f", 7, "poison");
  Close();
  Open();
  CrashAt("f", 7, "poison");
  CrashAt("g", 7, "poison");
  CrashAt("g", 7, "poison");
  CrashAt("g", 7, "poison");
  EXPECT_EQ(StateNow(), State::kDeployed);
}

TEST_F(HoldTest, AllAreHeldWhenAskedForUntilTheNextStart) {
  Close();
  hold_ = true;
  Open();
  EXPECT_EQ(StateNow(), State::kPaused);
  EXPECT_NE(manager_->StatusOf("f")->failure.find("functions.hold"), std::string::npos);
  Put("a", "1");
  Close();
  hold_ = false;
  Open();
  Settle();
  EXPECT_EQ(Get("a"), "1");
  Close();
  hold_ = true;
  Open();
  ASSERT_TRUE(manager_->Resume("f").ok());
  Put("b", "2");
  Settle();
  EXPECT_EQ(Get("b"), "2");
}

}  // namespace
}  // namespace sluice::function
