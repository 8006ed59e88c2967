#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/app_directory.h"
#include "cli/function_plan.h"
#include "cli/plan.h"

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kShop[] = R"(
buckets:
  shop:
    indexes: {by_name: [name]}
    scopes:
      inventory:
        collections:
          items:
            max_expiry: 30d
            indexes:
              by_price: [{path: price, desc: true}, sku]
              by_tag:
                - {path: tags, each: true}
          orders: {}
  empty:
)";

std::vector<std::string> Texts(const std::vector<Status>& problems) {
  std::vector<std::string> texts;
  for (const Status& problem : problems) texts.push_back(problem.ToString());
  return texts;
}

std::vector<std::string> Texts(const Plan& plan) {
  std::vector<std::string> texts;
  for (const Step& step : plan.steps) texts.push_back(step.ToString());
  for (const std::string& kept : plan.kept) texts.push_back("keep " + kept);
  return texts;
}

KeyspacesSpec Good(std::string_view yaml) {
  const AppResult result = ReadAppYaml(yaml, "sluice.yaml");
  EXPECT_THAT(Texts(result.problems), IsEmpty());
  return result.app.keyspaces;
}

TEST(AppYaml, ReadsKeyspacesAndIndexes) {
  const KeyspacesSpec spec = Good(kShop);
  ASSERT_EQ(spec.buckets.size(), 2u);
  const BucketSpec& shop = spec.buckets.at("shop");
  const CollectionSpec& items = shop.scopes.at("inventory").collections.at("items");
  EXPECT_EQ(items.max_expiry_ms, 30ull * 24 * 3600 * 1000);
  EXPECT_EQ(items.indexes.at("by_price"), (IndexSpec{{"price", false, true}, {"sku"}}));
  EXPECT_EQ(items.indexes.at("by_tag"), (IndexSpec{{"tags", true, false}}));
  EXPECT_EQ(shop.scopes.at("_default").collections.at("_default").indexes.at("by_name"),
            (IndexSpec{{"name"}}));
  EXPECT_TRUE(spec.buckets.at("empty").scopes.contains("_default"));
}

TEST(AppYaml, AllProblemsAtOnceWithTheirPlaces) {
  const AppResult result = ReadAppYaml(
      "buckts: {}\nbuckets:\n  a b:\n    scopes: []\n  c:\n    scops: {}\n"
      "    scopes: {s: {collections: {x: {max_expiry: soon}}}}\n"
      "    indexes: {i: name, j: [{pth: x}], k: [{path: x, desc: maybe}]}\n",
      "sluice.yaml");
  EXPECT_THAT(
      Texts(result.problems),
      ElementsAre(
          "app.invalid: the app: unknown key 'buckts'; did you mean 'buckets'? (sluice.yaml:1:1)",
          "app.invalid: bucket 'a b': expected 1 to 100 letters, digits, '_', '-' or '%' "
          "(sluice.yaml:3:3)",
          "app.invalid: scopes of a b: expected a map, found a list (sluice.yaml:4:13)",
          "app.invalid: bucket c: unknown key 'scops'; did you mean 'scopes'? (sluice.yaml:6:5)",
          "app.invalid: max_expiry: expected a duration such as 12h or 30d, found 'soon' "
          "(sluice.yaml:7:48)",
          "app.invalid: index i: expected a list of paths, such as [name, address.city] "
          "(sluice.yaml:8:15)",
          "app.invalid: index j: unknown key 'pth'; did you mean 'path'? (sluice.yaml:8:29)",
          "app.invalid: index j: expected a path, or a map with a path (sluice.yaml:8:28)",
          "app.invalid: desc: expected true or false, found 'maybe' (sluice.yaml:8:59)"));
}

