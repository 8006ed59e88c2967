#include "flow/graph.h"

#include <gtest/gtest.h>

#include "flow/compile.h"

namespace sluice::flow {
namespace {

TEST(Graph, DrawsTasksAndWhatFollowsThem) {
  const FixedSettings settings;
  CompileOptions options;
  options.settings = &settings;
  Problems problems;
  const auto flows = CompileFlows({{"f.yml", R"(
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
)"}},
                                  options, &problems);
  for (const Problem& problem : problems.Sorted()) ADD_FAILURE() << problem.ToString();
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

}  // namespace
}  // namespace sluice::flow
