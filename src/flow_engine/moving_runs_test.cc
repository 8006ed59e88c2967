// Runs and starts of flows when shards come and go: on one server, and between two.
// SLUICE_SEED replays a run.
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "base/random.h"
#include "db/test_servers.h"
#include "flow_engine/test_host.h"
#include "outbox/flow_request.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

// Two tasks, of which the second one waits if the head says so.
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

Bundle TwoTasks(std::string_view head, std::string_view second = "", std::string options = "") {
  Bundle bundle;
  bundle.files = {{"flows.yaml", "flows: ['two.yml']"},
                  {"flows/two.yml", fmt::format(kTwo, head, second)},
                  {"tasks/echo.demo.js", std::string(kEcho)}};
  if (!options.empty()) bundle.files["sluice.yaml"] = std::move(options);
  return bundle;
}

std::vector<RunHead> RunsOf(Host& host, std::optional<RunPhase> phase = std::nullopt) {
  const auto page = host.runs().List({.phase = phase, .limit = 100'000});
  EXPECT_TRUE(page.has_value());
  return page ? page->runs : std::vector<RunHead>();
}

// A commit with a request for the flow, in the shard.
db::Commit RequestIn(db::Database& database, db::ShardId shard, const std::string& flow,
                     std::optional<db::ShardId> run_in, std::string* run) {
  db::Commit commit;
  commit.shard = shard;
  commit.rows.push_back(
      *outbox::MakeFlowRequest(database, flow, Value::EmptyObject(), run, run_in));
  return commit;
}

class MovingRunsTest : public HostTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  MovingRunsTest() { DatabaseTest::options_.shards = GetParam(); }
  db::ShardId last() const { return static_cast<db::ShardId>(GetParam() - 1); }
  db::Ownership& ownership() { return database_->ownership(); }
  void Load(std::string_view head, std::string_view second = "", std::string options = "") {
    ASSERT_EQ(Apply(TwoTasks(head, second, std::move(options)).files), "");
  }
  std::string KeyIn(db::ShardId shard) {
    for (int i = 0;; ++i) {
      std::string key = fmt::format("k{}", i);
      if (database_->ShardOf(keyspace_, key) == shard) return key;
    }
  }
  // All rows of the shard, as text.
  std::string RowsIn(db::ShardId shard) {
    std::string text;
    const auto rows = database_->rows().NewIterator(db::RowFamily::kRun, shard);
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      text += ToHex(rows->key()) + " " + ToHex(rows->value()) + "\n";
    }
    return text;
  }
  size_t In(db::ShardId shard, const std::vector<RunHead>& runs) {
    return static_cast<size_t>(std::ranges::count_if(
        runs, [&](const RunHead& head) { return database_->ShardOfKey(head.id) == shard; }));
  }
};

