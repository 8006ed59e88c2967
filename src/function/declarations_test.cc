// docs/reference/handlers.d.ts has everything that the library defines.
#include <fstream>
#include <sstream>

#include "function/handler_fixture.h"
#include "json/parse.h"

namespace sluice::function {
namespace {

class DeclarationsTest : public HandlerTest {
 protected:
  DeclarationsTest() {
    std::ifstream file("docs/reference/handlers.d.ts");
    std::stringstream text;
    text << file.rdbuf();
    declarations_ = text.str();
  }
  bool Has(const std::string& text) const { return declarations_.find(text) != std::string::npos; }
  std::vector<std::string> Names(const std::string& body) {
    std::vector<std::string> names;
    const json::Value list = *json::Parse(Run(body));
    for (const json::Value& name : list.items()) names.emplace_back(name.AsString());
    return names;
  }

  std::string declarations_;
};

TEST_F(DeclarationsTest, EveryGlobalIsDeclared) {
  // The language's own are not enumerable.
  const std::vector<std::string> names = Names(
      "return Object.keys(globalThis).filter((name) => "
      "!['Body', 'OnUpdate', 'src', 'dst', 'fixed'].includes(name));");
  EXPECT_GE(names.size(), 14u);
  for (const std::string& name : names) {
    EXPECT_TRUE(Has("declare function " + name + "(") || Has("declare class " + name + " ") ||
                Has("declare const " + name + ":"))
        << name;
  }
}

TEST_F(DeclarationsTest, EveryMemberOfCouchbaseIsDeclared) {
  const std::vector<std::string> names = Names("return Object.keys(couchbase);");
  EXPECT_GE(names.size(), 28u);
  for (const std::string& name : names) {
    EXPECT_TRUE(Has("\n  " + name + "(") || Has("\n  " + name + ": ")) << name;
  }
  for (const std::string& name : Names("return [...Object.keys(couchbase.MutateInSpec), "
                                       "...Object.keys(couchbase.LookupInSpec)];")) {
    EXPECT_TRUE(Has("\n  " + name + "(path: string")) << name;
  }
}

}  // namespace
}  // namespace sluice::function