class AppDirectoryTest : public ::testing::Test {
 protected:
  AppDirectoryTest() : root_(std::filesystem::path(::testing::TempDir()) / "sluice_app_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~AppDirectoryTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string Path(const std::string& name) const { return (root_ / name).string(); }

  std::filesystem::path root_;
};

TEST_F(AppDirectoryTest, FindsSeeds) {
  Write("sluice.yaml", kShop);
  Write("data/shop.jsonl", "");
  Write("data/shop.inventory.items.jsonl", "");
  const AppResult result = ReadAppDirectory(root_.string());
  EXPECT_THAT(Texts(result.problems), IsEmpty());
  ASSERT_EQ(result.app.seeds.size(), 2u);
  EXPECT_EQ(result.app.seeds[0].keyspace, "shop.inventory.items");
  EXPECT_EQ(result.app.seeds[1].keyspace, "shop");
}

TEST_F(AppDirectoryTest, SaysWhatItCantUse) {
  Write("sluice.yaml", kShop);
  Write("data/other.jsonl", "");
  Write("data/notes.txt", "");
  EXPECT_THAT(Texts(ReadAppDirectory(root_.string()).problems),
              ElementsAre("app.invalid: expected a file named KEYSPACE.jsonl, such as "
                          "shop.inventory.items.jsonl (" +
                              Path("data/notes.txt") + ")",
                          "app.invalid: sluice.yaml does not declare the keyspace other (" +
                              Path("data/other.jsonl") + ")"));
}

TEST_F(AppDirectoryTest, NeedsItsMainFile) {
  const AppResult empty = ReadAppDirectory(root_.string());
  ASSERT_EQ(empty.problems.size(), 1u);  // told once
  EXPECT_EQ(empty.problems[0].id(), "app.no_file");
  EXPECT_EQ(ReadAppDirectory(Path("nowhere")).problems.at(0).id(), "app.no_directory");
}

TEST(Plan, CreatesWhatIsMissing) {
  EXPECT_THAT(Texts(MakePlan(Good(kShop), {}, Prune::kNo)),
              ElementsAre("create bucket empty", "create bucket shop",
                          "create index by_name on shop [name]", "create scope shop.inventory",
                          "create collection shop.inventory.items (max_expiry 30d)",
                          "create index by_price on shop.inventory.items [price desc, sku]",
                          "create index by_tag on shop.inventory.items [tags each]",
                          "create collection shop.inventory.orders"));
}

TEST(Plan, NothingToDoWhenAllIsThere) {
  const KeyspacesSpec spec = Good(kShop);
  EXPECT_THAT(Texts(MakePlan(spec, spec, Prune::kYes)), IsEmpty());
}

TEST(Plan, AltersAndDropsInsideItsOwnBuckets) {
  KeyspacesSpec present = Good(kShop);
  present.buckets["foreign"].scopes["s"];
  BucketSpec& shop = present.buckets["shop"];
  shop.scopes["old"];
  ScopeSpec& inventory = shop.scopes["inventory"];
  inventory.collections["gone"];
  CollectionSpec& items = inventory.collections["items"];
  items.indexes["by_tag"] = {{"tag"}};
  items.indexes["unused"] = {{"x"}};
  EXPECT_THAT(Texts(MakePlan(Good(kShop), present, Prune::kYes)),
              ElementsAre("alter index by_tag on shop.inventory.items [tags each] (was [tag])",
                          "drop index unused on shop.inventory.items",
                          "drop collection shop.inventory.gone", "drop scope shop.old"));
  EXPECT_THAT(Texts(MakePlan(Good(kShop), present, Prune::kNo)),
              ElementsAre("alter index by_tag on shop.inventory.items [tags each] (was [tag])",
                          "keep index unused on shop.inventory.items",
                          "keep collection shop.inventory.gone", "keep scope shop.old"));
}

TEST(Plan, AltersAMaxExpiry) {
  KeyspacesSpec present = Good(kShop);
  present.buckets["shop"].scopes["inventory"].collections["items"].max_expiry_ms = 1000;
  const Plan plan = MakePlan(Good(kShop), present, Prune::kYes);
  EXPECT_THAT(Texts(plan),
              ElementsAre("alter collection shop.inventory.items (max_expiry 30d, was 1s)"));
  const ApiRequest& request = plan.steps.at(0).requests.at(0);
  EXPECT_EQ(request.method + " " + request.path + " " + request.body,
            "PATCH /v1/buckets/shop/scopes/inventory/collections/items {\"max_expiry\":\"30d\"}");
}

TEST(Plan, RequestsNameWhatTheyChange) {
  const Plan plan = MakePlan(
      Good("buckets: {b: {scopes: {s: {collections: {c: {max_expiry: 1h, indexes: {i: [x]}}}}}}}"),
      {}, Prune::kNo);
  std::vector<std::string> requests;
  for (const Step& step : plan.steps) {
    for (const ApiRequest& request : step.requests) {
      requests.push_back(request.method + " " + request.path + " " + request.body);
    }
  }
  EXPECT_THAT(requests,
              ElementsAre("PUT /v1/buckets/b ", "PUT /v1/buckets/b/scopes/s ",
                          R"(PUT /v1/buckets/b/scopes/s/collections/c {"max_expiry":"1h"})",
                          R"(PUT /v1/indexes/b.s.c/i {"parts":[{"path":"x"}]})"));
}

constexpr char kFunction[] = R"(source: shop.inventory.orders
bindings:
  items: {keyspace: shop.inventory.items}
  api: {url: "http://h", auth: basic, username: u, password: p}
  low: {constant: 3}
settings:
  worker_count: 2
)";