TEST_P(MovingRunsTest, RunsOfALostShardLeaveTheMemoryAsTheyAreStored) {
  options_.park_after_ms = 0;  // they wait in memory
  host_.reset();
  Begin();
  Load("", "delay: 600000\n    ");
  constexpr size_t kRuns = 24;
  std::vector<std::promise<Reply>> replies(kRuns);
  for (std::promise<Reply>& reply : replies) {
    flow::Start start;
    start.flow = "two";
    start.input = Value::EmptyObject();
    host_->engine().Start(host_->app(), std::move(start),
                          [&](Reply answer) { reply.set_value(std::move(answer)); });
  }
  const auto waiting = [&] {
    size_t count = 0;
    for (const RunHead& head : RunsOf(*host_, RunPhase::kRunning)) {
      const auto view = host_->runs().Show(head.id);
      if (view && (*view)["steps"].size() == 1) ++count;
    }
    return count;
  };
  WaitUntil([&] { return waiting() == kRuns; });
  const size_t moved = In(last(), RunsOf(*host_));
  ASSERT_GT(moved, 0u);
  const std::string id = [&] {
    for (const RunHead& head : RunsOf(*host_)) {
      if (database_->ShardOfKey(head.id) == last()) return head.id;
    }
    return std::string();
  }();
  ownership().Take(last());
  EXPECT_EQ(host_->engine().running_durable(), kRuns - moved);
  EXPECT_EQ(host_->engine().running(), kRuns - moved);
  const std::string rows = RowsIn(last());
  EXPECT_EQ(host_->runs().Cancel(id).id(), "flow.run_elsewhere");
  EXPECT_TRUE(host_->runs().Sweep().ok());
  EXPECT_EQ(RowsIn(last()), rows);
  ownership().Give(last());
  EXPECT_EQ(host_->engine().running_durable(), kRuns);
  EXPECT_EQ(host_->engine().counts().durable_resumed, moved);
  ASSERT_TRUE(host_->runs().Cancel(id).ok());
  ownership().Take(last());
  EXPECT_EQ(host_->runs().Retry(id, std::nullopt).id(), db::kNotOwner);
  ownership().Give(last());
  EXPECT_TRUE(host_->runs().Retry(id, std::nullopt).ok());
  host_->engine().Stop();
  size_t elsewhere = 0;
  for (std::promise<Reply>& reply : replies) {
    const Reply answer = reply.get_future().get();
    EXPECT_EQ(answer.status, 503);
    elsewhere += answer.body.AsString().ends_with("goes on in another server") ? 1 : 0;
  }
  EXPECT_EQ(elsewhere, moved);
}

// The same for runs that are not in memory because they wait for long.
TEST_P(MovingRunsTest, ParkedRunsAreForgottenAndFoundAgain) {
  Load("", "delay: 600000\n    ");
  options_.park_after_ms = 1;
  host_.reset();
  Begin();
  for (int i = 0; i < 12; ++i) {
    std::string run;
    ASSERT_TRUE(database_
                    ->Apply(RequestIn(*database_, static_cast<db::ShardId>(i % GetParam()), "two",
                                      static_cast<db::ShardId>(i % GetParam()), &run))
                    .status.ok());
  }
  WaitUntil([&] { return host_->runs().parked() == 12; });
  const size_t moved = In(last(), RunsOf(*host_));
  ownership().Take(last());
  EXPECT_EQ(host_->runs().parked(), 12 - moved);
  ownership().Give(last());
  EXPECT_EQ(host_->runs().parked(), 12u);
}

TEST_P(MovingRunsTest, NothingStartsInAShardThatIsAway) {
  Load(", on: b");
  ownership().Take(last());
  const db::Sequence sequence = database_->followers().LastSequence(last());
  flow::Start start;
  start.flow = "two";
  start.input = Value::EmptyObject();
  std::promise<Reply> reply;
  host_->engine().Start(host_->app(), start, [&](Reply answer) { reply.set_value(answer); });
  const Reply answer = reply.get_future().get();
  if (GetParam() == 1) {
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(RunsOf(*host_).empty());
  } else {
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(database_->ShardOfKey(answer.run), last());
    ASSERT_TRUE(Put(KeyIn(0), "{}").status.ok());
    WaitUntil([&] { return RunsOf(*host_, RunPhase::kCompleted).size() == 2; });
  }
  EXPECT_EQ(database_->followers().LastSequence(last()), sequence);
  const size_t before = RunsOf(*host_).size();
  ownership().Give(last());
  ASSERT_TRUE(Put(KeyIn(last()), "{}").status.ok());
  WaitUntil([&] { return RunsOf(*host_, RunPhase::kCompleted).size() == before + 1; });
}

