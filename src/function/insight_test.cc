#include "function/insight.h"

#include "function/test_manager.h"

namespace sluice::function {
namespace {

TEST(InsightTest, CountsForAWhileAfterALook) {
  FakeClock clock;
  Insight insight;
  HeldInsight held(insight, clock);
  held.Begin();
  EXPECT_FALSE(held.counts_calls());
  EXPECT_FALSE(insight.Look(clock.MonotonicNs()));
  held.Begin();
  EXPECT_TRUE(held.counts_calls());
  clock.AdvanceMs(599'999);
  EXPECT_TRUE(insight.counts_calls(clock));
  clock.AdvanceMs(1);
  EXPECT_FALSE(insight.counts_calls(clock));
  EXPECT_FALSE(insight.Look(clock.MonotonicNs()));
  EXPECT_TRUE(insight.Look(clock.MonotonicNs()));
}

TEST(InsightTest, WhatIsDroppedDoesNotCount) {
  FakeClock clock;
  Insight insight;
  HeldInsight held(insight, clock);
  held.AddCall(3, 10, 1);
  held.Drop();
  EXPECT_TRUE(insight.lines().empty());
  held.AddCall(3, 10, 1);
  held.AddCall(3, 5, 0);
  held.AddCall(0, 5, 1);
  held.AddError(3, "first");
  held.AddError(3, "second");
  held.Release();
  held.AddLog(3, std::string(1023, 'a') + "äb");
  held.Release();
  const InsightLines lines = insight.lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.at(3).calls, 1u);
  EXPECT_EQ(lines.at(3).call_ns, 15u);
  EXPECT_EQ(lines.at(3).errors, 2u);
  EXPECT_EQ(lines.at(3).last_error, "second");
  EXPECT_EQ(lines.at(3).last_log, std::string(1023, 'a') + "…");
}

class FunctionInsightTest : public ManagerTest {
 protected:
  // Of a line: "calls errors error log".
  std::string Line(const std::string& number) {
    const json::Value line = (*manager_->InsightOf("f"))["lines"][number];
    if (line.is_missing()) return "-";
    return fmt::format("{} {} {} {}", line["call_count"].AsInt(), line["error_count"].AsInt(),
                       line["error_msg"].AsString(), line["last_log"].AsString());
  }
};

constexpr char kCode[] =
    "function store(id, doc) {\n"
    "  dst[id] = doc;\n"
    "}\n"
    "function OnUpdate(doc, meta) {\n"
    "  log('saw', meta.id);\n"
    "  store(meta.id, doc);\n"
    "  for (const row of SELECT RAW 1 UNION ALL SELECT RAW 2) { dst['r' + row] = row; }\n"
    "  if (doc === 2) throw new Error('two');\n"
    "}\n";

TEST_F(FunctionInsightTest, ErrorsAndLogsAreAlwaysNotedAndCallsAfterALook) {
  Definition definition = Function(kCode);
  definition.settings.handler_headers = {"'use strict';", "", ""};
  definition.settings.handler_footers = {"function late(meta) {", "  log(meta); }"};
  definition.constants = {{"most", "5"}};
  Deploy(definition);
  Put("a", "1");
  Put("b", "2");
  Settle();
  const json::Value first = *manager_->InsightOf("f");
  EXPECT_EQ(first["script"].AsString(), std::string("'use strict';\n\n\n") + kCode);
  EXPECT_EQ(first["header_lines"], json::Value(3));
  EXPECT_FALSE(first["counted"].AsBool());
  EXPECT_EQ(Line("2"), "-");
  EXPECT_TRUE(Line("5").starts_with("0 0  \"saw\" ")) << Line("5");
  EXPECT_EQ(Line("8"), "0 1 Error: two ");

  Put("a", "1");
  Put("c", "3");
  Settle();
  EXPECT_TRUE((*manager_->InsightOf("f"))["counted"].AsBool());
  EXPECT_EQ(Line("2"), "2 0  ");
  EXPECT_EQ(Line("6"), "-");
  EXPECT_EQ(Line("7"), "6 0  ");
  EXPECT_EQ(Line("5"), "2 0  \"saw\" \"c\" ");
  const json::Value line = (*manager_->InsightOf("f"))["lines"]["2"];
  EXPECT_GT(line["call_time"].ToDouble(), 0);

  ASSERT_TRUE(manager_->ResetStatistics("f").ok());
  EXPECT_EQ(Line("2"), "-");
}

TEST_F(FunctionInsightTest, OtherCodeBeginsAnew) {
  Deploy(kCode);
  Put("b", "2");
  Settle();
  EXPECT_EQ(Line("8"), "0 1 Error: two ");
  ASSERT_TRUE(manager_->Pause("f").ok());
  EXPECT_EQ(Line("8"), "0 1 Error: two ");
  Definition definition = *manager_->Find("f");
  definition.code = "function OnUpdate() {}";
  ASSERT_TRUE(manager_->Store(definition).ok());
  EXPECT_EQ(Line("8"), "-");
}

}  // namespace
}  // namespace sluice::function
