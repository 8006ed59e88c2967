// A deployed function that calls an address which it may not call.
#include "function/test_manager.h"

namespace sluice::function {
namespace {

using CurlRefusedTest = ManagerTest;

TEST_F(CurlRefusedTest, AddressesThatAreNotOfThePublicInternet) {
  Definition definition = Function(R"(function OnUpdate(doc, meta) {
    try {
      curl('GET', api, {path: '/x'});
    } catch (error) {
      log(error instanceof CurlError, error.message);
    }
  })");
  definition.urls = {{.alias = "api", .hostname = "http://127.0.0.1:9"}};
  Deploy(definition);
  Put("a", "1");
  Settle();
  EXPECT_NE(LogText().find("true \"Unable to perform the request: 127.0.0.1 is not an address of "
                           "the public internet"),
            std::string::npos)
      << LogText();
  EXPECT_EQ(Count("failure_stats", "curl_failure_count"), 1u);
}

}  // namespace
}  // namespace sluice::function
