// Durable runs: stored after every step, gone on with after a restart, listed, cancelled, retried.
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <string>

#include "db/catalog.h"
#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;

// Counts in the keyspace `counts` under the name that it is given, and gives the number.
constexpr std::string_view kCount = R"(function handleEvent(headers, input) {
  const count = (counts[input.name] || 0) + 1;
  counts[input.name] = count;
  if (input.fail && !counts[input.fail]) throw new AppException(422, 'not yet');
  return { count, version: VERSION };
}
)";

class DurableTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    ASSERT_TRUE(database_->admin().CreateBucket("app").ok());
  }

  static std::string Task(std::string_view name, std::string_view more, std::string_view execution,
                          std::string_view next = "") {
    std::string text = fmt::format(
        "  - name: {0}\n    process: count.demo\n    description: counts\n"
        "    input: ['text({0}) -> name', 'input.body.fail -> fail']\n"
        "    output: ['result.count -> model.{0}', 'result -> output.body']\n{1}"
        "    execution: {2}\n",
        name, more, execution);
    if (execution != "end") {
      text.replace(text.find(", 'result -> output.body'"), 25, "");
      text += fmt::format("    next: ['{}']\n", next);
    }
    return text;
  }
  // three: first, then second, which may wait, then third.
  std::map<std::string, std::string, std::less<>> Files(std::string_view second, int version = 1,
                                                        std::string_view ttl = "1h") {
    std::string code(kCount);
    code.replace(code.find("VERSION"), 7, std::to_string(version));
    return {{"flows.yaml", "flows: ['three.yml']"},
            {"flows/three.yml",
             fmt::format("flow: {{id: three, description: d, durable: true, ttl: {}}}\n"
                         "first.task: first\ntasks:\n",
                         ttl) +
                 Task("first", "", "sequential", "second") +
                 Task("second", second, "sequential", "third") + Task("third", "", "end")},
            {"tasks/count.demo.js", code},
            {"sluice.yaml", "tasks: {count.demo: {instances: 4, keyspaces: {counts: app}}}"}};
  }

  void Load(std::map<std::string, std::string, std::less<>> files) {
    ASSERT_THAT(Apply(std::move(files)), testing::Not(HasSubstr("error")));
  }
  void Begin3(Value input = Value::EmptyObject()) {
    flow::Start start;
    start.flow = "three";
    start.input = std::move(input);
    host_->engine().Start(host_->app(), std::move(start), [](const Reply&) {});
  }
  // Nobody waits for its answer.
  bool Launch3() {
    flow::Start start;
    start.flow = "three";
    start.input = Value::EmptyObject();
    std::vector<Engine::Launch> launches;
    launches.push_back({host_->app(), std::move(start), "command"});
    return host_->engine().LaunchAll(std::move(launches), {}).has_value();
  }
  std::vector<RunHead> List(std::optional<RunPhase> phase = std::nullopt) {
    const auto page = host_->runs().List({.flow = "", .phase = phase, .before = ""});
    EXPECT_TRUE(page.has_value());
    return page ? page->runs : std::vector<RunHead>();
  }
  // From now on the host's time stands still until the test moves it.
  void UseMovedClock() {
    host_clock_ = &clock_;
    Restart();
  }
  // Moves that time with each look.
  void WaitAndMove(const std::function<bool()>& holds) {
    WaitUntil([&] {
      clock_.AdvanceMs(100);
      return holds();
    });
  }
  int64_t Counted(const std::string& name) {
    const auto keyspace = database_->Resolve(*db::KeyspaceName::Parse("app"));
    const auto document = database_->Get(*keyspace, name);
    return document && *document ? std::stoll((*document)->body) : 0;
  }
  void Put(const std::string& key) {
    const auto keyspace = database_->Resolve(*db::KeyspaceName::Parse("app"));
    db::Commit commit;
    commit.shard = database_->ShardOf(*keyspace, key);
    db::Document document;
    document.body = "1";
    commit.writes.push_back(db::PutWrite(*keyspace, key, document));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  Value Show(const std::string& id) {
    auto shown = host_->runs().Show(id);
    EXPECT_TRUE(shown.has_value()) << shown.error().ToString();
    return shown ? *shown : Value();
  }
  std::string RunRow(const std::string& id, const std::string& key) {
    std::string row;
    const auto found =
        database_->rows().Get(db::RowFamily::kRun, database_->ShardOfKey(id), key, &row);
    EXPECT_TRUE(found && *found) << key;
    return row;
  }
  void Restart() {
    host_.reset();
    Begin();
  }
};