// A change of the catalog needs all shards.
TEST_P(MovingRunsTest, FollowersOfAnAppAreMadeWhenAllShardsAreThere) {
  if (GetParam() == 1) GTEST_SKIP() << "the app could not be stored";
  ownership().Take(last());
  Load(", on: b");
  EXPECT_EQ(database_->catalog()->FindFollower("flow:two"), nullptr);
  ownership().Give(last());
  WaitUntil([&] { return database_->catalog()->FindFollower("flow:two") != nullptr; });
  WaitUntil([&] { return database_->followers().ReadCursor({"flow:two", last(), 0}).has_value(); });
  for (db::ShardId shard = 0; shard < GetParam(); ++shard) {
    ASSERT_TRUE(Put(KeyIn(shard), "{}").status.ok());
  }
  WaitUntil([&] { return RunsOf(*host_, RunPhase::kCompleted).size() == GetParam(); });
}

TEST_P(MovingRunsTest, AnAutostartGoesOnWhenItsShardIsGained) {
  Load("", "delay: 600000\n    ", "autostart: ['flow://two']");
  WaitUntil([&] { return RunsOf(*host_).size() == 1; });
  const db::ShardId shard = database_->ShardOfKey("two");
  ownership().Take(shard);
  ownership().Give(shard);
  const std::string id = RunsOf(*host_).front().id;
  ASSERT_TRUE(host_->runs().Cancel(id).ok());
  ownership().Take(shard);
  ownership().Give(shard);
  WaitUntil([&] { return RunsOf(*host_, RunPhase::kRunning).size() == 1; });
  EXPECT_EQ(RunsOf(*host_).size(), 2u);
}

