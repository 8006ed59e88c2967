// The app's row is written by another host over the same database, or by the test itself.
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "db/catalog_rows.h"
#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using testing::HasSubstr;
using Files = std::map<std::string, std::string, std::less<>>;

// An app whose flow answers with the number.
Files Answering(int number) {
  return {{"flows.yaml", "flows: ['answer.yml']"},
          {"flows/answer.yml", R"(
flow: {id: answer, description: d, ttl: 10s}
first.task: answer
tasks:
  - name: answer
    process: answer.demo
    description: answers
    input: ['input.body -> body']
    output: ['result -> output.body']
    execution: end
)"},
          {"tasks/answer.demo.js",
           fmt::format("function handleEvent() {{ return {{number: {}}}; }}", number)}};
}

class FollowAppTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    other_ = std::make_unique<Host>(
        Services{{*database_, *engine_, *host_clock_}, *engine_, *procedures_}, options_,
        retention_);
    ASSERT_TRUE(other_->Start().ok());
  }
  void TearDown() override {
    other_.reset();
    HostTest::TearDown();
  }
  void ApplyElsewhere(Files files) {
    flow::Problems problems;
    ASSERT_TRUE(other_->Apply({std::move(files)}, &problems).ok());
    ASSERT_FALSE(problems.has_errors()) << problems.Sorted().front().ToString();
  }
  void WriteRow(std::optional<std::string> row) {
    db::Commit commit;
    commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard, std::string(kAppRow),
                           std::move(row), std::nullopt});
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  std::string Answer() { return Run("answer", json::Value::EmptyObject()); }
  bool HasApp() const { return !host_->app()->flows->flows().empty(); }

  std::unique_ptr<Host> other_;
};

TEST_F(FollowAppTest, AnAppThatAnotherHostAppliesRunsHere) {
  ApplyElsewhere(Answering(1));
  WaitUntil([&] { return host_->app()->version == other_->app()->version; });
  EXPECT_EQ(Answer(), R"(200 {"number":1})");
  ApplyElsewhere(Answering(2));
  EXPECT_THAT(Run("answer", {}), HasSubstr("200"));
  WaitUntil([&] { return Answer() == R"(200 {"number":2})"; });
  EXPECT_EQ(host_->app()->bundle, other_->app()->bundle);
  // In the other direction, and what Apply returns for has taken effect.
  ASSERT_EQ(Apply(Answering(3)), "");
  EXPECT_EQ(Answer(), R"(200 {"number":3})");
  WaitUntil([&] { return host_->app()->version == other_->app()->version; });
  ApplyElsewhere({});
  WaitUntil([&] { return !HasApp(); });
}

TEST_F(FollowAppTest, FollowsTheRowAlone) {
  ASSERT_EQ(Apply(Answering(1)), "");
  std::string row;
  ASSERT_TRUE(*database_->rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard, kAppRow, &row));
  WriteRow(std::nullopt);
  WaitUntil([&] { return !HasApp(); });
  WriteRow(row);
  WaitUntil([&] { return HasApp(); });
  EXPECT_EQ(Answer(), R"(200 {"number":1})");
  // What can't be read changes nothing.
  WriteRow("nonsense");
  json::Value broken = *db::DecodeMetaJson(kAppRow, row);
  ASSERT_EQ(Answer(), R"(200 {"number":1})");
  // As at a start, an app that can't be compiled is none.
  Files files = Answering(1);
  files["flows/answer.yml"] = "flow: {";
  broken = ToJson(Bundle{files});
  broken.Set("version", "ffff");
  WriteRow(db::EncodeMetaJson(broken));
  WaitUntil([&] { return !HasApp(); });
}

// The follower of a flow with `on` is made by whoever runs the app.
TEST_F(FollowAppTest, ChangesStartFlowsOfTheFollowedApp) {
  other_.reset();  // one of them starts the runs
  Files files = Answering(1);
  const std::string head = "ttl: 10s";
  std::string& flow = files["flows/answer.yml"];
  flow.replace(flow.find(head), head.size(), "ttl: 1h, durable: true, on: b");
  ASSERT_EQ(Apply(files), "");
  std::string row;
  ASSERT_TRUE(*database_->rows().Get(db::RowFamily::kMeta, db::kDefinitionsShard, kAppRow, &row));
  ASSERT_EQ(Apply({}), "");
  ASSERT_TRUE(Put("a", "1").status.ok());
  WriteRow(row);
  WaitUntil([&] {
    // The follower sees the changes that come after it was made.
    EXPECT_TRUE(Put("b", "2").status.ok());
    const auto runs = host_->runs().List({.flow = "", .phase = RunPhase::kCompleted, .before = ""});
    return !runs->runs.empty();
  });
}

}  // namespace
}  // namespace sluice::flow_engine