TEST_F(DurableTest, IsListedAndToldStepByStep) {
  Load(Files(""));
  EXPECT_EQ(Run("three", Value::EmptyObject()), R"(200 {"count":1,"version":1})");
  WaitUntil([&] { return List(RunPhase::kCompleted).size() == 1; });
  const RunHead head = List()[0];
  EXPECT_EQ(head.flow, "three");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.steps, 3u);
  const Value shown = Show(head.id);
  ASSERT_EQ(shown["steps"].size(), 3u);
  const Value& second = shown["steps"][1];
  EXPECT_EQ(json::ToText(second["input"]), R"({"name":"second"})");
  EXPECT_EQ(json::ToText(second["output"]), R"({"count":1,"version":1})");
  EXPECT_EQ(second["state"], Value("done"));
  EXPECT_GE(second["ended_ms"].AsInt(), second["sent_ms"].AsInt());
  EXPECT_EQ(shown["model"]["second"], Value(1));
  EXPECT_EQ(shown["waiting"].size(), 0u);
  EXPECT_EQ(Counted("third"), 1);
}

// Three tasks that only answer; the last one never does if the input says so.
std::map<std::string, std::string, std::less<>> AnsweringFiles() {
  std::string flow =
      "flow: {id: three, description: d, durable: true, ttl: 1h}\nfirst.task: a\ntasks:\n";
  for (const auto& [name, next] : {std::pair("a", "b"), std::pair("b", "c"), std::pair("c", "")}) {
    const bool last = *next == '\0';
    flow += fmt::format(
        "  - name: {0}\n    process: answer.demo\n    description: answers\n"
        "    input: ['text({0}) -> name', 'input.body.hang -> hang']\n    output: ['result -> "
        "{1}']\n",
        name, last ? "output.body" : fmt::format("model.{}", name));
    flow += last ? "    execution: end\n"
                 : fmt::format("    execution: sequential\n    next: ['{}']\n", next);
  }
  return {{"flows.yaml", "flows: ['three.yml']"},
          {"flows/three.yml", flow},
          {"tasks/answer.demo.js",
           "function handleEvent(headers, input) { while (input.hang === input.name) {} "
           "return input.name; }"}};
}

// A slow machine stores them in between; then the next run is looked at.
TEST_F(DurableTest, StepsThatOnlyAnswerAreOneCommit) {
  Load(AnsweringFiles());
  WaitUntil([&] {
    const uint64_t before = database_->operations().Stats().shards[0].commits;
    EXPECT_EQ(Run("three", Value::EmptyObject()), "200 \"c\"");
    return database_->operations().Stats().shards[0].commits == before + 1;
  });
  WaitUntil([&] { return List(RunPhase::kRunning).empty(); });
  const Value steps = Show(List()[0].id)["steps"];
  ASSERT_EQ(steps.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(steps[i]["input"]["name"], Value(std::string(1, static_cast<char>('a' + i))));
    EXPECT_EQ(steps[i]["state"], Value("done"));
  }
}

// What is held back is stored while the next function runs.
TEST_F(DurableTest, HeldStepsAreStoredWhileAFunctionRunsForLong) {
  Load(AnsweringFiles());
  Begin3(Value::Object({{"body", Value::Object({{"hang", "c"}})}}));
  WaitUntil([&] { return List(RunPhase::kRunning).size() == 1; });
  const std::string id = List()[0].id;
  WaitUntil([&] { return Show(id)["steps"].size() == 2; });
  EXPECT_TRUE(host_->engine().Cancel(id));
  EXPECT_EQ(List(RunPhase::kCancelled).size(), 1u);
}

// Who started it waits a millisecond, the second task three seconds.
TEST_F(DurableTest, GoesOnWhenNobodyWaitsAnyMore) {
  UseMovedClock();
  Load(Files("    delay: 3s\n"));
  flow::Start start;
  start.flow = "three";
  start.input = Value::EmptyObject();
  std::promise<Reply> answered;
  host_->engine().Start(
      host_->app(), std::move(start), [&](Reply reply) { answered.set_value(std::move(reply)); },
      "rest", 1);
  clock_.AdvanceMs(1);
  const Reply reply = answered.get_future().get();
  EXPECT_EQ(reply.status, 408);
  EXPECT_THAT(json::ToText(reply.body), HasSubstr("goes on"));
  EXPECT_EQ(Counted("third"), 0);
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == 1; });
  EXPECT_EQ(Counted("third"), 1);
}

TEST_F(DurableTest, GoesOnAfterARestart) {
  UseMovedClock();
  Load(Files("    delay: 10s\n"));
  Begin3();
  WaitUntil([&] { return Counted("first") == 1; });
  Restart();
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == 1; });
  EXPECT_EQ(Counted("first"), 1);
  EXPECT_EQ(Counted("second"), 1);
  EXPECT_EQ(Counted("third"), 1);
  // Nothing is left to do.
  Restart();
  EXPECT_EQ(host_->engine().running(), 0u);
}

