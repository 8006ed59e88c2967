// Functions over a database in this process: from a write to its effect.
#include "function/manager.h"

#include <map>

#include "function/test_manager.h"
#include "json/print.h"

namespace sluice::function {
namespace {

TEST_P(ShardedManagerTest, AWriteHasItsEffect) {
  Deploy(
      "function OnUpdate(doc, meta) { dst[meta.id] = {twice: doc.n * 2, op: meta.op}; }\n"
      "function OnDelete(meta, options) { dst['gone::' + meta.id] = options; }");
  Put("a", R"({"n":4})");
  Settle();
  EXPECT_EQ(Get("a"), R"({"twice":8,"op":"insert"})");
  Put("a", R"({"n":5})");
  Delete("a");
  Settle();
  EXPECT_EQ(Get("a"), R"({"twice":10,"op":"update"})");
  EXPECT_EQ(Get("gone::a"), R"({"expired":false})");
  EXPECT_EQ(Count("execution_stats", "on_update_success"), 2u);
  EXPECT_EQ(Count("execution_stats", "on_delete_success"), 1u);
}

TEST_P(ShardedManagerTest, EverythingOrFromNow) {
  for (int i = 0; i < 100; ++i) Put("old" + std::to_string(i), "1");
  Deploy("function OnUpdate(doc, meta) { dst[meta.id] = doc; }");
  Put("new", "2");
  Settle();
  EXPECT_EQ(Get("old7"), "1");
  EXPECT_EQ(Get("new"), "2");
  EXPECT_EQ(Count("execution_stats", "on_update_success"), 101u);

  Definition later = Function("function OnUpdate(doc, meta) { dst['g' + meta.id] = doc; }");
  later.name = "g";
  later.buckets.erase(later.buckets.begin());  // two functions can't both change the source
  later.settings.boundary = Boundary::kFromNow;
  Deploy(later);
  Put("newer", "3");
  EXPECT_EQ(AwaitDocument("gnewer"), "3");
  EXPECT_EQ(Get("gnew"), "-");
}

TEST_P(ShardedManagerTest, AThrowDropsItsOwnWritesOnly) {
  Deploy(
      "function OnUpdate(doc, meta) {\n  dst[meta.id] = doc;\n"
      "  if (doc === 2) throw new Error('two');\n}");
  for (int i = 0; i < 5; ++i) Put("k" + std::to_string(i), std::to_string(i));
  Settle();
  EXPECT_EQ(Get("k1"), "1");
  EXPECT_EQ(Get("k2"), "-");
  EXPECT_EQ(Get("k3"), "3");
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 1u);
  EXPECT_NE(LogText().find("f.js:3"), std::string::npos) << LogText();
}

TEST_P(ShardedManagerTest, OwnWritesToTheSourceComeBackOnlyWhenAskedFor) {
  Deploy(
      "function OnUpdate(doc, meta) {\n"
      "  src[meta.id] = {n: doc.n, seen: (doc.seen || 0) + 1};\n"
      "}");
  Put("a", R"({"n":1})");
  Settle();
  EXPECT_EQ(Get("a", "src"), R"({"n":1,"seen":1})");
  EXPECT_EQ(Count("event_processing_stats", "dcp_mutation_suppressed_counter"), 1u);
  ASSERT_TRUE(manager_->Undeploy("f").ok());

  Definition again = Function(
      "function OnUpdate(doc, meta) {\n  if (doc.n < 5) {\n"
      "    couchbase.upsert(src, {id: meta.id}, {n: doc.n + 1}, {self_recursion: true});\n  }\n}");
  again.settings.boundary = Boundary::kFromNow;
  Deploy(again);
  Put("b", R"({"n":1})");
  EXPECT_TRUE(Await([&] { return Get("b", "src") == R"({"n":5})"; }));
}

TEST_P(ShardedManagerTest, CountersAreExactWithManyWorkers) {
  Definition definition = Function(
      "function OnUpdate(doc, meta) {\n  couchbase.increment(dst, {id: 'all'});\n"
      "  const mine = dst['plain'] || {n: 0};\n  mine.n++;\n  dst['plain'] = mine;\n}");
  definition.settings.worker_count = 4;
  Deploy(definition);
  for (int i = 0; i < 500; ++i) Put("k" + std::to_string(i), "1");
  Settle();
  EXPECT_EQ(Get("all"), R"({"count":500})");
  EXPECT_EQ(Get("plain"), R"({"n":500})");
  EXPECT_EQ(Count("execution_stats", "on_update_success"), 500u)
      << "what was run again counts once";
}

TEST_F(ManagerTest, WhatIsRunAgainIsLoggedOnceAndInOrder) {
  Definition definition = Function(
      "function OnUpdate(doc, meta) {\n  log('begin', meta.id);\n"
      "  const all = dst['all'] || {n: 0};\n  all.n++;\n  dst['all'] = all;\n"
      "  log('end', meta.id);\n  if (doc === 2) throw new Error('two');\n}");
  definition.settings.worker_count = 4;
  definition.settings.boundary = Boundary::kFromNow;
  Deploy(definition);
  // Until two workers have met.
  int puts = 0;
  const auto met = [&] { return Count("event_processing_stats", "conflicts") > 0; };
  while (puts < 20'000 && (puts == 0 || !met())) {
    for (int i = 0; i < 200; ++i, ++puts) {
      Put("k" + std::to_string(puts), puts % 20 == 0 ? "2" : "1");
    }
    Settle();
  }
  ASSERT_TRUE(met()) << "nothing was run again";
  const std::vector<std::string> lines = LogLines();
  std::map<std::string, int> times;
  for (const std::string& line : lines) {
    ++times[line.substr(0, line.find('\n'))];
    if (!line.starts_with("\"end\"")) continue;
    EXPECT_EQ(times["\"begin" + line.substr(4)], 1) << line << "comes before its beginning";
  }
  for (int i = 0; i < puts; ++i) {
    const std::string id = "k" + std::to_string(i);
    EXPECT_EQ(times["\"begin\" \"" + id + "\" "], 1) << id;
    EXPECT_EQ(times["\"end\" \"" + id + "\" "], 1) << id;
    EXPECT_EQ(times["OnUpdate of document '" + id + "' failed: Error: two"], i % 20 == 0) << id;
  }
}

TEST_P(ShardedManagerTest, PauseKeepsThePlaceAndUndeployForgetsIt) {
  Deploy("function OnUpdate(doc, meta) { couchbase.increment(dst, {id: 'n'}); }");
  Put("a", "1");
  Settle();
  ASSERT_TRUE(manager_->Pause("f").ok());
  Put("b", "1");
  EXPECT_EQ(manager_->Pause("f").id(), "function.already_paused");
  ASSERT_TRUE(manager_
                  ->Store(Function("function OnUpdate(doc, meta) {"
                                   "  couchbase.increment(dst, {id: 'm'}); }"))
                  .ok());
  ASSERT_TRUE(manager_->Resume("f").ok());
  Settle();
  EXPECT_EQ(Get("n"), R"({"count":1})");
  EXPECT_EQ(Get("m"), R"({"count":1})");
  EXPECT_EQ(manager_->Remove("f").id(), "function.not_undeployed");
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  ASSERT_TRUE(manager_->Deploy("f").ok());
  Settle();
  EXPECT_EQ(Get("m"), R"({"count":3})") << "everything again";
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  ASSERT_TRUE(manager_->Remove("f").ok());
  EXPECT_EQ(manager_->StatusOf("f").error().id(), "function.not_found");
}

TEST_P(ShardedManagerTest, ARestartGoesOnWhereItWas) {
  Deploy("function OnUpdate(doc, meta) { couchbase.increment(dst, {id: 'n'}); }");
  for (int i = 0; i < 300; ++i) Put("k" + std::to_string(i), "1");
  Close();
  Open();
  Put("late", "1");
  Settle();
  EXPECT_EQ(Get("n"), R"({"count":301})");
}

TEST_P(ShardedManagerTest, CodeThatCantRunIsRefusedWithItsPlace) {
  ASSERT_TRUE(manager_->Store(Function("function OnUpdate(doc, meta) {\n  var x = ;\n}")).ok());
  const Status refused = manager_->Deploy("f");
  EXPECT_EQ(refused.id(), "function.compile");
  EXPECT_NE(refused.message().find("f.js:2:11"), std::string::npos) << refused.message();
  ASSERT_TRUE(manager_->Store(Function("function Other() {}")).ok());
  EXPECT_EQ(manager_->Deploy("f").id(), "function.no_entry_point");
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kUndeployed);
}

