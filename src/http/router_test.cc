#include "http/router.h"

#include <gtest/gtest.h>

#include "http/request_parser.h"
#include "http/url.h"

namespace sluice::http {
namespace {

void Nothing(Request&, Response&) {}

Route MakeRoute(Method method, std::string path) {
  return {.method = method, .path = std::move(path), .handler = Nothing};
}

// A request as the parser makes it.
class Parsed {
 public:
  Parsed(std::string_view method, std::string_view target)
      : bytes_(fmt::format("{} {} HTTP/1.1\r\nHost: t\r\n\r\n", method, target)),
        parser_(limits_, &request_, &remote_, nullptr) {
    EXPECT_EQ(parser_.Feed(bytes_.data(), 0, bytes_.size()), bytes_.size());
    EXPECT_EQ(parser_.state(), RequestParser::State::kComplete);
    EXPECT_TRUE(parser_.Finish(bytes_.data(), 0, &ids_).ok());
  }
  Request* request() { return &request_; }

 private:
  RequestLimits limits_;
  RequestIds ids_{1};
  std::string remote_;
  std::string bytes_;
  Request request_;
  RequestParser parser_;
};

class RouterTest : public testing::Test {
 protected:
  void Add(Method method, std::string path) {
    const Status added = router_.Add(MakeRoute(method, std::move(path)));
    ASSERT_TRUE(added.ok()) << added.ToString();
  }
  // The pattern that a target leads to, then its parameters: "/a/{b} b=x".
  std::string Find(std::string_view target, std::string_view method = "GET") {
    Parsed parsed(method, target);
    const Router::Match match = router_.Find(parsed.request());
    if (match.bad_escape) return "bad escape";
    if (!match.path_known) return "none";
    if (match.route == nullptr) return "allow " + match.allow;
    std::string found = match.route->path;
    for (const char* name : {"a", "b", "rest"}) {
      if (match.route->path.find(std::string("{") + name) == std::string::npos) continue;
      found += fmt::format(" {}={}", name, parsed.request()->Param(name));
    }
    return found;
  }
  Router router_;
};

TEST_F(RouterTest, LiteralsParametersAndRest) {
  Add(Method::kGet, "/");
  Add(Method::kGet, "/v1/docs/{a}/{rest...}");
  Add(Method::kGet, "/v1/docs/{a}");
  Add(Method::kGet, "/v1/docs/all");
  Add(Method::kGet, "/v1/{a}/x/{b}");
  EXPECT_EQ(Find("/"), "/");
  EXPECT_EQ(Find("/v1/docs/shop"), "/v1/docs/{a} a=shop");
  EXPECT_EQ(Find("/v1/docs/all"), "/v1/docs/all");
  EXPECT_EQ(Find("/v1/docs/shop/a/b"), "/v1/docs/{a}/{rest...} a=shop rest=a/b");
  EXPECT_EQ(Find("/v1/q/x/y"), "/v1/{a}/x/{b} a=q b=y");
  EXPECT_EQ(Find("/v1/docs"), "none");
  EXPECT_EQ(Find("/v1/docs/"), "none");
  EXPECT_EQ(Find("/v1/docs/shop/"), "none");
  EXPECT_EQ(Find("/v2"), "none");
}

TEST_F(RouterTest, StepsBackWhenTheLiteralBranchEnds) {
  Add(Method::kGet, "/x/all/more");
  Add(Method::kGet, "/x/{a}/less");
  EXPECT_EQ(Find("/x/all/less"), "/x/{a}/less a=all");
  EXPECT_EQ(Find("/x/all/more"), "/x/all/more");
  EXPECT_EQ(Find("/x/all/other"), "none");
}

TEST_F(RouterTest, EncodedSlashStaysInItsParameter) {
  Add(Method::kGet, "/docs/{a}/{b}");
  Add(Method::kGet, "/keys/{rest...}");
  EXPECT_EQ(Find("/docs/shop/user%2F7%20x"), "/docs/{a}/{b} a=shop b=user/7 x");
  EXPECT_EQ(Find("/keys/a%2Fb/c%3F?q=1"), "/keys/{rest...} rest=a/b/c?");
  EXPECT_EQ(Find("/d%6Fcs/s/k"), "/docs/{a}/{b} a=s b=k");
  EXPECT_EQ(Find("/docs/s/%zz"), "bad escape");
  EXPECT_EQ(Find("/docs/s/a+b"), "/docs/{a}/{b} a=s b=a+b");
}

TEST_F(RouterTest, Methods) {
  Add(Method::kGet, "/x/{a}");
  Add(Method::kPut, "/x/{b}");
  EXPECT_EQ(Find("/x/1"), "/x/{a} a=1");
  EXPECT_EQ(Find("/x/1", "PUT"), "/x/{b} b=1");
  EXPECT_EQ(Find("/x/1", "HEAD"), "/x/{a} a=1");
  EXPECT_EQ(Find("/x/1", "DELETE"), "allow GET, HEAD, PUT");
  EXPECT_EQ(Find("/x/1", "PROPFIND"), "allow GET, HEAD, PUT");
}

TEST_F(RouterTest, RefusesBadPatterns) {
  for (const char* path : {"", "x", "/{", "/{}", "/{a}x", "/x{a}", "/{a b}", "/{rest...}/x"}) {
    EXPECT_EQ(router_.Add(MakeRoute(Method::kGet, path)).id(), "http.bad_route") << path;
  }
  Add(Method::kGet, "/x/{a}");
  const Status twice = router_.Add(MakeRoute(Method::kGet, "/x/{b}"));
  EXPECT_EQ(twice.message(), "GET /x/{b} is already defined, as '/x/{a}'");
  EXPECT_FALSE(router_.Add({.path = "/nothing"}).ok());
}

TEST(Request, TypedQueryParameters) {
  Parsed parsed("GET", "/x?n=12&flag&no=false&t=5s&text=a%20b+c&n=13&big=99&bad=1x");
  const Request& request = *parsed.request();
  EXPECT_EQ(request.QueryInt("n", 1, 0, 50), 12);
  EXPECT_EQ(request.QueryInt("absent", 7, 0, 50), 7);
  EXPECT_EQ(request.QueryInt("big", 1, 0, 50).error().message(),
            "query parameter 'big': expected an integer from 0 to 50, found '99'");
  EXPECT_EQ(request.QueryInt("bad", 1, 0, 50).error().id(), "http.bad_parameter");
  EXPECT_EQ(request.QueryBool("flag", false), true);
  EXPECT_EQ(request.QueryBool("no", true), false);
  EXPECT_EQ(request.QueryBool("text", true).error().fields().at("parameter"), "text");
  EXPECT_EQ(request.QueryDurationMs("t", 0), 5000u);
  EXPECT_EQ(request.QueryRequired("text"), "a b c");
  EXPECT_EQ(request.QueryRequired("absent").error().id(), "http.missing_parameter");
}

TEST(Url, RoundTrip) {
  const std::string all = "a/b ?&=%+\xc3\xa9\x01";
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentDecode("%4"), std::nullopt);
  EXPECT_EQ(ParseQuery("a=%"), std::nullopt);
  EXPECT_EQ(ParseQuery("a=1&&b"), (QueryPairs{{"a", "1"}, {"b", ""}}));
}

}  // namespace
}  // namespace sluice::http