TEST_F(DurableTest, FinishesWithTheAppThatItBeganWith) {
  UseMovedClock();
  Load(Files("    delay: 10s\n", 1));
  Begin3();
  WaitUntil([&] { return Counted("first") == 1; });
  Load(Files("", 2));
  Restart();
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == 1; });
  EXPECT_EQ(json::ToText(Show(List()[0].id)["steps"][2]["output"]), R"({"count":1,"version":1})");
  EXPECT_EQ(Run("three", Value::EmptyObject()), R"(200 {"count":2,"version":2})");
  // The first app is needed no more.
  Restart();
  ASSERT_TRUE(host_->runs().Sweep().ok());
  const auto rows = database_->rows().NewIterator(db::RowFamily::kRun, db::kDefinitionsShard,
                                                  {.from = std::string(kAppPrefix), .to = "b"});
  size_t apps = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) ++apps;
  EXPECT_EQ(apps, 1u);
}

TEST_F(DurableTest, IsCancelled) {
  Load(Files("    delay: 600000\n"));
  Begin3();
  WaitUntil([&] { return Counted("first") == 1; });
  const std::string id = List()[0].id;
  ASSERT_TRUE(host_->runs().Cancel(id).ok());
  EXPECT_EQ(List()[0].phase, RunPhase::kCancelled);
  EXPECT_EQ(Show(id)["steps"][1]["state"], Value("abandoned"));
  EXPECT_EQ(host_->runs().Cancel(id).id(), "flow.run_finished");
  EXPECT_EQ(host_->runs().Cancel("x").id(), "flow.run_not_found");
  Restart();
  EXPECT_EQ(host_->engine().running(), 0u);
  EXPECT_EQ(Counted("second"), 0);
}

TEST_F(DurableTest, IsRetriedFromAStep) {
  Load(Files(""));
  const Value input = Value::Object({{"body", Value::Object({{"fail", "go"}})}});
  EXPECT_THAT(Run("three", input), HasSubstr("422"));
  WaitUntil([&] { return List(RunPhase::kFailed).size() == 1; });
  const std::string id = List()[0].id;
  EXPECT_EQ(List()[0].message, "not yet");
  // A task that fails writes nothing.
  EXPECT_EQ(Counted("first"), 0);
  EXPECT_EQ(Show(id)["steps"][0]["state"], Value("failed"));
  EXPECT_EQ(host_->runs().Retry(id, 7).id(), "flow.step_not_found");
  Put("go");
  ASSERT_TRUE(host_->runs().Retry(id, std::nullopt).ok());
  WaitUntil([&] { return List(RunPhase::kCompleted).size() == 1; });
  EXPECT_EQ(List()[0].retries, 1u);
  EXPECT_EQ(Counted("third"), 1);
  // Once more from the second, whatever came of it.
  ASSERT_TRUE(host_->runs().Retry(id, 2).ok());
  WaitUntil([&] { return Counted("third") == 2; });
  EXPECT_EQ(Counted("first"), 1);
  EXPECT_EQ(Counted("second"), 2);
}

TEST_F(DurableTest, ALargeInputIsStoredOnce) {
  constexpr size_t kLarge = 500'000;
  UseMovedClock();
  Load(Files("    delay: 1s\n"));
  Put("go");
  Begin3(Value::Object(
      {{"body", Value::Object({{"fail", "go"}, {"large", std::string(kLarge, 'x')}})}}));
  WaitUntil([&] { return Counted("first") == 1; });
  Restart();
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == 1; });
  const std::string id = List()[0].id;
  EXPECT_EQ(json::ToText(Show(id)["steps"][2]["input"]), R"({"name":"third","fail":"go"})");
  EXPECT_GT(RunRow(id, InputKey(id)).size(), kLarge);
  for (const std::string& key : {MachineKey(id), StepKey(id, 1), StepKey(id, 3)}) {
    EXPECT_LT(RunRow(id, key).size(), 5000u) << key;
    EXPECT_GT(RunRow(id, key).size(), 100u) << key;
  }
  ASSERT_TRUE(host_->runs().Retry(id, 2).ok());
  WaitAndMove([&] { return Counted("third") == 2; });
  EXPECT_EQ(Counted("first"), 1);
  // It goes with its run.
  Begin3();
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == 2; });
  retention_.most = 1;
  Restart();
  ASSERT_TRUE(host_->runs().Sweep().ok());
  EXPECT_EQ(List().size(), 1u);
  std::string row;
  EXPECT_FALSE(
      *database_->rows().Get(db::RowFamily::kRun, database_->ShardOfKey(id), InputKey(id), &row));
}