TEST_F(AppDirectoryTest, ReadsFunctions) {
  Write("sluice.yaml", kShop);
  Write("functions/f.js", "function OnUpdate() {}");
  Write("functions/f.yaml", kFunction);
  const AppResult result = ReadAppDirectory(root_.string());
  EXPECT_THAT(Texts(result.problems), IsEmpty());
  ASSERT_EQ(result.app.functions.size(), 1u);
  const FunctionSpec& function = result.app.functions[0];
  EXPECT_EQ(function.name, "f");
  EXPECT_EQ(function.definition["appcode"], json::Value("function OnUpdate() {}"));
  const json::Value& depcfg = function.definition["depcfg"];
  EXPECT_EQ(depcfg["source_collection"], json::Value("orders"));
  EXPECT_EQ(depcfg["metadata_bucket"], json::Value("shop"));
  EXPECT_EQ(depcfg["metadata_collection"], json::Value("_default"));
  EXPECT_EQ(depcfg["buckets"][0]["access"], json::Value("r"));
  EXPECT_EQ(depcfg["curl"][0]["hostname"], json::Value("http://h"));
  EXPECT_EQ(depcfg["constants"][0]["literal"], json::Value("3"));
  EXPECT_EQ(function.definition["settings"]["worker_count"], json::Value(2));

  const auto located = [&](const char* message) {
    return Located(Error(Code::kInvalidArgument, "x", "{}", message), function).ToString();
  };
  EXPECT_EQ(located("settings.worker_count: no"),
            "x: settings.worker_count: no (" + Path("functions/f.yaml") + ":7:3)");
  EXPECT_EQ(located("depcfg.buckets[0].alias: no"),
            "x: depcfg.buckets[0].alias: no (" + Path("functions/f.yaml") + ":3:3)");
  EXPECT_EQ(located("f.js:2:11: no"), "x: no (" + Path("functions/f.js") + ":2:11)");
  EXPECT_EQ(located("no"), "x: function f: no");
}

TEST_F(AppDirectoryTest, PlansFunctions) {
  Write("sluice.yaml", kShop);
  Write("functions/f.js", "function OnUpdate() {}");
  Write("functions/f.yaml", kFunction);
  const AppDirectory app = ReadAppDirectory(root_.string()).app;
  // As the server shows it, in this state and with this code.
  const auto present = [&](bool deployed, bool processing, const char* code) {
    json::Value definition = app.functions[0].definition;
    json::Value depcfg = definition["depcfg"];
    json::Value url = depcfg["curl"][0];
    url.Set("password", "*****");
    depcfg.Set("curl", json::Value::Array({url}));
    definition.Set("depcfg", depcfg);
    definition.Set("appcode", code);
    definition.Set("settings", json::Value::Object({{"worker_count", 2},
                                                    {"lcb_timeout", 5},
                                                    {"deployment_status", deployed},
                                                    {"processing_status", processing}}));
    return FunctionsPresent{{"f", definition}};
  };
  const auto requests = [&](const FunctionsPresent& there) {
    Plan plan;
    PlanFunctions(app, there, Prune::kNo, &plan);
    std::vector<std::string> texts;
    for (const Step& step : plan.functions) {
      for (const ApiRequest& request : step.requests) {
        texts.push_back(request.method + request.path.substr(std::size("/_p/event/api/v1")));
      }
    }
    return texts;
  };
  const char* same = "function OnUpdate() {}";
  EXPECT_THAT(requests({}), ElementsAre("POSTfunctions/f"));
  EXPECT_THAT(requests(present(true, true, same)), IsEmpty());
  EXPECT_THAT(requests(present(true, false, same)), ElementsAre("POSTfunctions/f/deploy"));
  EXPECT_THAT(requests(present(true, true, "old")),
              ElementsAre("POSTfunctions/f/check", "POSTfunctions/f/pause", "POSTfunctions/f"));
  EXPECT_THAT(requests(present(false, false, "old")), ElementsAre("POSTfunctions/f"));
  FunctionsPresent moved = present(true, true, same);
  json::Value depcfg = moved["f"]["depcfg"];
  depcfg.Set("source_collection", "items");
  moved["f"].Set("depcfg", depcfg);
  EXPECT_THAT(requests(moved),
              ElementsAre("POSTfunctions/f/check", "POSTfunctions/f/undeploy", "POSTfunctions/f"));
  Plan plan;
  FunctionsPresent other = present(true, true, same);
  other["g"] = other["f"];
  PlanFunctions(app, other, Prune::kYes, &plan);
  EXPECT_THAT(Texts(plan), ElementsAre("drop function g"));
}

}  // namespace
}  // namespace sluice::cli