TEST_P(ShardedManagerTest, OnDeployRunsFirst) {
  Deploy(
      "function OnDeploy(action) { dst['first'] = action; }\n"
      "function OnUpdate(doc, meta) {}");
  EXPECT_EQ(Get("first"), R"({"reason":"Deploy","delay":0})");
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  ASSERT_TRUE(manager_
                  ->Store(Function("function OnDeploy(action) { throw new Error('no'); }\n"
                                   "function OnUpdate(doc, meta) {}"))
                  .ok());
  EXPECT_EQ(manager_->Deploy("f").id(), "function.on_deploy_failed");
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kUndeployed);
}

TEST_P(ShardedManagerTest, QueriesSeeTheInvocationsOwnWrites) {
  Deploy(
      "function OnUpdate(doc, meta) {\n"
      "  dst['row::' + meta.id] = {v: doc.v};\n"
      "  let sum = 0;\n"
      "  const low = 2;\n"
      "  const rows = SELECT RAW d.v FROM dst d WHERE d.v >= $low;\n"
      "  for (const row of rows) {\n"
      "    sum += row;\n  }\n"
      "  dst['sum'] = {sum};\n}");
  Put("a", R"({"v":1})");
  Put("b", R"({"v":2})");
  Put("c", R"({"v":3})");
  Settle();
  EXPECT_EQ(Get("sum"), R"({"sum":5})");
}