TEST_F(DurableTest, EndsWhenItsTimeIsOver) {
  UseMovedClock();
  Load(Files("    delay: 4900\n", 1, "5s"));
  Begin3();
  WaitUntil([&] { return Counted("first") == 1; });
  host_.reset();
  clock_.AdvanceMs(5100);
  Begin();
  WaitUntil([&] { return List(RunPhase::kRunning).empty(); });
  const RunHead head = List()[0];
  // The second task was due first, and was begun; whether it was fast enough does not matter.
  EXPECT_EQ(head.phase, RunPhase::kFailed);
  EXPECT_EQ(head.status, 408);
  EXPECT_EQ(head.message, "Flow timeout for 5000 ms");
  EXPECT_EQ(Counted("second"), 0);
}

TEST_F(DurableTest, FinishedRunsAreRemoved) {
  Load(Files(""));
  retention_ = {.keep_ms = 3'600'000, .most = 2};
  Restart();
  for (int i = 0; i < 5; ++i) Run("three", Value::EmptyObject());
  WaitUntil([&] { return List(RunPhase::kRunning).empty(); });
  const std::vector<RunHead> all = List();
  ASSERT_TRUE(host_->runs().Sweep().ok());
  const std::vector<RunHead> kept = List();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].id, all[0].id);
  EXPECT_EQ(kept[1].id, all[1].id);
  size_t rows = 0;
  const auto iterator = database_->rows().NewIteratorOfAll(db::RowFamily::kRun);
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++rows;
  EXPECT_EQ(rows, 1u + 2 * 5);  // the app; head, machine and three steps each
}

TEST_F(DurableTest, IsListedInPages) {
  Load(Files(""));
  for (int i = 0; i < 5; ++i) Run("three", Value::EmptyObject());
  std::string before;
  std::vector<std::string> ids;
  do {
    const auto page =
        host_->runs().List({.flow = "three", .phase = {}, .before = before, .limit = 2});
    ASSERT_TRUE(page.has_value());
    for (const RunHead& head : page->runs) ids.push_back(head.id);
    before = page->next;
  } while (!before.empty());
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(ids, std::greater()));
  EXPECT_TRUE(host_->runs().List({.flow = "two", .phase = {}, .before = ""})->runs.empty());
}

// More runs than may be in memory wait for a time that is far away.
TEST_F(DurableTest, LongDelaysAreNotInMemory) {
  constexpr size_t kRuns = 40;
  options_.max_runs = 10;
  options_.park_after_ms = 1;
  Restart();
  Load(Files("    delay: 30m\n"));
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(Launch3());
    WaitUntil([&] { return host_->runs().parked() == i + 1; });
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(host_->engine().running(), 0u);
  EXPECT_EQ(host_->engine().running_durable(), 0u);
  EXPECT_EQ(List(RunPhase::kRunning).size(), kRuns);
  EXPECT_EQ(Counted("first"), static_cast<int64_t>(kRuns));
  // After a restart they are where they were.
  Restart();
  EXPECT_EQ(host_->runs().parked(), kRuns);
  EXPECT_EQ(host_->engine().running(), 0u);
  const std::string id = List()[0].id;
  EXPECT_EQ(Show(id)["waiting"][0]["task"], Value("second"));
  ASSERT_TRUE(host_->runs().Cancel(id).ok());
  EXPECT_EQ(List(RunPhase::kCancelled).size(), 1u);
  EXPECT_EQ(host_->runs().Cancel(id).id(), "flow.run_finished");
  EXPECT_EQ(host_->runs().parked(), kRuns - 1);
}

TEST_F(DurableTest, GoOnWhenALongDelayIsOver) {
  constexpr size_t kRuns = 30;
  options_.max_runs = 10;
  options_.park_after_ms = 1;
  UseMovedClock();
  Load(Files("    delay: 1s\n"));
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(Launch3());
    WaitUntil([&] { return host_->runs().parked() == i + 1; });
    if (HasFatalFailure()) return;
  }
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == kRuns; });
  EXPECT_EQ(host_->runs().parked(), 0u);
  for (const std::string name : {"first", "second", "third"}) {
    EXPECT_EQ(Counted(name), static_cast<int64_t>(kRuns)) << name;
  }
}

class ClockAhead final : public Clock {
 public:
  uint64_t WallNs() const override { return clock_.WallNs() + 86'400ull * 1'000'000'000; }
  uint64_t MonotonicNs() const override { return clock_.MonotonicNs(); }

