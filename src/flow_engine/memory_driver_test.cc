#include "flow_engine/memory_driver.h"

#include "flow_engine/fake_run.h"

namespace sluice::flow_engine {
namespace {

constexpr std::string_view kTwoTasks = R"(
flow: {id: two, description: d, ttl: 10s}
first.task: one
tasks:
  - {process: one, description: d, execution: sequential, next: [two], output: ['result -> file(/f/x)']}
  - {process: two, description: d, execution: end, output: ['result -> output.body']}
)";

class Noted final : public StepObserver, public StepFiles {
 public:
  void OnStep(const flow::Run& /*run*/, const flow::Actions& actions, size_t /*ended_tasks*/,
              RunTime now) override {
    steps.push_back(fmt::format("{} actions at {}", actions.size(), now.wall_ms));
  }
  void Write(const std::vector<StepFile>& files) override {
    for (const StepFile& file : files) written.push_back(file.path + "=" + *file.bytes);
  }

  std::vector<std::string> steps;
  std::vector<std::string> written;
};

TEST(MemoryDriver, StepsAtOnceAndStoresNothing) {
  Noted noted;
  const AnyFiles files;
  MemoryDriver driver(flow::Run(CompiledFlow(kTwoTasks), &files), noted, noted);
  flow::Start start;
  start.flow = "two";
  start.run = "run";
  start.input = json::Value::EmptyObject();
  Outcome outcome = driver.OnEvent({.event = std::move(start)}, {.wall_ms = 1000});
  EXPECT_TRUE(outcome.commits.empty());
  ASSERT_EQ(outcome.actions.size(), 1u);
  EXPECT_EQ(driver.due_ms(), 11'000u);
  const uint64_t first = std::get<flow::Call>(outcome.actions[0]).call;
  outcome = driver.OnEvent({.event = flow::TaskResult{first, 200, {}, "a"}}, {.wall_ms = 2000});
  EXPECT_EQ(noted.written, std::vector<std::string>{"/f/x=a"});
  ASSERT_EQ(outcome.actions.size(), 1u);  // the file is no action any more
  const uint64_t second = std::get<flow::Call>(outcome.actions[0]).call;
  // An answer of a thread that was slower: time does not go back.
  outcome = driver.OnEvent({.event = flow::TaskResult{second, 200, {}, "b"}}, {.wall_ms = 1999});
  EXPECT_EQ(driver.stepped_ms(), 2000u);
  EXPECT_EQ(outcome.actions.size(), 2u);
  EXPECT_TRUE(driver.gone());
  EXPECT_EQ(driver.due_ms(), std::nullopt);
  EXPECT_TRUE(driver.OnEvent({.event = flow::Tick{}}, {.wall_ms = 3000}).actions.empty());
  EXPECT_EQ(noted.steps.size(), 3u);
}

}  // namespace
}  // namespace sluice::flow_engine