TEST_P(ShardedManagerTest, AFunctionThatRunsTooLongOrEatsTheHeapHarmsNobody) {
  Definition bad = Function(
      "function OnUpdate(doc, meta) {\n  if (doc === 1) while (true) {}\n"
      "  if (doc === 2) { const all = []; for (;;) all.push({x: [1, 2, 3]}); }\n"
      "  dst[meta.id] = doc;\n}");
  bad.settings.execution_timeout_s = 1;
  Deploy(bad);
  Put("a", "1");
  Put("b", "2");
  Put("c", "3");
  Settle();
  EXPECT_EQ(Get("a"), "-");
  EXPECT_EQ(Get("b"), "-");
  EXPECT_EQ(Get("c"), "3");
  EXPECT_GE(Count("failure_stats", "timeout_count"), 1u);
  EXPECT_EQ(Count("execution_stats", "on_update_failure"), 2u);
}

TEST_P(ShardedManagerTest, ADroppedKeyspaceUndeploys) {
  Definition definition = Function("function OnUpdate(doc, meta) { dst[meta.id] = doc; }");
  definition.buckets.push_back({"other", {"dst", "s", "c"}, false});
  ASSERT_TRUE(manager_->Store(definition).ok());
  EXPECT_EQ(manager_->Deploy("f").id(), "scope.not_found");
  ASSERT_TRUE(database_->admin().CreateScope("dst", "s").ok());
  ASSERT_TRUE(database_->admin().CreateCollection({"dst", "s", "c"}).ok());
  ASSERT_TRUE(manager_->Deploy("f").ok());
  ASSERT_TRUE(database_->admin().DropCollection({"dst", "s", "c"}).ok());
  const auto undeployed = [&] {
    return manager_->StatusOf("f")->state == State::kUndeployed &&
           manager_->StatusOf("f")->failure != "" && database_->catalog()->followers().empty();
  };
  EXPECT_TRUE(Await(undeployed));
  EXPECT_NE(LogText().find("undeployed, for the binding 'other'"), std::string::npos) << LogText();

  // The source, of a paused function, made anew at once.
  definition.buckets.pop_back();
  ASSERT_TRUE(manager_->Store(definition).ok());
  ASSERT_TRUE(manager_->Deploy("f").ok());
  EXPECT_EQ(manager_->StatusOf("f")->failure, "");
  ASSERT_TRUE(manager_->Pause("f").ok());
  ASSERT_TRUE(database_->admin().DropBucket("src").ok());
  ASSERT_TRUE(database_->admin().CreateBucket("src").ok());
  EXPECT_TRUE(Await(undeployed));
}

