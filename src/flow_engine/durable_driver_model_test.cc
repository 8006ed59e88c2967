// A durable run in a world where everything goes wrong, by chance: commits fail or meet conflicts,
// the database's answers come late and in any order, processes crash between any two steps, and a
// second process goes on with the same run. In the end each effect must be there once, and the
// run's answer must be that of a run in memory.
#include <set>

#include "base/random.h"
#include "flow_engine/fake_run.h"
#include "flow_engine/memory_driver.h"

namespace sluice::flow_engine {
namespace {

constexpr uint64_t kBeginMs = 1'700'000'000'000;

// Writers and answerers in a fork over a list, a loop, a delay, a file.
constexpr std::string_view kFlow = R"(
flow: {id: model, description: d, durable: true, ttl: 1h}
first.task: begin
tasks:
  - {name: begin, process: answer.begin, description: d, input: ['input.list -> model.list'],
     execution: fork, source: model.list, next: [each], join: joined}
  - {name: each, process: write.each, description: d, input: ['model.list.ITEM -> item'],
     output: ['result -> model.done[model.list.INDEX]'], execution: sink}
  - {name: joined, process: answer.joined, description: d, execution: fork,
     next: [left, right], join: later}
  - {name: left, process: write.left, description: d, execution: sink}
  - {name: right, process: answer.right, description: d, output: ['result -> file(/f/right)'],
     execution: sink}
  - {name: later, process: write.later, description: d, delay: 700, execution: sequential, next: [loop]}
  - {name: loop, process: answer.loop, description: d, execution: pipeline,
     loop: {statement: 'for (model.i = 0; model.i < 3; model.i++)'}, pipeline: [round, log], next: [end]}
  - {name: round, process: write.round, description: d, input: ['model.i -> i'], execution: sink}
  - {name: log, process: answer.log, description: d, output: ['result -> file(append:/f/log)'],
     execution: sink}
  - {name: end, process: write.end, description: d, input: ['model.done -> done'], output: ['result -> output.body'], execution: end}
)";

json::Value Input() { return json::Value::Object({{"list", json::Value::Array({"a", "b", "c"})}}); }

struct Expected {
  std::set<std::string> effects;
  std::string answer;
};

class Nothing final : public StepObserver, public StepFiles {
 public:
  void OnStep(const flow::Run& /*run*/, const flow::Actions& /*actions*/, size_t /*ended_tasks*/,
              RunTime /*now*/) override {}
  void Write(const std::vector<StepFile>& /*files*/) override {}
};

// What a run in memory does, where nothing goes wrong.
Expected InMemory(const std::shared_ptr<const flow::FlowSet>& flows) {
  Expected expected;
  Nothing nothing;
  const AnyFiles files;
  MemoryDriver driver(flow::Run(flows, &files), nothing, nothing);
  std::deque<flow::Call> calls;
  uint64_t now_ms = kBeginMs;
  const auto take = [&](RunEvent event) {
    for (flow::Action& action : driver.OnEvent(std::move(event), {.wall_ms = now_ms}).actions) {
      if (auto* call = std::get_if<flow::Call>(&action)) calls.push_back(std::move(*call));
      if (auto* respond = std::get_if<flow::Respond>(&action)) {
        expected.answer = json::ToText(respond->body);
      }
    }
  };
  flow::Start start;
  start.flow = "model";
  start.run = "run";
  start.input = Input();
  take({.event = start});
  while (!driver.gone()) {
    if (calls.empty()) {
      now_ms = *driver.due_ms();
      take({.event = flow::Tick{}});
      continue;
    }
    const flow::Call call = calls.front();
    calls.pop_front();
    const std::string effect = std::string(call.route) + json::ToText(call.body);
    if (call.route.starts_with("write")) expected.effects.insert(effect);
    take({.event = flow::TaskResult{call.call, 200, {}, json::Value(effect)}});
  }
  return expected;
}

class World {
 public:
  World(uint64_t seed, std::shared_ptr<const flow::FlowSet> flows)
      : random_(seed), flows_(std::move(flows)) {}

  // False: it does not end.
  bool RunToEnd() {
    constexpr int kMostSteps = 20'000;
    AddProcess()->Start("model", Input(), now_ms_);
    for (int i = 0; i < kMostSteps; ++i) {
      if (HasEnded()) return true;
      Step();
      RemoveDone();
      // Somebody must own the run; before it is stored at all, its client starts it again.
      if (processes_.empty() && !store.Row(HeadKey("run"))) {
        AddProcess()->Start("model", Input(), now_ms_);
      } else if (processes_.empty() && !HasEnded()) {
        AddProcess()->Resume(now_ms_);
      }
    }
    return false;
  }

  FakeStore store;
  int answers = 0;
  int ends = 0;
  std::string answer;
  int crashes = 0;
  int second_owners = 0;
  int losses = 0;