TEST_P(MovingRunsTest, RequestsOfAShardStartInTheirOrder) {
  Load("");
  ownership().Take(last());
  ownership().Give(last());
  std::vector<std::string> keys;
  std::vector<std::string> asked;
  db::Commit commit;
  commit.shard = last();
  for (int i = 0; i < 100; ++i) {
    std::string run;
    commit.rows.push_back(RequestIn(*database_, last(), "two", last(), &run).rows[0]);
    keys.push_back(commit.rows.back().key);
    EXPECT_EQ(database_->ShardOfKey(run), last());
    asked.push_back(run);
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  WaitUntil([&] { return RunsOf(*host_, RunPhase::kCompleted).size() == 100; });
  std::map<std::string, uint64_t> created_ms;
  for (const RunHead& head : RunsOf(*host_)) created_ms[head.id] = head.created_ms;
  for (size_t i = 1; i < asked.size(); ++i) {
    EXPECT_LE(created_ms.at(asked[i - 1]), created_ms.at(asked[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, MovingRunsTest, ::testing::Values(1, 4));

// A server of the next test, above its database.
struct Server {
  explicit Server(db::Database& database)
      : engine(database, query::EngineOptions()),
        procedures(engine, {}),
        host(
            Services{
                {database, engine, MachineClock(),
                 std::make_shared<function::AddressRules>(function::PrivateAddresses::kAllowed)},
                engine,
                procedures},
            {}) {
    CHECK(procedures.Start().ok());
    CHECK(host.Start().ok());
  }
  query::QueryEngine engine;
  procedure::Manager procedures;
  Host host;
};

class TwoServersTest : public ::testing::TestWithParam<uint16_t> {
 protected:
  static constexpr int kEach = 60;  // starts of each kind

  TwoServersTest() {
    const char* seed = std::getenv("SLUICE_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device()();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
    db::DatabaseOptions options;
    options.shards = GetParam();
    options.durability = db::Durability::kNone;
    servers_ = std::make_unique<db::TestServers>(directory_ / "server", options, MachineClock());
  }
  void SetUp() override {
    ASSERT_TRUE((*servers_)[0].admin().CreateBucket("b").ok());
    keyspace_ = *(*servers_)[0].Resolve({.bucket = "b"});
    for (size_t n = 0; n < 2; ++n) above_[n] = std::make_unique<Server>((*servers_)[n]);
    flow::Problems problems;
    ASSERT_TRUE(above_[0]->host.Apply(TwoTasks(", on: b"), &problems).ok());
    ASSERT_FALSE(problems.has_errors());
    servers_->FeedAll(1);
  }
  void TearDown() override {
    for (auto& each : above_) each.reset();
    servers_.reset();
  }

  // As a client that asks the shard's owner, and again while the shard moves.
  void Commit(const std::function<db::Commit(db::Database&)>& make, db::ShardId shard) {
    while (true) {
      db::Database& owner = servers_->OwnerOf(shard);
      const Status status = owner.Apply(make(owner)).status;
      if (status.ok()) return;
      ASSERT_EQ(status.id(), db::kNotOwner);
      std::this_thread::yield();
    }
  }
  void PutChange(int n) {
    const std::string key = fmt::format("k{}", n);
    const db::ShardId shard = (*servers_)[0].ShardOf(keyspace_, key);
    Commit(
        [&](db::Database&) {
          db::Commit commit;
          commit.shard = shard;
          db::Document document;
          document.body = "{}";
          commit.writes.push_back(db::PutWrite(keyspace_, key, std::move(document)));
          return commit;
        },
        shard);
  }
  void AskForRun(Random& random) {
    const auto shard = static_cast<db::ShardId>(random.Below(GetParam()));
    const bool here = !random.OneIn(3);
    std::string run;
    Commit(
        [&](db::Database& owner) {
          return RequestIn(owner, shard, "two", here ? std::optional(shard) : std::nullopt, &run);
        },
        shard);
    asked_.insert(run);
  }
  void StartOne(size_t n) {
    flow::Start start;
    start.flow = "two";
    start.input = Value::EmptyObject();
    Host& host = above_[n]->host;
    if (host.app()->flows->Find("two") == nullptr) return;
    std::promise<Reply> done;
    host.engine().Start(host.app(), std::move(start),
                        [&](Reply reply) { done.set_value(std::move(reply)); });
    const Reply reply = done.get_future().get();
    EXPECT_TRUE(reply.status == 200 || reply.status == 503) << reply.status;
    if (reply.status == 200) completed_.insert(reply.run);
  }
  std::vector<RunHead> Runs(std::optional<RunPhase> phase = std::nullopt) {
    return RunsOf(above_[0]->host, phase);
  }
  bool HasRequests() {
    const std::string prefix(outbox::kFlowRequestPrefix);
    const auto rows = (*servers_)[0].rows().NewIteratorOfAll(
        db::RowFamily::kMeta, {.from = prefix, .to = PrefixEnd(prefix)});
    rows->SeekToFirst();
    return rows->Valid();
  }

  uint64_t seed_ = 0;
  db::TestDirectory directory_;
  std::unique_ptr<db::TestServers> servers_;
  std::array<std::unique_ptr<Server>, 2> above_;
  db::KeyspaceId keyspace_ = 0;
  std::set<std::string> asked_;      // runs that code asked for
  std::set<std::string> completed_;  // runs whose callers have their answers
};

TEST_P(TwoServersTest, EachRunHappensOnce) {
  Random random(seed_);
  std::atomic<int> working = 3;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < kEach && !HasFailure(); ++i) PutChange(i);
    --working;
  });
  threads.emplace_back([&, own = Random(random.Next())]() mutable {
    for (int i = 0; i < kEach && !HasFailure(); ++i) AskForRun(own);
    --working;
  });
  threads.emplace_back([&, own = Random(random.Next())]() mutable {
    for (int i = 0; i < kEach && !HasFailure(); ++i) StartOne(own.Below(2));
    --working;
  });
  int moves = 0;
  for (; (moves < 20 || working > 0) && !HasFailure(); ++moves) {
    const auto shard = static_cast<db::ShardId>(random.Below(GetParam()));
    const size_t to = 1 - servers_->owner(shard);
    servers_->Move(shard, to);
    if (random.OneIn(3)) servers_->FeedAll(1);
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d moves\n", moves);
  servers_->MoveAll(0);
  const auto over = [&] {
    size_t changes = 0;
    for (const RunHead& head : Runs()) changes += head.origin == "change" ? 1 : 0;
    return changes >= kEach && !HasRequests() && Runs(RunPhase::kRunning).empty();
  };
  db::AwaitCommitted((*servers_)[0], over);
  std::set<std::string> ids;
  std::set<std::string> keys;
  size_t changes = 0;
  for (const RunHead& head : Runs()) {
    EXPECT_EQ(head.phase, RunPhase::kCompleted) << head.id << " " << head.message;
    ids.insert(head.id);
    const auto shown = above_[0]->host.runs().Show(head.id);
    ASSERT_TRUE(shown);
    EXPECT_EQ((*shown)["steps"].size(), 2u);
    if (head.origin == "call") {
      EXPECT_TRUE(asked_.contains(head.id));
    }
    if (head.origin != "change") continue;
    ++changes;
    keys.insert(std::string((*shown)["steps"][0]["input"]["body"]["key"].AsString()));
  }
  EXPECT_EQ(changes, static_cast<size_t>(kEach));
  EXPECT_EQ(keys.size(), static_cast<size_t>(kEach));
  EXPECT_EQ(asked_.size(), static_cast<size_t>(kEach));
  for (const std::string& run : asked_) EXPECT_TRUE(ids.contains(run));
  for (const std::string& run : completed_) EXPECT_TRUE(ids.contains(run));
}

// The document that a task writes is of any shard, and written in the commit of the run's step.
TEST_P(TwoServersTest, EachRunWritesOnce) {
  if (GetParam() > 1) GTEST_SKIP() << "needs commits over several shards";
  ASSERT_TRUE((*servers_)[0].admin().CreateBucket("notes").ok());
  Bundle bundle;
  bundle.files = {{"flows.yaml", "flows: ['counted.yml']"},
                  {"flows/counted.yml", R"(
flow: {id: counted, description: d, durable: true, ttl: 1h, on: b}
first.task: a
tasks:
  - name: a
    process: count.demo
    description: counts its calls
    input: ['input.body -> body']
    output: ['result -> output.body']
    execution: end
)"},
                  {"tasks/count.demo.js",
                   "function handleEvent(headers, input) { const key = input.body.key; "
                   "notes['n' + key] = (notes['n' + key] || 0) + 1; return key; }"},
                  {"sluice.yaml", "tasks: {count.demo: {keyspaces: {notes: notes}}}"}};
  flow::Problems problems;
  ASSERT_TRUE(above_[0]->host.Apply(std::move(bundle), &problems).ok());
  for (const flow::Problem& problem : problems.Sorted()) ADD_FAILURE() << problem.ToString();
  servers_->FeedAll(1);
  Random random(seed_);
  std::atomic<bool> working = true;
  std::thread writer([&] {
    for (int i = 0; i < kEach && !HasFailure(); ++i) PutChange(i);
    working = false;
  });
  for (int moves = 0; (moves < 20 || working) && !HasFailure(); ++moves) {
    const auto shard = static_cast<db::ShardId>(random.Below(GetParam()));
    servers_->Move(shard, 1 - servers_->owner(shard));
  }
  writer.join();
  servers_->MoveAll(0);
  db::AwaitCommitted((*servers_)[0],
                     [&] { return Runs(RunPhase::kCompleted).size() == size_t{kEach}; });
  const db::KeyspaceId notes = *(*servers_)[0].Resolve({.bucket = "notes"});
  for (int i = 0; i < kEach; ++i) {
    const auto document = (*servers_)[0].Get(notes, fmt::format("nk{}", i));
    ASSERT_TRUE(document && *document) << i;
    EXPECT_EQ((*document)->body, "1") << i;
  }
  EXPECT_EQ(Runs().size(), size_t{kEach});
}

INSTANTIATE_TEST_SUITE_P(Shards, TwoServersTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::flow_engine
