// Functions whose rows somebody else writes: here the test itself.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "db/catalog_rows.h"
#include "function/test_manager.h"

namespace sluice::function {
namespace {

constexpr const char* kCopy = "function OnUpdate(doc, meta) { dst[meta.id] = doc; }";

class FollowRowsTest : public ManagerTest {
 protected:
  void WriteMeta(std::string key, std::optional<json::Value> value) {
    db::Commit commit;
    commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard, std::move(key),
                           value ? std::optional(db::EncodeMetaJson(*value)) : std::nullopt,
                           std::nullopt});
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  void Write(const Definition& definition) {
    WriteMeta("function/" + definition.Location(), PrintDefinition(definition, Secrets::kShown));
  }
  void WriteState(Definition definition, State state) {
    definition.instance_id = "7-made";
    definition.uuid = 7;
    definition.settings.deployed = state != State::kUndeployed;
    definition.settings.processing = state == State::kDeployed;
    Write(definition);
  }
  void Erase(const std::string& name) { WriteMeta("function/" + name, std::nullopt); }
  bool Knows(const std::string& name) { return manager_->Find(name).has_value(); }
  std::string FailureOf(const std::string& name) { return manager_->StatusOf(name)->failure; }
};

TEST_F(FollowRowsTest, ADefinitionComesChangesAndGoes) {
  Definition definition = Function(kCopy);
  Write(definition);
  EXPECT_TRUE(Await([&] { return Knows("f"); }));
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kUndeployed);
  definition.code = "function OnUpdate(doc, meta) { dst[meta.id] = 'changed'; }";
  Write(definition);
  EXPECT_TRUE(Await([&] { return manager_->Find("f")->code == definition.code; }));
  ASSERT_TRUE(manager_->Deploy("f").ok());
  Put("a", "1");
  EXPECT_EQ(AwaitDocument("a"), "\"changed\"");
  ASSERT_TRUE(manager_->Undeploy("f").ok());
  Erase("f");
  EXPECT_TRUE(Await([&] { return !Knows("f"); }));
  EXPECT_TRUE(manager_->List().empty());
  EXPECT_EQ(manager_->Deploy("f").id(), "function.not_found");
  // Another one can have the name.
  Deploy(kCopy);
  Put("b", "2");
  EXPECT_EQ(AwaitDocument("b"), "2");
}

TEST_F(FollowRowsTest, RunsPausesAndEndsAsTheRowSays) {
  const Definition definition = Function(kCopy);
  WriteState(definition, State::kDeployed);
  Put("a", "1");
  EXPECT_EQ(AwaitDocument("a"), "1");
  AwaitState("f", State::kDeployed);
  EXPECT_EQ(manager_->Deploy("f").id(), "function.already_deployed");

  WriteState(definition, State::kPaused);
  AwaitState("f", State::kPaused);
  EXPECT_EQ(manager_->Pause("f").id(), "function.already_paused");  // waits for the change's end
  Put("b", "2");
  EXPECT_EQ(Get("b"), "-");
  WriteState(definition, State::kDeployed);
  EXPECT_EQ(AwaitDocument("b"), "2");

  // The function runs on with other settings and from where it was.
  Definition changed = definition;
  changed.settings.worker_count = 3;
  WriteState(changed, State::kDeployed);
  EXPECT_TRUE(Await([&] { return manager_->Find("f")->settings.worker_count == 3u; }));
  Put("c", "3");
  EXPECT_EQ(AwaitDocument("c"), "3");
  EXPECT_EQ(Count("execution_stats", "on_update_success"), 3u);

  WriteState(definition, State::kUndeployed);
  AwaitState("f", State::kUndeployed);
  EXPECT_EQ(manager_->Undeploy("f").id(), "function.not_deployed");
  ASSERT_TRUE(database_->followers().Drop(FollowerOf(*manager_->Find("f"))).ok());
  Put("d", "4");
  ASSERT_TRUE(manager_->Deploy("f").ok());
  EXPECT_EQ(AwaitDocument("d"), "4");
}

TEST_F(FollowRowsTest, ADeployedFunctionThatIsRemovedEnds) {
  Deploy(kCopy);
  Erase("f");
  EXPECT_TRUE(Await([&] { return !Knows("f"); }));
  Put("a", "1");
  EXPECT_EQ(Get("a"), "-");
}

TEST_F(FollowRowsTest, CodeThatCanNotRunIsAFailure) {
  Definition definition = Function("function OnUpdate(doc, meta) {");
  WriteState(definition, State::kDeployed);
  EXPECT_TRUE(Await([&] { return Knows("f") && !FailureOf("f").empty(); }));
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kDeployed);
  definition.code = kCopy;
  WriteState(definition, State::kDeployed);
  Put("a", "1");
  EXPECT_EQ(AwaitDocument("a"), "1");
  EXPECT_EQ(FailureOf("f"), "");
}

// The check that two functions don't start each other knows of functions that others deployed.
TEST_F(FollowRowsTest, RecursionIsCheckedAgainstDeployedRows) {
  WriteState(Function(kCopy), State::kDeployed);
  Put("a", "1");
  EXPECT_EQ(AwaitDocument("a"), "1");
  Definition back = Function("function OnUpdate(doc, meta) { src[meta.id] = doc; }");
  back.name = "back";
  back.source = {.bucket = "dst"};
  ASSERT_TRUE(manager_->Store(back).ok());
  EXPECT_FALSE(manager_->Deploy("back").ok());
  WriteState(Function(kCopy), State::kUndeployed);
  AwaitState("f", State::kUndeployed);
  EXPECT_EQ(manager_->Undeploy("f").id(), "function.not_deployed");
  EXPECT_TRUE(manager_->Deploy("back").ok());
}

// functions.hold holds what was deployed at the start, whatever its row says, until it is resumed.
TEST_F(FollowRowsTest, AHeldFunctionStaysHeld) {
  Deploy(kCopy);
  Settle();
  Definition stored = *manager_->Find("f");
  Close();
  hold_ = true;
  Open();
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kPaused);
  stored.settings.description = "changed elsewhere";
  Write(stored);
  EXPECT_TRUE(
      Await([&] { return manager_->Find("f")->settings.description == "changed elsewhere"; }));
  EXPECT_EQ(manager_->StatusOf("f")->state, State::kPaused);
  ASSERT_TRUE(manager_->Resume("f").ok());
  Put("a", "1");
  EXPECT_EQ(AwaitDocument("a"), "1");
}

TEST_F(FollowRowsTest, TheConfigurationIsThatOfTheRow) {
  EXPECT_FALSE(manager_->config().debugger);
  WriteMeta("functions/config",
            json::Value::Object({{"enable_debugger", true}, {"function_size", 1000}}));
  EXPECT_TRUE(manager_->config().debugger);
  EXPECT_EQ(manager_->config().function_bytes, 1000u);
  // A change here keeps what the row says.
  ASSERT_TRUE(manager_->SetConfig(json::Value::Object({{"enable_curl", false}})).ok());
  EXPECT_FALSE(manager_->config().curl);
  EXPECT_TRUE(manager_->config().debugger);
  WriteMeta("functions/config", std::nullopt);
  EXPECT_TRUE(manager_->config().curl);
  EXPECT_FALSE(manager_->config().debugger);
}

}  // namespace
}  // namespace sluice::function