 private:
  const SystemClock clock_;
};

// A run that was stored by a clock that was a day ahead has what was left of its times.
TEST_F(DurableTest, AClockThatIsSetBackAddsNothing) {
  const ClockAhead ahead;
  for (const uint64_t park_after_ms : {30'000, 1}) {
    host_.reset();
    options_.park_after_ms = park_after_ms;
    host_ = std::make_unique<Host>(Services{{*database_, *engine_, ahead}, *engine_, *procedures_},
                                   options_, retention_);
    ASSERT_TRUE(host_->Start().ok());
    Load(Files("    delay: 1s\n", 1, "20s"));
    const int64_t before = Counted("third");
    ASSERT_TRUE(Launch3());
    WaitUntil([&] { return Counted("first") == before + 1; });
    Restart();
    const uint64_t from_ns = MachineClock().MonotonicNs();
    WaitUntil([&] { return Counted("third") == before + 1; });
    EXPECT_LT(MachineClock().MonotonicNs() - from_ns, 15ull * 1'000'000'000);
  }
}

// Two servers go on with the same runs: one of them stores each step, the other one leaves.
TEST_F(DurableTest, EachEffectIsThereOnceWhenTwoEnginesHaveTheRun) {
  constexpr int kRuns = 20;
  options_.park_after_ms = 0;
  UseMovedClock();
  Load(Files("    delay: 10m\n"));
  for (int i = 0; i < kRuns; ++i) ASSERT_TRUE(Launch3());
  WaitAndMove([&] { return Counted("first") == kRuns; });  // the delay is much longer
  Host other(Services{{*database_, *engine_, clock_}, *engine_, *procedures_}, options_,
             retention_);
  ASSERT_TRUE(other.Start().ok());
  EXPECT_EQ(other.engine().counts().durable_resumed, static_cast<uint64_t>(kRuns));
  clock_.AdvanceMs(600'000);
  WaitAndMove([&] { return List(RunPhase::kCompleted).size() == kRuns; });
  // None of them tries to store a run that has ended.
  WaitAndMove([&] { return host_->engine().running() == 0 && other.engine().running() == 0; });
  for (const std::string name : {"first", "second", "third"}) {
    EXPECT_EQ(Counted(name), kRuns) << name;
  }
  const uint64_t ended = host_->engine().counts().completed + other.engine().counts().completed;
  EXPECT_EQ(ended, static_cast<uint64_t>(kRuns));
  // A run that goes on elsewhere is cancelled there.
  EXPECT_EQ(host_->runs().Cancel(List()[0].id).id(), "flow.run_finished");
}

// A crash has left two steps in between that append the same: one had begun, the other one not.
TEST_F(DurableTest, FilesOfStepsAreWrittenOnceAfterACrash) {
  host_.reset();
  const std::string directory = directory_ / "files";
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/log") << "x";
  const StepFile append{
      .flow = "f", .path = directory + "/log", .bytes = "done", .mode = flow::Files::Mode::kAppend};
  StepFile begun = append;
  begun.at = 1;
  const std::pair<std::string, StepFile> left[] = {{"a", append}, {"b", begun}};
  db::Commit commit;
  for (const auto& [id, file] : left) {
    RunHead head{.id = id, .flow = "f"};
    head.phase = RunPhase::kCompleted;
    commit.rows.push_back(flow_engine::RunRow(HeadKey(id), EncodeHead(head)));
    commit.rows.push_back(flow_engine::RunRow(FilesKey(id), EncodeFiles({file})));
  }
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  Services services{{*database_, *engine_, MachineClock()}, *engine_, *procedures_};
  services.directories = {directory};
  for (int i = 0; i < 2; ++i) {
    Host host(services, options_, retention_);
    ASSERT_TRUE(host.Start().ok());
    std::ifstream in(directory + "/log");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "xdonedone");
  }
}

// What is wrong is put right, and the run goes on with that.
TEST_F(DurableTest, IsRetriedWithThePresentApp) {
  Load(Files("", 1));
  Run("three", Value::EmptyObject());
  WaitUntil([&] { return List(RunPhase::kCompleted).size() == 1; });
  Load(Files("", 2));
  const std::string id = List()[0].id;
  ASSERT_TRUE(host_->runs().Retry(id, std::nullopt).ok());
  WaitUntil([&] { return Counted("third") == 2 && List(RunPhase::kCompleted).size() == 1; });
  EXPECT_EQ(json::ToText(Show(id)["steps"][2]["output"]), R"({"count":2,"version":2})");
}

}  // namespace
}  // namespace sluice::flow_engine
