// Plays every directory of tests/flows: see the README.md there.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/builtin.h"
#include "flow/compile.h"
#include "flow/player.h"
#include "flow/run_codec.h"
#include "flow/text_form.h"
#include "flow/yaml_value.h"
#include "json/parse.h"
#include "json/print.h"
#include "yaml/yaml.h"

namespace sluice::flow {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDirectory = "tests/flows";

// Whether the run is written to JSON and read back before every step.
enum class Storing : uint8_t { kNever, kEveryStep };

std::string Shown(const json::Value& value) {
  return json::ToText(value, {.indent = 1, .order = json::PrintOptions::Order::kSorted});
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kDirectory)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class FlowCase : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    directory_ = fs::path(kDirectory) / GetParam();
    char name[] = "/tmp/sluice-flow-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    scratch_ = name;
    const auto read = yaml::ParseFile((directory_ / "case.yaml").string());
    ASSERT_TRUE(read) << read.error().ToString();
    case_ = ValueOf(*read);
    CheckKeys(case_, {"about", "config", "env", "problems", "routes", "runs"});
    files_ = std::make_unique<DirectoryFiles>(std::vector<std::string>{scratch_.string()},
                                              (directory_ / "resources").string());
  }
  void TearDown() override { fs::remove_all(scratch_); }

  // A slip in a case must not pass for a check.
  static void CheckKeys(const json::Value& map, const std::vector<std::string_view>& known) {
    for (const json::Field& field : map.fields()) {
      EXPECT_NE(std::find(known.begin(), known.end(), field.name()), known.end())
          << "unknown key '" << field.name() << "'";
    }
  }

  std::vector<FlowText> Texts() const {
    std::vector<FlowText> texts;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      const std::string file = entry.path().filename().string();
      if (file.ends_with(".yml")) texts.push_back({file, *ReadFile(entry.path(), 1 << 20)});
    }
    std::sort(texts.begin(), texts.end(),
              [](const FlowText& a, const FlowText& b) { return a.file < b.file; });
    return texts;
  }

  std::shared_ptr<const FlowSet> Compile() {
    std::map<std::string, std::string, std::less<>> environment = {{"TMP", scratch_.string()}};
    for (const json::Field& field : case_["env"].fields()) {
      environment[std::string(field.name())] = TextOf(field.value);
    }
    const FixedSettings settings(std::move(environment), case_["config"]);
    CompileOptions options;
    options.settings = &settings;
    options.files = files_.get();
    for (const json::Field& field : case_["routes"].fields()) {
      options.routes.emplace_back(field.name());
    }
    options.has_route = [&](std::string_view route) {
      return FindBuiltin(route) != nullptr || case_["routes"].Find(route) != nullptr;
    };
    Problems problems;
    auto flows = CompileFlows(Texts(), options, &problems);
    std::string found;
    for (const Problem& problem : problems.Sorted())
      found += WithoutScratch(problem.ToString()) + "\n";
    std::string expected;
    for (const json::Value& line : case_["problems"].items()) expected += TextOf(line) + "\n";
    EXPECT_EQ(found, expected);
    return flows;
  }

  json::Value RoutesOf(const json::Value& run) const {
    json::Value routes = case_["routes"].is_object() ? case_["routes"] : json::Value::EmptyObject();
    for (const json::Field& field : run["routes"].fields()) routes.Set(field.name(), field.value);
    return routes;
  }

  void Play(const json::Value& run, const std::shared_ptr<const FlowSet>& flows, Storing storing) {
    for (const json::Field& file : run["given_files"].fields()) {
      std::ofstream(scratch_ / file.name()) << TextOf(file.value);
    }
    Start start;
    start.flow = run.Find("flow") ? TextOf(run["flow"]) : flows->flows().begin()->first;
    start.input = run.Find("input") ? run["input"] : json::Value::EmptyObject();
    start.run = "run-1";
    start.cid = "cid-1";
    start.trace = run.Find("trace") ? TextOf(run["trace"]) : "";
    start.ttl_ms = static_cast<uint64_t>(WholeNumberOf(run["ttl"]).value_or(0));
    CannedAnswers answers(RoutesOf(run));
    Player player(flows, files_.get(), [&](const Call& call, uint64_t now_ms) {
      return AnswerTo(call, now_ms, &answers);
    });
    if (storing == Storing::kEveryStep) {
      player.BeforeStep([&](flow::Run* stepped) { StoreAndLoad(flows, stepped); });
    }
    const auto cancel_at = static_cast<uint64_t>(WholeNumberOf(run["cancel_at"]).value_or(0));
    Check(run, player.Play(start, cancel_at));
  }

  static PlayedAnswer AnswerTo(const Call& call, uint64_t now_ms, CannedAnswers* answers) {
    const std::string route(call.route);
    if (answers->Has(route)) return CannedAnswers::ToAnswer(answers->Next(route), call);
    const Builtin builtin = FindBuiltin(route);
    EXPECT_NE(builtin, nullptr) << route;
    BuiltinAnswer answer = builtin(call.headers, call.body, now_ms);
    return {{call.call, answer.status, answer.headers, answer.body, {}, answer.hold_next_ms}};
  }

  // The run goes on from what its JSON text says.
  void StoreAndLoad(const std::shared_ptr<const FlowSet>& flows, flow::Run* run) const {
    const std::string text = EncodeRun(*run);
    const auto parsed = json::Parse(text, {.max_bytes = 1 << 30});
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    auto decoded = DecodeRun(*parsed, flows, files_.get());
    ASSERT_TRUE(decoded) << decoded.error().ToString();
    EXPECT_EQ(EncodeRun(*decoded), text);
    *run = *std::move(decoded);
  }

  void Check(const json::Value& run, const Played& played) {
    CheckKeys(run, {"name", "flow", "input", "trace", "ttl", "routes", "response", "model", "calls",
                    "order", "sends", "log", "took", "cancel_at", "stored", "given_files", "files",
                    "ended"});
    EXPECT_TRUE(played.over) << "the run does not end";
    ASSERT_TRUE(played.responded) << "no response";
    json::Value response = json::Value::Object({{"status", played.response.status}});
    if (played.response.headers.size() > 0) response.Set("headers", played.response.headers);
    response.Set("body", played.response.body);
    EXPECT_EQ(Shown(response), Shown(run["response"]));
    ExpectSame(run, "model", OwnModel(played.model));
    ExpectSame(run, "calls", played.calls);
    ExpectSame(run, "order", Order(played.calls));
    ExpectSame(run, "sends", played.sends);
    ExpectSame(run, "took", static_cast<int64_t>(played.took_ms));
    ExpectSame(run, "ended", played.ended.status);
    std::string log;
    for (const std::string& line : played.log) log += WithoutScratch(line) + "\n";
    std::string expected;
    for (const json::Value& line : run["log"].items()) expected += TextOf(line) + "\n";
    EXPECT_EQ(log, expected);
    for (const json::Field& file : run["files"].fields()) {
      const auto content = ReadFile(scratch_ / file.name(), 1 << 20);
      EXPECT_EQ(content ? *content : "(none)", TextOf(file.value)) << file.name();
    }
  }

  std::string WithoutScratch(std::string line) const {
    const size_t at = line.find(scratch_.string());
    if (at != std::string::npos) line.replace(at, scratch_.string().size(), "${TMP}");
    return line;
  }

  // What a case does not tell is not checked.
  static void ExpectSame(const json::Value& run, std::string_view key, const json::Value& found) {
    const json::Value* expected = run.Find(key);
    if (expected != nullptr) {
      EXPECT_EQ(Shown(found), Shown(*expected)) << key;
    }
  }

  // Without what the engine puts there.
  static json::Value OwnModel(json::Value model) {
    if (!model.is_object()) return model;
    for (const char* key : {"instance", "cid", "flow", "ttl", "trace"}) model.Remove(key);
    return model;
  }

  static json::Value Order(const json::Value& calls) {
    json::Value order = json::Value::EmptyArray();
    for (const json::Value& call : calls.items()) order.Append(call["task"]);
    return order;
  }

  fs::path directory_;
  fs::path scratch_;
  json::Value case_;
  std::unique_ptr<DirectoryFiles> files_;
};

TEST_P(FlowCase, Plays) {
  const auto flows = Compile();
  if (!case_["runs"].is_missing()) {
    ASSERT_FALSE(flows->flows().empty());
  }
  for (const json::Value& run : case_["runs"].items()) {
    for (const auto storing : {Storing::kNever, Storing::kEveryStep}) {
      if (storing == Storing::kEveryStep && run["stored"] == json::Value(false)) break;
      SCOPED_TRACE(TextOf(run["name"]) +
                   (storing == Storing::kEveryStep ? ", stored at every step" : ""));
      Play(run, flows, storing);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Flows, FlowCase, testing::ValuesIn(CaseNames()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace sluice::flow