TEST_F(ManagerTest, ATableIsASourceAndABindingToRead) {
  db::TableSchema schema;
  schema.name = "t";
  schema.columns.push_back({.name = "i"});
  ASSERT_TRUE(database_->admin().CreateTable(schema).ok());
  Definition definition = Function("function OnUpdate(doc, meta) { dst[meta.id] = doc; }");
  definition.source = db::TableKeyspace("t");
  definition.buckets = {{"dst", {.bucket = "dst"}, true}, {"t", db::TableKeyspace("t"), true}};
  ASSERT_TRUE(manager_->Store(definition).ok());
  EXPECT_EQ(manager_->Deploy("f").id(), "keyspace.is_system");
  definition.buckets[1].writable = false;
  Deploy(definition);
}

TEST_P(ShardedManagerTest, APatternIsASourceToo) {
  Definition definition = Function(R"(function OnUpdate(doc, meta) {
    dst[meta.keyspace.scope_name + '.' + meta.keyspace.collection_name + '.' + meta.id] = doc;
  })");
  definition.source = {"src", "*", "*"};
  definition.buckets = {{"dst", {.bucket = "dst"}, true}};
  Put("old", "1");
  Deploy(definition);
  ASSERT_TRUE(database_->admin().CreateScope("src", "s").ok());
  ASSERT_TRUE(database_->admin().CreateCollection({"src", "s", "made_later"}).ok());
  const auto put = [&](const std::string& key) {
    db::Commit commit;
    commit.shard = database_->ShardOfKey(key);
    commit.writes.push_back(db::PutWrite(*database_->Resolve({"src", "s", "made_later"}), key,
                                         db::Document{.body = "2"}));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  };
  put("a");
  EXPECT_NE(AwaitDocument("s.made_later.a"), "-");
  EXPECT_NE(AwaitDocument("_default._default.old"), "-");
  Close();
  Open();
  put("b");
  EXPECT_NE(AwaitDocument("s.made_later.b"), "-");
  ASSERT_TRUE(database_->admin().DropScope("src", "s").ok());
  Put("c", "3");
  EXPECT_NE(AwaitDocument("_default._default.c"), "-");
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kDeployed);
  ASSERT_TRUE(database_->admin().DropBucket("src").ok());
  AwaitState("f", State::kUndeployed);
}

TEST_F(ManagerTest, AKeyspaceDroppedWhileNothingRanUndeploysAtTheStart) {
  Deploy("function OnUpdate(doc, meta) {}");
  manager_.reset();
  ASSERT_TRUE(database_->admin().DropBucket("dst").ok());
  Close();
  Open();
  AwaitState("f", State::kUndeployed);
  EXPECT_NE(manager_->StatusOf("f")->failure.find("the binding 'dst'"), std::string::npos);
}

