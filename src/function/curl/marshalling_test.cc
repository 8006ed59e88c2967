// curl() as handlers call it: what is sent for which value, and which value comes of a response.
#include <latch>

#include <zlib.h>

#include "function/curl/test_server.h"
#include "function/handler_fixture.h"

namespace sluice::function {
namespace {

std::string Compressed(const std::string& text, int window_bits) {
  z_stream stream{};
  CHECK(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() + 128, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class CurlTest : public HandlerTest {
 protected:
  CurlTest() { definition_.urls = {{.alias = "api", .hostname = server_.url() + "/base"}}; }
  ~CurlTest() override { release_.count_down(); }

  std::string Answer(const std::string& request) {
    const std::string path = request.substr(0, request.find(" HTTP/"));
    if (answer_) return answer_(request);
    if (path.find("/loop") != std::string::npos) {
      return Respond("302 Found\r\nLocation: /base/loop", "");
    }
    if (path.find("/once") != std::string::npos) {
      return Respond("302 Found\r\nLocation: /base/there", "elsewhere");
    }
    return Respond(response_head_, response_body_);
  }
  // A response that comes when the test ends.
  std::string Hold() {
    release_.wait();
    return Respond("200 OK", "");
  }
  void Responds(const std::string& type, const std::string& body) {
    response_head_ = "200 OK" + (type.empty() ? "" : "\r\nContent-Type: " + type);
    response_body_ = body;
  }
  // The request's line, content type and body.
  std::string Sent(const std::string& request_object, const std::string& method = "POST") {
    const std::string result =
        Run("return curl('" + method + "', api, " + request_object + ").status;");
    if (result != "200") return result;
    const std::string text = server_.last();
    const std::string line = text.substr(0, text.find(" HTTP/1.1"));
    return line + "|" + Header("Content-Type") + "|" + text.substr(text.find("\r\n\r\n") + 4);
  }
  std::string Header(const std::string& name) const {
    const std::string text = server_.last();
    const size_t at = text.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t start = at + 4 + name.size();
    return text.substr(start, text.find("\r\n", start) - start);
  }

  std::latch release_{1};
  std::string response_head_ = "200 OK";
  std::string response_body_;
  TestServer::Answer answer_;
  TestServer server_{[this](const std::string& request) { return Answer(request); }};
};

TEST_F(CurlTest, EveryRowOfRequestMarshalling) {
  const std::string bytes = "new Uint8Array([1, 0, 255]).buffer";
  const std::string raw("\x01\x00\xff", 3);
  EXPECT_EQ(Sent("{body: 'a b'}"), "POST /base|text/plain|a b");
  EXPECT_EQ(Sent("{body: {a: 'b', c: [1]}}"), R"(POST /base|application/json|{"a":"b","c":[1]})");
  EXPECT_EQ(Sent("{body: " + bytes + "}"), "POST /base|application/octet-stream|" + raw);
  EXPECT_EQ(Sent("{body: 'ä', encoding: 'TEXT'}"), "POST /base|text/plain|ä");
  EXPECT_EQ(Sent("{body: {a: 1}, encoding: 'TEXT'}"),
            R"("CurlError: A body that is object can't be encoded as TEXT")");
  EXPECT_EQ(Sent("{body: " + bytes + ", encoding: 'TEXT'}"),
            R"("CurlError: A body that is ArrayBuffer can't be encoded as TEXT")");
  EXPECT_EQ(Sent("{body: 'a=b c', encoding: 'FORM'}"),
            "POST /base|application/x-www-form-urlencoded|a%3Db%20c");
  EXPECT_EQ(Sent("{body: {'a b': 'x&y', n: 1, o: {p: true}}, encoding: 'FORM'}"),
            "POST /base|application/x-www-form-urlencoded|"
            "a%20b=x%26y&n=1&o=%7B%22p%22%3Atrue%7D");
  EXPECT_EQ(Sent("{body: " + bytes + ", encoding: 'FORM'}"),
            R"("CurlError: A body that is ArrayBuffer can't be encoded as FORM")");
  EXPECT_EQ(Sent("{body: 'a', encoding: 'JSON'}"), R"(POST /base|application/json|"a")");
  EXPECT_EQ(Sent("{body: {a: 1}, encoding: 'JSON'}"), R"(POST /base|application/json|{"a":1})");
  EXPECT_EQ(Sent("{body: " + bytes + ", encoding: 'JSON'}"),
            R"("CurlError: A body that is ArrayBuffer can't be encoded as JSON")");
  EXPECT_EQ(Sent("{body: 'ä', encoding: 'BINARY'}"), "POST /base|application/octet-stream|ä");
  EXPECT_EQ(Sent("{body: {a: 1}, encoding: 'BINARY'}"),
            R"("CurlError: A body that is object can't be encoded as BINARY")");
  EXPECT_EQ(Sent("{body: " + bytes + ", encoding: 'BINARY'}"),
            "POST /base|application/octet-stream|" + raw);
  EXPECT_EQ(Sent("{}"), "POST /base||");
  EXPECT_EQ(Sent("{body: 'x', headers: {'content-type': 'my/type'}}"), "POST /base||x");
  EXPECT_EQ(Header("content-type"), "my/type");
}

TEST_F(CurlTest, EveryRowOfResponseUnmarshalling) {
  const std::string body = "return curl('GET', api).body;";
  const std::string bytes =
      "const {body} = curl('GET', api);"
      "return [body instanceof ArrayBuffer, [...new Uint8Array(body)]];";
  Responds("text/plain", "{\"a\": ä}");
  EXPECT_EQ(Run(body), R"("{\"a\": ä}")");
  Responds("text/csv; charset=utf-8", "a,b");
  EXPECT_EQ(Run(body), R"("a,b")");
  Responds("application/json; charset=utf-8", R"({"a": [1, "ä"]})");
  EXPECT_EQ(Run(body), R"({"a":[1,"ä"]})");
  Responds("Application/JSON", "{");
  EXPECT_TRUE(Run(body).starts_with(R"("CurlError: Unable to parse the response's body as JSON)"));
  Responds("application/x-www-form-urlencoded", "a+b=c%26d&e=");
  EXPECT_EQ(Run(body), R"({"a b":"c&d","e":""})");
  Responds("application/x-www-form-urlencoded", "a%20b");
  EXPECT_EQ(Run(body), R"("a b")");
  Responds("application/octet-stream", std::string("\x01\x00\xff", 3));
  EXPECT_EQ(Run(bytes), "[true,[1,0,255]]");
  Responds("image/png", "ab");
  EXPECT_EQ(Run(bytes), "[true,[97,98]]");
  Responds("", "ab");
  EXPECT_EQ(Run(bytes), "[true,[97,98]]");
  for (const char* type : {"text/plain", "application/json", "image/png", ""}) {
    Responds(type, "");
    EXPECT_EQ(Run(body), "null") << type;
  }
}

TEST_F(CurlTest, HeadersComeAsTheyWereSent) {
  response_head_ = "404 Not Found\r\nX-One:  a \r\nSet-Cookie: a=1\r\nSet-Cookie: b=2";
  response_body_ = "x";
  EXPECT_EQ(Run("const r = curl('GET', api); return [r.status, r.headers];"),
            R"([404,{"X-One":"  a \r\n","Set-Cookie":" a=1\r\n b=2\r\n",)"
            R"("Connection":" close\r\n","Content-Length":" 1\r\n"}])");
}

TEST_F(CurlTest, MethodsAreCounted) {
  Responds("text/plain", "x");
  EXPECT_EQ(Sent("{}", "GET"), "GET /base||");
  EXPECT_EQ(Sent("{body: 'b'}", "PUT"), "PUT /base|text/plain|b");
  EXPECT_EQ(Sent("{}", "DELETE"), "DELETE /base||");
  EXPECT_EQ(Sent("{body: 'b'}", "DELETE"), "DELETE /base|text/plain|b");
  EXPECT_EQ(Run("const r = curl('HEAD', api); return [r.status, r.body];"), "[200,null]");
  EXPECT_TRUE(server_.last().starts_with("HEAD /base HTTP/1.1"));
  EXPECT_TRUE(called_out_);
  EXPECT_EQ(Run("return curl('PATCH', api);"),
            R"("CurlError: The 1st argument should be one of GET, POST, PUT, HEAD, DELETE")");
  EXPECT_FALSE(called_out_);
  response_head_ = "500 Oops";
  EXPECT_EQ(Run("return curl('GET', api).status;"), "500");
  const Statistics& counts = statistics_;
  EXPECT_EQ(counts.curl_get, 2u);
  EXPECT_EQ(counts.curl_put, 1u);
  EXPECT_EQ(counts.curl_delete, 2u);
  EXPECT_EQ(counts.curl_head, 1u);
  EXPECT_EQ(counts.curl_post, 0u);
  EXPECT_EQ(counts.curl_successes, 5u);
  EXPECT_EQ(counts.curl_other_statuses, 1u);
}

TEST_F(CurlTest, ParametersAndPathsByLanguageVersion) {
  const std::string object = "{path: '/a b', params: {2: 'x', q: 'a b&c', 1: true}}";
  const std::string text = "{params: 'a=b c&d'}";
  for (const char* version : {"6.0.0", "6.5.0", "6.6.2"}) {
    definition_.settings.language = version;
    EXPECT_EQ(Sent(object, "GET"), "GET /base/a%20b?1=true&2=x&q=a%20b%26c||") << version;
    EXPECT_EQ(Sent(text, "GET"), "GET /base?a%3Db%20c%26d||") << version;
  }
  definition_.settings.language = "7.2.0";
  EXPECT_EQ(Sent(object, "GET"), "GET /base/a%20b?1=true&2=x&q=a%20b&c||");
  EXPECT_EQ(Sent(text, "GET"), "GET /base?a=b%20c&d||");
  EXPECT_EQ(Sent("{path: 'x?y', params: 'a=!', url_encode_version: '7.1.0'}", "GET"),
            "GET /base/x?y&a=%21||");
  EXPECT_EQ(Sent("{path: '/p@thA/p@thB?1=2&key1=value@1&key2=value=2', "
                 "url_encode_version: '7.1.0'}",
                 "GET"),
            "GET /base/p%40thA/p%40thB?1=2&key1=value%401&key2=value%3D2||");
  EXPECT_EQ(Sent("{params: {a: '!'}, url_encode_version: '7.1.0'}", "GET"), "GET /base?a=%21||");
  EXPECT_EQ(Sent("{params: 'a=b', url_encode_version: '6.6.2'}", "GET"), "GET /base?a%3Db||");
  EXPECT_EQ(Sent("{path: '../../etc', params: 'a=b'}", "GET"), "GET /base?a=b||");
}

TEST_F(CurlTest, WrongArgumentsAreToldBeforeAnythingIsSent) {
  const std::pair<const char*, const char*> cases[] = {
      {"curl('GET', {})", "The 2nd argument should be a URL binding"},
      {"curl('GET', api, 1)", "The 3rd argument should be an object"},
      {"curl('GET', api, {timeout: 0})", "'timeout' should be a positive integer"},
      {"curl('GET', api, {timeout: '1'})", "'timeout' should be a positive integer"},
      {"curl('GET', api, {redirect: 1})", "'redirect' should be a boolean"},
      {"curl('GET', api, {path: 1})", "'path' should be a string"},
      {"curl('GET', api, {params: 1})", "'params' should be an object or a string"},
      {"curl('GET', api, {headers: 'a'})", "'headers' should be an object"},
      {"curl('GET', api, {headers: {a: undefined}})", "A value of the header a can't be undefined"},
      {"curl('GET', api, {headers: {a: 'x\\r\\nb: y'}})",
       "The header \\\"a\\\" has characters that headers can't have"},
      {"curl('GET', api, {headers: {'a b': 'x'}})",
       "The header \\\"a b\\\" has characters that headers can't have"},
      {"curl('GET', api, {encoding: 'XML'})",
       "'encoding' should be one of FORM, JSON, TEXT, BINARY"},
      {"curl('GET', api, {url_encode_version: '1'})",
       "'url_encode_version' should be one of 6.0.0, 6.5.0, 6.6.2, 7.1.0, 7.2.0"},
  };
  for (const auto& [call, message] : cases) {
    EXPECT_EQ(Run("return " + std::string(call) + ";"),
              "\"CurlError: " + std::string(message) + "\"");
  }
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(CurlTest, RedirectsAreFollowedUnlessNotWanted) {
  Responds("text/plain", "there");
  EXPECT_EQ(Run("const r = curl('GET', api, {path: '/once'}); return [r.status, r.body];"),
            R"([200,"there"])");
  EXPECT_EQ(Run("return curl('GET', api, {path: '/once', redirect: false}).status;"), "302");
  EXPECT_EQ(Run("return curl('GET', api, {path: '/loop'});"),
            R"("CurlError: Unable to perform the request: )"
            R"(Number of redirects hit maximum amount")");
  EXPECT_EQ(statistics_.curl_failures, 1u);
}

TEST_F(CurlTest, CompressedBodiesAreDecodedAndCounted) {
  const std::string text(3 << 20, 'a');
  definition_.settings.curl_max_response_mb = 2;
  response_head_ = "200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip";
  response_body_ = Compressed("hello", 15 + 16);
  EXPECT_EQ(Run("return curl('GET', api).body;"), R"("hello")");
  EXPECT_EQ(Header("Accept-Encoding"), "gzip, deflate");
  response_body_ = Compressed(text, 15 + 16);
  EXPECT_LT(response_body_.size(), 10'000u);
  EXPECT_EQ(Run("return curl('GET', api).body;"), R"("CurlError: Unable to perform the request: )"
                                                  R"(the response has more than 2097152 bytes")");
  EXPECT_EQ(statistics_.curl_too_large, 1u);
  response_head_ = "200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: deflate";
  response_body_ = Compressed("hello", 15);
  EXPECT_EQ(Run("return curl('GET', api).body;"), R"("hello")");
}

TEST_F(CurlTest, AuthenticationIsTheBindings) {
  Responds("text/plain", "x");
  definition_.urls[0].auth_type = "basic";
  definition_.urls[0].username = "u";
  definition_.urls[0].password = "p:w";
  Sent("{}", "GET");
  EXPECT_EQ(Header("Authorization"), "Basic dTpwOnc=");
  definition_.urls[0].auth_type = "bearer";
  definition_.urls[0].bearer_key = "k1";
  Sent("{}", "GET");
  EXPECT_EQ(Header("Authorization"), "Bearer k1");
  definition_.urls[0].auth_type = "no-auth";
  Sent("{}", "GET");
  EXPECT_EQ(Header("Authorization"), "");
  definition_.urls[0].auth_type = "digest";
  answer_ = [](const std::string& request) {
    if (request.find("\r\nAuthorization: Digest ") != std::string::npos) {
      return Respond("200 OK\r\nContent-Type: text/plain", "in");
    }
    return Respond(
        "401 No\r\nX-First: 1\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"",
        "out");
  };
  EXPECT_EQ(Run("const r = curl('POST', api, {body: 'abc'});"
                "return [r.body, r.headers['X-First'] === undefined];"),
            R"(["in",true])");
  EXPECT_NE(server_.last().find("username=\"u\""), std::string::npos) << server_.last();
  EXPECT_TRUE(server_.last().ends_with("abc"));
}

TEST_F(CurlTest, CookiesOnlyWhereAllowed) {
  response_head_ = "200 OK\r\nSet-Cookie: session=7; Path=/";
  const std::string twice = "curl('GET', api); return curl('GET', api).status;";
  EXPECT_EQ(Run(twice), "200");
  EXPECT_EQ(Header("Cookie"), "");
  definition_.urls[0].allow_cookies = true;
  definition_.urls.push_back({.alias = "other", .hostname = server_.url()});
  definition_.urls[1].allow_cookies = true;
  EXPECT_EQ(Run(twice), "200");
  EXPECT_EQ(Header("Cookie"), "session=7");
  EXPECT_EQ(Run("curl('GET', api); return curl('GET', other).status;"), "200");
  EXPECT_EQ(Header("Cookie"), "") << "of the binding that got it";
}

TEST_F(CurlTest, PrivateAddressesAndOwnListenersAreRefusedAlsoAfterRedirects) {
  const std::string call = "return curl('GET', api, {path: '/once'}).status;";
  addresses_->SetOwnPorts({server_.port()});
  const std::string own = Run(call);
  const std::string restricted =
      R"("CurlError: The curl call tried accessing a restricted endpoint: /base/once")";
  EXPECT_EQ(own, restricted);
  definition_.urls[0].hostname = "http://localhost:" + std::to_string(server_.port());
  EXPECT_NE(Run(call).find("tried accessing a restricted endpoint"), std::string::npos);
  EXPECT_TRUE(server_.requests().empty());

  TestServer outside([this](const std::string&) {
    return Respond("302 Found\r\nLocation: " + server_.url() + "/base", "");
  });
  definition_.urls[0].hostname = outside.url();
  EXPECT_NE(Run(call).find("tried accessing a restricted endpoint"), std::string::npos);
  EXPECT_EQ(outside.requests().size(), 1u);
  EXPECT_TRUE(server_.requests().empty());

  addresses_ = std::make_shared<AddressRules>(PrivateAddresses::kRefused);
  EXPECT_NE(Run(call).find("functions.allow_private_addresses would allow it"), std::string::npos);
  EXPECT_EQ(outside.requests().size(), 1u);
  EXPECT_EQ(statistics_.curl_failures, 4u);
}

TEST_F(CurlTest, ASlowServerIsGivenUp) {
  answer_ = [this](const std::string&) { return Hold(); };
  const uint64_t start_ns = clock_.MonotonicNs();
  EXPECT_EQ(Run("return curl('GET', api, {timeout: 1});"),
            R"("CurlError: Unable to perform the request: Timeout was reached")");
  EXPECT_EQ(statistics_.curl_timeouts, 1u);
  EXPECT_LT(clock_.MonotonicNs() - start_ns, 5'000'000'000u);
  // What is left of the invocation is the longest that a request may take.
  definition_.settings.execution_timeout_s = 1;
  Run("return curl('GET', api);");
  EXPECT_EQ(statistics_.curl_timeouts, 2u);
  EXPECT_LT(clock_.MonotonicNs() - start_ns, 10'000'000'000u);
}

TEST_F(CurlTest, AStopEndsTheRequest) {
  answer_ = [this](const std::string&) {
    *stop_ = true;
    return Hold();
  };
  EXPECT_EQ(Run("return curl('GET', api);"), "ended: was stopped");
  EXPECT_TRUE(interrupted_);
}

TEST_F(CurlTest, MoreThanLibcurlTakesIsAnError) {
  EXPECT_TRUE(Run("return curl('GET', api, {path: 'x'.repeat(9000000)});")
                  .starts_with(R"("CurlError: Unable to perform the request: )"));
  EXPECT_TRUE(Run("return curl('GET', api, {params: 'x'.repeat(9000000)});")
                  .starts_with(R"("CurlError: Unable to perform the request: )"));
  definition_.urls[0].auth_type = "bearer";
  definition_.urls[0].bearer_key = std::string(9'000'000, 'x');
  EXPECT_TRUE(Run("return curl('GET', api);")
                  .starts_with(R"("CurlError: Unable to perform the request: )"));
}

TEST_F(CurlTest, AHostThatIsNotThere) {
  definition_.urls[0].hostname = "http://127.0.0.1:1";
  EXPECT_EQ(Run("return curl('GET', api);"),
            R"("CurlError: Unable to perform the request: Couldn't connect to server")");
  definition_.urls[0].hostname = "http://a host";
  EXPECT_TRUE(Run("return curl('GET', api);").starts_with(R"("CurlError: Unable to perform)"));
}

}  // namespace
}  // namespace sluice::function
