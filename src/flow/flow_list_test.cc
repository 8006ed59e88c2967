#include "flow/flow_list.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace sluice::flow {
namespace {

class FlowListTest : public testing::Test {
 protected:
  std::vector<std::string> Read(std::string_view locations) {
    const ReadLocation read = [this](std::string_view location) -> Result<std::string> {
      const auto found = files_.find(std::string(location));
      if (found != files_.end()) return found->second;
      return Fail(Code::kNotFound, "file.unreadable", "no such file");
    };
    const FixedSettings settings({{"WHERE", "file:/more"}}, {});
    Problems problems;
    std::vector<std::string> names;
    for (const FlowText& text : ReadFlowLists(locations, read, settings, &problems)) {
      names.push_back(text.file + "=" + text.text);
    }
    problems_.clear();
    for (const Problem& problem : problems.Sorted()) problems_.push_back(problem.ToString());
    return names;
  }

  std::map<std::string, std::string> files_;
  std::vector<std::string> problems_;
};

using Texts = std::vector<std::string>;

TEST_F(FlowListTest, ReadsSeveralListsInOrderOfNamesAndEachFlowOnce) {
  files_["classpath:/flows.yaml"] = "flows:\n  - 'b.yml'\n  - a.yml\n  - b.yml\n";
  files_["classpath:/more.yaml"] = "location: '${WHERE}'\nflows: [c.yaml]\n";
  files_["classpath:/flows/a.yml"] = "A";
  files_["classpath:/flows/b.yaml"] = "B";
  files_["file:/more/c.yaml"] = "C";
  EXPECT_EQ(Read("classpath:/flows.yaml, classpath:/more.yaml"),
            (Texts{"classpath:/flows/a.yml=A", "classpath:/flows/b.yml=B", "file:/more/c.yaml=C"}));
  EXPECT_EQ(problems_, Texts());
}

TEST_F(FlowListTest, TellsWhatIsMissingOrOdd) {
  files_["classpath:/flows.yaml"] = "flows:\n  - x.json\n  - gone.yml\n";
  EXPECT_EQ(Read("classpath:/flows.yaml,classpath:/none.yaml"), Texts());
  EXPECT_EQ(problems_,
            (Texts{"classpath:/flows.yaml:2:5: error: Ignored x.json because it does not have .yml "
                   "or .yaml file extension [flow.bad_list]",
                   "classpath:/flows.yaml:3:5: error: classpath:/flows/gone.yml can't be read: no "
                   "such file [flow.no_file]",
                   "classpath:/none.yaml: warning: flow list classpath:/none.yaml is not read: no "
                   "such file [flow.no_list]"}));
}

TEST_F(FlowListTest, RefusesAListWithoutFlows) {
  files_["classpath:/flows.yaml"] = "flow: [a.yml]\n";
  EXPECT_EQ(Read("classpath:/flows.yaml"), Texts());
  EXPECT_EQ(problems_, (Texts{"classpath:/flows.yaml:1:1: error: a flow list must have 'flows', a "
                              "list of file names [flow.bad_list]"}));
}

}  // namespace
}  // namespace sluice::flow