 private:
  bool HasEnded() const {
    const auto head = store.Row(HeadKey("run"));
    return head && DecodeHead("run", *head)->phase != RunPhase::kRunning && processes_.empty();
  }
  FakeProcess* AddProcess() {
    processes_.push_back(std::make_unique<FakeProcess>("run", flows_, &store, ++writer_));
    return processes_.back().get();
  }

  void Step() {
    if (random_.OneIn(60)) return Crash();
    if (random_.OneIn(80) && processes_.size() < 3) {
      FakeProcess* const other = AddProcess();
      if (other->Resume(now_ms_)) {
        ++second_owners;
      } else {
        processes_.pop_back();
      }
      return;
    }
    now_ms_ += random_.Below(8);
    FakeProcess& process = *processes_[random_.Below(processes_.size())];
    switch (random_.Below(6)) {
      case 0:
      case 1:
        if (!process.calls.empty()) process.Answer(random_.Below(process.calls.size()), now_ms_);
        return;
      case 2:
        return StoreNext(process);
      case 3:
        return DeliverOne(process);
      case 4:
        return process.Take(process.driver->OnIdle({.wall_ms = now_ms_}));
      default:
        if (const auto due_ms = process.driver->due_ms()) {
          if (process.calls.empty() && process.submitted.empty()) {
            now_ms_ = std::max(now_ms_, *due_ms);
          }
          if (*due_ms <= now_ms_) process.Tick(now_ms_);
        }
    }
  }

  // The database comes to the next commit of a process.
  void StoreNext(FakeProcess& process) {
    using Kind = StoreResult::Kind;
    const auto next =
        std::ranges::find_if(process.submitted, [](const auto& each) { return !each.result; });
    if (next == process.submitted.end()) return;
    const bool has_writes = std::ranges::any_of(next->request.commit.rows, [](const auto& row) {
      return row.family == db::RowFamily::kFailure;
    });
    // Writes of a function that the database can't store fail the task, which the flow would see.
    if (!has_writes && random_.OneIn(12)) {
      next->result = StoreResult{Kind::kRefused, Error(Code::kIo, "storage.write", "no disk")};
      return;
    }
    if (has_writes && random_.OneIn(6)) {
      next->result = store.Refusal("run", next->request);
      return;
    }
    const bool applied = store.Apply(next->request.commit);
    next->result = applied ? StoreResult{} : store.Refusal("run", next->request);
  }

  void DeliverOne(FakeProcess& process) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < process.submitted.size(); ++i) {
      if (process.submitted[i].result) ready.push_back(i);
    }
    if (!ready.empty()) process.Deliver(ready[random_.Below(ready.size())], now_ms_);
  }

  // What the database has not come to yet is lost with the process, and so are its answers.
  void Crash() {
    ++crashes;
    processes_.erase(processes_.begin() + static_cast<int64_t>(random_.Below(processes_.size())));
  }

  void RemoveDone() {
    std::erase_if(processes_, [&](const auto& process) {
      for (const flow::Respond& each : process->answers) {
        ++answers;
        answer = json::ToText(each.body);
      }
      process->answers.clear();
      ends += static_cast<int>(std::exchange(process->ends, {}).size());
      if (process->lost) ++losses;
      return process->driver->state() == DurableDriver::State::kGone;
    });
  }

  Random random_;
  const std::shared_ptr<const flow::FlowSet> flows_;
  uint64_t now_ms_ = kBeginMs;
  uint64_t writer_ = 0;
  std::vector<std::unique_ptr<FakeProcess>> processes_;
};

TEST(DurableDriverModel, EachEffectIsThereOnceWhateverGoesWrong) {
  constexpr uint64_t kSeeds = 400;
  const auto flows = CompiledFlow(kFlow);
  const Expected expected = InMemory(flows);
  ASSERT_EQ(expected.effects.size(), 9u);
  int crashes = 0;
  int second_owners = 0;
  int losses = 0;
  int answers = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed, flows);
    ASSERT_TRUE(world.RunToEnd());
    std::set<std::string> effects;
    for (const auto& [effect, times] : world.store.effects) {
      EXPECT_EQ(times, 1) << effect;
      effects.insert(effect);
    }
    EXPECT_EQ(effects, expected.effects);
    EXPECT_GE(world.store.files["/f/right"], 1);
    EXPECT_GE(world.store.files["/f/log"], 3);
    // A crash may lose the answer; nobody gives two.
    EXPECT_LE(world.answers, 1);
    EXPECT_LE(world.ends, 1);
    if (world.answers == 1) {
      EXPECT_EQ(world.answer, expected.answer);
    }
    crashes += world.crashes;
    second_owners += world.second_owners;
    losses += world.losses;
    answers += world.answers;
    if (HasFailure()) return;
  }
  // It did go wrong.
  EXPECT_GT(crashes, 100);
  EXPECT_GT(second_owners, 100);
  EXPECT_GT(losses, 100);
  EXPECT_GT(answers, 100);
}

}  // namespace
}  // namespace sluice::flow_engine
