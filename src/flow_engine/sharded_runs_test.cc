// Durable runs with one and with several shards, and what they do when shards come and go. The
// tasks only answer.
#include <set>
#include <string>

#include "base/bytes.h"
#include "flow_engine/test_host.h"
#include "outbox/flow_request.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::ElementsAre;

// Two tasks, of which the second one waits if the input says so.
constexpr std::string_view kTwo = R"(
flow: {{id: two, description: d, durable: true, ttl: 1h{}}}
first.task: a
tasks:
  - name: a
    process: echo.demo
    description: answers
    input: ['input.body -> body']
    output: ['result -> model.seen']
    execution: sequential
    next: ['b']
  - name: b
    process: echo.demo
    description: answers
    input: ['model.seen -> body']
    output: ['result -> output.body']
    {}execution: end
)";
constexpr std::string_view kEcho =
    "function handleEvent(headers, input) { return input.body === undefined ? 0 : input.body; }";

class ShardedRunsTest : public HostTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  ShardedRunsTest() { options_of_database().shards = GetParam(); }
  db::DatabaseOptions& options_of_database() { return DatabaseTest::options_; }

  void Load(std::string_view head, std::string_view second = "") {
    ASSERT_EQ(Apply({{"flows.yaml", "flows: ['two.yml']"},
                     {"flows/two.yml", fmt::format(kTwo, head, second)},
                     {"tasks/echo.demo.js", std::string(kEcho)}}),
              "");
  }
  std::vector<RunHead> List(const Runs::Filter& filter = {}) {
    const auto page = host_->runs().List(filter);
    EXPECT_TRUE(page.has_value());
    return page ? page->runs : std::vector<RunHead>();
  }
  std::vector<RunHead> Completed() { return List({.phase = RunPhase::kCompleted}); }
  // The shards that have rows with the prefix.
  std::set<db::ShardId> ShardsWith(std::string_view prefix,
                                   db::RowFamily family = db::RowFamily::kRun) {
    std::set<db::ShardId> shards;
    const auto rows = database_->rows().NewIteratorOfAll(
        family, {.from = std::string(prefix), .to = PrefixEnd(prefix)});
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) shards.insert(rows->shard());
    return shards;
  }
  bool HasRequests() {
    return !ShardsWith(outbox::kFlowRequestPrefix, db::RowFamily::kMeta).empty() ||
           !ShardsWith(outbox::kOldFlowRequestPrefix).empty();
  }
  // All rows of runs are where their ids say.
  void ExpectInPlace() {
    const auto rows = database_->rows().NewIteratorOfAll(db::RowFamily::kRun);
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      constexpr size_t kIdBytes = 36;
      const std::string key(rows->key());
      if (key.starts_with(kAppPrefix)) {
        EXPECT_EQ(rows->shard(), db::kDefinitionsShard);
      } else if (std::string_view("hmsilf").find(key[0]) != std::string_view::npos) {
        EXPECT_EQ(rows->shard(), database_->ShardOfKey(key.substr(1, kIdBytes))) << key;
      }
    }
  }
  void Restart() {
    host_.reset();
    Begin();
  }
};

TEST_P(ShardedRunsTest, EachLivesInTheShardOfItsId) {
  Load("");
  constexpr size_t kRuns = 64;
  for (size_t i = 0; i < kRuns; ++i) {
    const auto body = static_cast<int64_t>(i);
    EXPECT_EQ(Run("two", Value::Object({{"body", body}})), fmt::format("200 {}", i));
  }
  WaitUntil([&] { return Completed().size() == kRuns; });
  EXPECT_EQ(ShardsWith(kHeadPrefix).size(), GetParam());
  ExpectInPlace();
  const std::vector<RunHead> all = List();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i].id, all[i - 1].id) << "newest first";
  for (const RunHead& head : all) {
    const auto shown = host_->runs().Show(head.id);
    ASSERT_TRUE(shown);
    EXPECT_EQ((*shown)["steps"].size(), 2u);
  }
}

