#include "flow/graph.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "flow/compile.h"

namespace sluice::flow {
namespace {

std::shared_ptr<const FlowSet> Compiled(std::string_view text) {
  const FixedSettings settings;
  CompileOptions options;
  options.settings = &settings;
  Problems problems;
  auto flows = CompileFlows({{"f.yml", std::string(text)}}, options, &problems);
  for (const Problem& problem : problems.Sorted()) ADD_FAILURE() << problem.ToString();
  return flows;
}

TEST(Graph, DrawsTasksAndWhatFollowsThem) {
  const auto flows = Compiled(R"(
flow: {id: f, description: d, ttl: 10s, exception: caught}
first.task: choose
tasks:
  - {name: choose, process: no.op, description: d, execution: decision, next: [split, steps], output: ['int(1) -> decision']}
  - {name: split, process: no.op, description: d, execution: fork, next: [part], join: finish}
  - {name: steps, process: no.op, description: d, execution: pipeline, pipeline: [part], next: [finish], exception: caught}
  - {process: part, description: d, execution: sink}
  - {name: 'finish "all" #1', process: no.op, description: d, execution: end}
  - {name: finish, process: no.op, description: d, execution: sequential, next: ['finish "all" #1']}
  - {name: caught, process: 'flow://f', description: d, execution: end}
)");
  EXPECT_EQ(MermaidOf(*flows->Find("f")), R"(flowchart TD
  start(( )) --> t0
  t0{"choose<br/>no.op"}
  t1[/"split<br/>no.op"\]
  t2[["steps<br/>no.op"]]
  t3("part")
  t4(["finish #quot;all#quot; #35;1<br/>no.op"])
  t5["finish<br/>no.op"]
  t6(["caught<br/>flow://f"])
  t0 -->|1| t1
  t0 -->|2| t2
  t1 --> t3
  t1 -->|join| t5
  t2 -->|step 1| t3
  t2 --> t5
  t2 -. error .-> t6
  t5 --> t4
  any((any)) -. error .-> t6
)");
}

// The values of an attribute, in order.
std::vector<int> Numbers(const std::string& svg, std::string_view tag, std::string_view name) {
  std::vector<int> numbers;
  for (size_t at = svg.find(tag); at != svg.npos; at = svg.find(tag, at + 1)) {
    const size_t value = svg.find(std::string(name) + "=\"", at);
    numbers.push_back(std::atoi(svg.c_str() + value + name.size() + 2));
  }
  return numbers;
}

TEST(Graph, PlacesBoxesInRowsThatDoNotOverlap) {
  const auto flows = Compiled(R"(
flow: {id: 'a<b', description: d, ttl: 10s}
first.task: one
tasks:
  - {process: one, description: 'x & y', execution: parallel, next: [two, three]}
  - {process: two, description: d, execution: sequential, next: [four]}
  - {process: three, description: d, execution: sequential, next: [one]}
  - {process: four, description: d, execution: end, exception: two}
)");
  const std::string svg = SvgOf(*flows->Find("a<b"));
  EXPECT_NE(svg.find("<title>a&lt;b</title>"), svg.npos);
  EXPECT_NE(svg.find("<title>parallel: x &amp; y</title>"), svg.npos);
  const auto x = Numbers(svg, "<rect class", " x");
  const auto y = Numbers(svg, "<rect class", " y");
  const auto width = Numbers(svg, "<rect class", " width");
  ASSERT_EQ(x.size(), 4u);
  EXPECT_EQ(y, (std::vector<int>{60, 184, 184, 308}));
  EXPECT_LT(x[1] + width[1], x[2]);  // two and three, side by side
  const int all = Numbers(svg, "<svg", " width")[0];
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_GE(x[i], 0);
    EXPECT_LE(x[i] + width[i], all);
  }
  EXPECT_EQ(Numbers(svg, "<path class=\"next\"", "class").size(), 5u);  // with that to the first
  EXPECT_EQ(Numbers(svg, "<path class=\"error\"", "class").size(), 1u);
}

TEST(Graph, ATaskIsBelowAllThatLeadToIt) {
  const auto flows = Compiled(R"(
flow: {id: f, description: d, ttl: 10s, exception: caught}
first.task: a
tasks:
  - {process: a, description: d, execution: fork, next: [b, c], join: e}
  - {process: b, description: d, execution: sink, exception: again}
  - {process: c, description: d, execution: sink}
  - {name: again, process: no.op, description: d, execution: decision, next: ['@retry | c', c], output: ['int(1) -> decision']}
  - {process: e, description: d, execution: pipeline, loop: {statement: 'for (model.n = 0; model.n < 3; model.n++)'}, pipeline: [s], next: [g]}
  - {process: s, description: d, execution: sink}
  - {process: g, description: d, execution: end}
  - {process: caught, description: d, execution: end}
)");
  const std::string svg = SvgOf(*flows->Find("f"));
  const auto y = Numbers(svg, "<rect class", " y");
  ASSERT_EQ(y.size(), 8u);
  EXPECT_GT(y[1], y[0]);  // a branch
  EXPECT_GT(y[2], y[3]);  // the other one, to which a handler of the first leads
  EXPECT_GT(y[4], y[2]);  // the join is below both
  EXPECT_GT(y[5], y[4]);  // a step
  EXPECT_GT(y[6], y[5]);  // what follows is below the steps
  EXPECT_EQ(y[7], y[0]);  // nobody leads to the handler
  EXPECT_NE(svg.find(">for (model.n = 0; model.n &lt; 3; model.n++)<"), svg.npos);
  EXPECT_NE(svg.find(">any error<"), svg.npos);
  EXPECT_NE(svg.find(">2, 1: no retry<"), svg.npos);
  // What is tried again is in the box, and an arrow back to the task that has the handler.
  EXPECT_NE(svg.find("class=\"route\""), svg.npos);
  EXPECT_NE(svg.find("class=\"label\""), svg.npos);
  size_t retries = 0;
  for (size_t at = svg.find(">1: @retry<"); at != svg.npos; at = svg.find(">1: @retry<", at + 1)) {
    ++retries;
  }
  EXPECT_EQ(retries, 2u);
  EXPECT_NE(svg.find("<rect width=\"100%\" height=\"100%\""), svg.npos);  // the background
  const std::string text = MermaidOf(*flows->Find("f"));
  EXPECT_NE(text.find("t4[[\"e<br/>for (model.n = 0; model.n #lt; 3; model.n++)\"]]"), text.npos)
      << text;
  EXPECT_NE(text.find("t3 -->|1| retry((retry))"), text.npos) << text;
}

}  // namespace
}  // namespace sluice::flow