TEST_F(ManagerTest, CyclesAreRefusedUnlessAllowed) {
  Definition f = Function("function OnUpdate(doc, meta) { dst[meta.id] = doc; }");
  Deploy(f);
  Definition g = Function("function OnUpdate(doc, meta) {}");
  g.name = "g";
  g.source = {.bucket = "dst"};
  ASSERT_TRUE(manager_->Store(g).ok());
  EXPECT_EQ(manager_->Deploy("g").id(), "function.recursion");
  ASSERT_TRUE(manager_->Pause("f").ok());
  EXPECT_EQ(manager_->Deploy("g").id(), "function.recursion") << "a paused one may go on";
  Close();
  Open();
  EXPECT_EQ(manager_->Deploy("g").id(), "function.recursion");
  ASSERT_TRUE(
      manager_->SetConfig(json::Parse(R"({"allow_interbucket_recursion": true})").value()).ok());
  EXPECT_TRUE(manager_->Deploy("g").ok());
  ASSERT_TRUE(manager_->Undeploy("g").ok());
  ASSERT_TRUE(
      manager_->SetConfig(json::Parse(R"({"allow_interbucket_recursion": null})").value()).ok());
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  EXPECT_TRUE(manager_->Deploy("g").ok());
}

TEST_P(ShardedManagerTest, WhatMayChangeDependsOnTheState) {
  Definition f = Function("function OnUpdate(doc, meta) { couchbase.increment(dst, {id: 'n'}); }");
  Deploy(f);
  f.settings.worker_count = 2;
  EXPECT_EQ(manager_->Store(f).id(), "function.not_undeployed");
  f.settings.worker_count = 1;
  f.settings.description = "counts";
  ASSERT_TRUE(manager_->Store(f).ok());
  Put("a", "1");
  Settle();
  EXPECT_EQ(Get("n"), R"({"count":1})");
  EXPECT_EQ(manager_->Find("f")->settings.description, "counts");
  ASSERT_TRUE(manager_->SetState("f", State::kPaused).ok());
  EXPECT_EQ(manager_->Pause("f").id(), "function.already_paused");
  f.settings.worker_count = 2;
  EXPECT_TRUE(manager_->Store(f).ok());
  f.settings.boundary = Boundary::kFromNow;
  EXPECT_EQ(manager_->Store(f).id(), "function.not_undeployed");
  Put("b", "1");
  ASSERT_TRUE(manager_->Deploy("f").ok()) << "resumes";
  Settle();
  EXPECT_EQ(Get("n"), R"({"count":2})");
  ASSERT_TRUE(manager_->SetState("f", State::kUndeployed).ok());
  EXPECT_EQ(manager_->Resume("f").id(), "function.not_deployed");
}

TEST_F(ManagerTest, FunctionsOfScopesHaveNamesOfTheirOwn) {
  Definition f = Function("function OnUpdate(doc, meta) { dst[meta.id] = 'all'; }");
  ASSERT_TRUE(manager_->Store(f).ok());
  f.scope_bucket = "src";
  f.scope_scope = "_default";
  f.settings.description = "of the scope";
  ASSERT_TRUE(manager_->Store(f).ok());
  Close();
  Open();
  EXPECT_EQ(manager_->Find("f")->settings.description, "");
  EXPECT_EQ(manager_->Find("src/_default/f")->settings.description, "of the scope");
  EXPECT_TRUE(manager_->Deploy("src/_default/f").ok());
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kUndeployed);
}

TEST_F(ManagerTest, DocumentsOfSyncGatewayAreLeftOutWhenAsked) {
  Definition f = Function("function OnUpdate(doc, meta) { dst[meta.id] = doc; }");
  f.settings.sync_documents = false;
  Deploy(f);
  Put("_sync:seq", "1");
  Put("_sync:att:x", "2");
  Put("k", "3");
  Settle();
  EXPECT_EQ(Get("_sync:seq"), "-");
  EXPECT_EQ(Get("_sync:att:x"), "2");
  EXPECT_EQ(Get("k"), "3");
  EXPECT_EQ(Count("execution_stats", "filtered_dcp_mutation_counter"), 1u);
  EXPECT_EQ(Count("execution_stats", "filtered_dcp_delete_counter"), 0u);
  EXPECT_EQ(Count("event_processing_stats", "dcp_filtered_counter"), 1u);
  ASSERT_TRUE(manager_->ResetStatistics("f").ok());
  EXPECT_EQ(Count("execution_stats", "on_update_success"), 0u);
}