TEST_P(ShardedRunsTest, PagesGoThroughAllShards) {
  Load("");
  for (int i = 0; i < 10; ++i) Run("two", Value::EmptyObject());
  WaitUntil([&] { return Completed().size() == 10; });
  std::vector<std::string> paged;
  Runs::Filter filter{.limit = 3};
  do {
    const auto page = host_->runs().List(filter);
    ASSERT_TRUE(page);
    for (const RunHead& head : page->runs) paged.push_back(head.id);
    filter.before = page->next;
  } while (!filter.before.empty());
  std::vector<std::string> all;
  for (const RunHead& head : List()) all.push_back(head.id);
  EXPECT_EQ(paged, all);
}

TEST_P(ShardedRunsTest, GoOnAfterARestartAreCancelledAndRetried) {
  Load("", "delay: 600000\n    ");
  for (int i = 0; i < 8; ++i) {
    flow::Start start;
    start.flow = "two";
    start.input = Value::EmptyObject();
    host_->engine().Start(host_->app(), std::move(start), [](const Reply&) {});
  }
  const auto shown = [&] {
    size_t waiting = 0;
    for (const RunHead& head : List({.phase = RunPhase::kRunning})) {
      const auto view = host_->runs().Show(head.id);
      if (view && (*view)["steps"].size() == 1) ++waiting;
    }
    return waiting;
  };
  WaitUntil([&] { return shown() == 8; });
  options_.park_after_ms = 0;  // they wait in memory
  Restart();
  EXPECT_EQ(host_->engine().counts().durable_resumed, 8u);
  const std::string id = List().front().id;
  ASSERT_TRUE(host_->runs().Cancel(id).ok());
  EXPECT_EQ(List().front().phase, RunPhase::kCancelled);
  ASSERT_TRUE(host_->runs().Retry(id, std::nullopt).ok());
  EXPECT_EQ(List({.phase = RunPhase::kRunning}).size(), 8u);
  EXPECT_EQ(host_->runs().Show("nothing").error().id(), "flow.run_not_found");
  ExpectInPlace();
}

TEST_P(ShardedRunsTest, TheOldestGoWhateverTheirShard) {
  Load("");
  for (int i = 0; i < 12; ++i) Run("two", Value::EmptyObject());
  WaitUntil([&] { return Completed().size() == 12; });
  const std::vector<RunHead> all = List();
  retention_.most = 5;
  Restart();
  ASSERT_TRUE(host_->runs().Sweep().ok());
  const std::vector<RunHead> kept = List();
  ASSERT_EQ(kept.size(), 5u);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].id, all[i].id);
  const auto rows = database_->rows().NewIteratorOfAll(db::RowFamily::kRun);
  size_t count = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) ++count;
  EXPECT_EQ(count, 1u + 5 * 4) << "the app; head, machine and two steps each";
}

// A run that a change starts is of the change's shard, so that one commit moves the cursor, too.
TEST_P(ShardedRunsTest, ChangesOfAllShardsStartRuns) {
  Load(", on: b");
  constexpr size_t kDocuments = 20;
  for (size_t i = 0; i < kDocuments; ++i) {
    ASSERT_TRUE(Put(fmt::format("k{}", i), "{}").status.ok());
  }
  WaitUntil([&] { return Completed().size() == kDocuments; });
  EXPECT_EQ(ShardsWith(kHeadPrefix).size(), GetParam());
  Restart();
  ASSERT_TRUE(Put("last", "{}").status.ok());
  WaitUntil([&] { return Completed().size() == kDocuments + 1; });
  for (const RunHead& head : List()) {
    const auto shown = host_->runs().Show(head.id);
    ASSERT_TRUE(shown);
    const Value& key = (*shown)["steps"][0]["input"]["body"]["key"];
    ASSERT_TRUE(key.is_string());
    EXPECT_EQ(database_->ShardOfKey(head.id), database_->ShardOf(keyspace_, key.AsString()));
  }
}

