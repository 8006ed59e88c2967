#include "http/openapi.h"

#include <gtest/gtest.h>

#include "json/print.h"

namespace sluice::http {
namespace {

using json::Value;

TEST(OpenApi, DescribesTheRoutes) {
  Router router;
  const auto nothing = [](Request&, Response&) {};
  ASSERT_TRUE(
      router
          .Add({.method = Method::kPut,
                .path = "/docs/{space}/{key...}",
                .summary = "Store",
                .tag = "documents",
                .parameters =
                    {{.name = "key", .in = Parameter::In::kPath, .description = "may hold slashes"},
                     {.name = "expiry", .description = "a duration"}},
                .request = Content{.description = "the document", .schema = R"({"type":"object"})"},
                .responses = {{.status = 201, .description = "stored"}},
                .auth = "write",
                .handler = nothing})
          .ok());
  ASSERT_TRUE(
      router.Add({.path = "/docs/{space}/{key...}", .summary = "Get", .handler = nothing}).ok());
  ASSERT_TRUE(router.Add({.path = "/inner", .handler = nothing, .hidden = true}).ok());
  const Value document = OpenApi(router, {.title = "t", .version = "1"});
  EXPECT_EQ(document["openapi"], Value("3.0.3"));
  EXPECT_EQ(document["paths"].size(), 1u);
  const Value& path = document["paths"]["/docs/{space}/{key}"];
  EXPECT_EQ(path.size(), 2u);
  EXPECT_EQ(
      json::ToText(path["put"]),
      R"({"operationId":"put_docs_space_key","summary":"Store","tags":["documents"],)"
      R"("x-permission":"write","security":[{"basic":[]},{"token":[]}],"parameters":[)"
      R"({"name":"space","in":"path","required":true,"schema":{"type":"string"}},)"
      R"({"name":"key","in":"path","description":"may hold slashes","required":true,)"
      R"("schema":{"type":"string"}},{"name":"expiry","in":"query","description":"a duration",)"
      R"("required":false,"schema":{"type":"string"}}],"requestBody":{"required":true,)"
      R"("content":{"application/json":{"schema":{"type":"object"}}},)"
      R"("description":"the document"},)"
      R"("responses":{"201":{"description":"stored"},)"
      R"("default":{"$ref":"#/components/responses/Error"}}})");
  EXPECT_EQ(path["get"]["security"], Value::EmptyArray());  // anybody
  EXPECT_TRUE(document["components"]["schemas"]["Error"].is_object());
  EXPECT_EQ(json::ToText(document["components"]["securitySchemes"]),
            R"({"basic":{"type":"http","scheme":"basic"},)"
            R"("token":{"type":"http","scheme":"bearer"}})");
  ASSERT_TRUE(AddOpenApi({.title = "t", .version = "1"}, &router).ok());
  EXPECT_EQ(router.routes().size(), 4u);
}

}  // namespace
}  // namespace sluice::http