TEST_F(ManagerTest, StatisticsThatCouchbasesToolsRead) {
  Definition f = Function(
      "function OnUpdate(doc, meta) {\n"
      "  const all = [];\n"
      "  while (doc === 'hog') all.push(new Array(100000).fill(1.5));\n"
      "  dst.large = 'x'.repeat(21 << 20);\n"
      "}");
  Deploy(f);
  Put("a", "1");
  Put("b", "\"hog\"");
  Put("c", "2");
  Settle();
  const json::Value full = *manager_->StatisticsOf("f");
  EXPECT_EQ(json::ToText(full["failure_stats"]["bucket_op_exception_count"]), "2") << LogText();
  EXPECT_EQ(json::ToText(full["lcb_exception_stats"]), R"({"304":2})");
  EXPECT_EQ(full["event_processing_stats"]["worker_restart_count"], json::Value(1));
  EXPECT_EQ(full["failure_stats"]["checkpoint_failure_count"], json::Value(0));
  EXPECT_EQ(full["execution_stats"]["agg_queue_memory"], json::Value(0));
  EXPECT_EQ(full["worker_pids"]["worker_f_0"], json::Value(static_cast<int64_t>(getpid())));
  for (const char* const group : {"execution_stats", "failure_stats"}) {
    const json::Value& taken = full[group]["timestamp"][std::to_string(getpid())];
    ASSERT_TRUE(taken.is_string()) << group;
    EXPECT_THAT(std::string(taken.AsString()),
                ::testing::MatchesRegex("....-..-..T..:..:..[.]...Z"));
  }
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  const json::Value idle = *manager_->StatisticsOf("f");
  EXPECT_EQ(json::ToText(idle["worker_pids"]), "{}");
  EXPECT_EQ(json::ToText(idle["execution_stats"]["timestamp"]), "{}");
}

TEST_F(ManagerTest, AMissingKeyThatThrowsIsCounted) {
  Definition f = Function("function OnUpdate(doc, meta) { dst.none; }");
  f.settings.language = "6.0.0";
  Deploy(f);
  Put("a", "1");
  Settle();
  const json::Value full = *manager_->StatisticsOf("f");
  EXPECT_EQ(full["failure_stats"]["bucket_op_exception_count"], json::Value(1)) << LogText();
  EXPECT_EQ(json::ToText(full["lcb_exception_stats"]), R"({"301":1})");
}

// What a stop drops is read again: it is no backlog in between.
TEST_F(ManagerTest, APauseLeavesNoBacklogBehind) {
  Definition f = Function(
      "function OnUpdate(doc, meta) { if (doc === 'loop') for (;;) {} dst[meta.id] = doc; }");
  f.settings.execution_timeout_s = 60;
  Deploy(f);
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(i), "\"loop\"");
  AwaitCount("execution_stats", "agg_queue_size", 50);
  EXPECT_GT(Count("execution_stats", "agg_queue_memory"), 50u * 256);
  ASSERT_TRUE(manager_->Pause("f").ok());
  EXPECT_EQ(Count("execution_stats", "agg_queue_size"), 0u);
  EXPECT_EQ(Count("execution_stats", "agg_queue_memory"), 0u);
  ASSERT_TRUE(manager_->Undeploy("f").ok());
}

TEST_F(ManagerTest, URLBindingsCanBeForbidden) {
  Definition f = Function("function OnUpdate(doc, meta) {}");
  f.urls = {{.alias = "api", .hostname = "http://h"}};
  ASSERT_TRUE(manager_->SetConfig(json::Parse(R"({"disable_curl_binding": true})").value()).ok());
  ASSERT_TRUE(manager_->Store(f).ok());
  EXPECT_EQ(manager_->Deploy("f").id(), "function.curl_disabled");
  ASSERT_TRUE(manager_->SetConfig(json::Parse(R"({"function_size": 8})").value()).ok());
  EXPECT_EQ(manager_->Store(f).id(), "function.too_large");
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardedManagerTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::function