TEST_P(ShardedRunsTest, ASchedulesRunsAreInTheShardOfTheFlow) {
  host_clock_ = &clock_;
  Restart();
  Load(", every: 1s");
  WaitUntil([&] {
    clock_.AdvanceMs(100);
    return Completed().size() >= 3;
  });
  const db::ShardId shard = database_->ShardOfKey("two");
  EXPECT_THAT(ShardsWith("c"), ElementsAre(shard));
  EXPECT_THAT(ShardsWith(kHeadPrefix), ElementsAre(shard));
}

// The request lies in the shard of the commit that made it, the run in that of its id.
TEST_P(ShardedRunsTest, ARequestStartsItsRunOnce) {
  Load("");
  constexpr int kRequests = 12;
  std::set<std::string> asked;
  for (int i = 0; i < kRequests; ++i) {
    std::string run;
    db::Commit commit;
    commit.shard = GetParam() - 1;
    const std::string flow = i == 0 ? "nowhere" : "two";
    commit.rows.push_back(*outbox::MakeFlowRequest(*database_, flow, Value::EmptyObject(), &run));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    asked.insert(run);
  }
  const auto over = [&] { return Completed().size() == kRequests - 1 && !HasRequests(); };
  WaitUntil(over);
  std::set<std::string> runs;
  for (const RunHead& head : List()) runs.insert(head.id);
  EXPECT_EQ(runs, asked);
  EXPECT_EQ(List({.phase = RunPhase::kFailed}).size(), 1u) << "there is no flow 'nowhere'";
  ExpectInPlace();
}

// As after a crash between the commit of a run and that which removes its request.
TEST_P(ShardedRunsTest, ARunThatHasBegunIsNotBegunAgain) {
  Load("");
  std::string run;
  db::RowWrite row = *outbox::MakeFlowRequest(*database_, "two", Value::EmptyObject(), &run);
  const auto store = [&] {
    db::Commit commit;
    commit.shard = (database_->ShardOfKey(run) + 1) % GetParam();
    commit.rows.push_back(row);
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  };
  store();
  WaitUntil([&] { return Completed().size() == 1; });
  const auto no_request = [&] { return !HasRequests(); };
  WaitUntil(no_request);
  if (GetParam() == 1) return;  // there the two are one commit
  store();
  WaitUntil(no_request);
  EXPECT_EQ(List().size(), 1u);
  EXPECT_EQ(List().front().phase, RunPhase::kCompleted);
  EXPECT_EQ(host_->runs().Show(run)->Find("steps")->size(), 2u);
}

// Rows that an earlier server has left.
TEST_P(ShardedRunsTest, OldRequestsStartTheirRuns) {
  Load("");
  std::string run;
  db::RowWrite row = *outbox::MakeFlowRequest(*database_, "two", Value::EmptyObject(), &run);
  row.family = db::RowFamily::kRun;
  row.key = std::string(outbox::kOldFlowRequestPrefix) + run;
  db::Commit commit;
  commit.shard = GetParam() - 1;
  commit.rows.push_back(std::move(row));
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  Restart();
  WaitUntil([&] { return Completed().size() == 1 && !HasRequests(); });
  EXPECT_EQ(List().front().id, run);
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardedRunsTest, ::testing::Values(1, 4));

TEST(RunIds, AreMadeForAShard) {
  db::TestDirectory directory;
  const FakeClock clock;
  db::DatabaseOptions options;
  options.shards = 7;
  const auto database = std::move(*db::Database::Open(directory / "data", options, clock));
  for (db::ShardId shard = 0; shard < 7; ++shard) {
    const std::string id = outbox::NewRunId(*database, shard);
    EXPECT_EQ(database->ShardOfKey(id), shard);
    EXPECT_EQ(id.size(), 36u);
    EXPECT_EQ(id.substr(0, 8), outbox::NewRunId(clock.WallMs()).substr(0, 8)) << "time first";
  }
}

}  // namespace
}  // namespace sluice::flow_engine
