#include "http/request_parser.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

class ParserTest : public testing::Test {
 protected:
  // Feeds the message `step` bytes at a time; gives "ok METHOD path body" or "status id".
  std::string Parse(std::string_view bytes, size_t step = SIZE_MAX) {
    parser_.Reset();
    size_t parsed = 0;
    for (size_t end = std::min(step, bytes.size());; end = std::min(end + step, bytes.size())) {
      // A copy each time: the parser must not keep pointers.
      message_ = std::make_unique<std::string>(bytes.substr(0, end));
      parsed = parser_.Feed(message_->data(), parsed, message_->size());
      if (parser_.state() == RequestParser::State::kFailed) {
        return fmt::format("{} {}", parser_.error_status(), parser_.error().id());
      }
      if (parser_.state() == RequestParser::State::kComplete) break;
      if (end == bytes.size()) return "more";
    }
    consumed_ = parsed;
    const Status finished = parser_.Finish(message_->data(), 0, &ids_);
    if (!finished.ok()) return finished.id();
    return fmt::format("ok {} {} {}", MethodName(request_.method()), request_.path(),
                       request_.body());
  }
  // The same however the bytes are cut.
  void Expect(std::string_view bytes, std::string_view result) {
    for (const size_t step : {SIZE_MAX, size_t{1}, size_t{3}, size_t{7}}) {
      EXPECT_EQ(Parse(bytes, step), result) << bytes << " in steps of " << step;
    }
  }

  RequestLimits limits_{.max_head_bytes = 512, .max_headers = 8, .max_body_bytes = 64};
  RequestIds ids_{1};
  std::string remote_;
  Request request_;
  RequestParser parser_{limits_, &request_, &remote_, nullptr};
  std::unique_ptr<std::string> message_;
  size_t consumed_ = 0;
};

// A body that its route lets go to disk.
TEST(SpoolTest, ALargeBodyGoesToDisk) {
  const RequestLimits limits{.max_head_bytes = 512,
                             .max_headers = 8,
                             .max_body_bytes = 8,
                             .max_spooled_bytes = 20,
                             .spool_directory = testing::TempDir() + "/parser_test"};
  const std::string remote;
  const auto parse = [&](Request* request, std::string_view framing, std::string_view body,
                         std::optional<size_t> above) -> std::string {
    RequestParser parser(limits, request, &remote, nullptr);
    const std::string head = fmt::format("PUT /a HTTP/1.1\r\nHost: h\r\n{}\r\n\r\n", framing);
    const std::string message = head + std::string(body);
    size_t parsed = parser.Feed(message.data(), 0, head.size());
    if (parser.state() == RequestParser::State::kBody) {
      if (above) parser.AllowSpool(*above);
      if (parser.IsBodyTooLarge()) return parser.BodyTooLarge().message();
      parsed = parser.Feed(message.data(), parsed, message.size());
    }
    if (parser.state() == RequestParser::State::kFailed) return parser.error().message();
    return request->spooled() == nullptr ? "memory " + std::string(request->body())
                                         : "disk " + *request->spooled()->Read(0, 100);
  };
  Request request;
  const std::string_view long_body = "0123456789abcdef";
  EXPECT_EQ(parse(&request, "Content-Length: 16", long_body, 8), "disk 0123456789abcdef");
  EXPECT_EQ(request.body(), "");
  EXPECT_EQ(request.body_size(), 16u);
  EXPECT_EQ(parse(&request, "Content-Length: 4", "0123", 8), "memory 0123");
  EXPECT_EQ(request.spooled(), nullptr);
  EXPECT_EQ(
      parse(&request, "Transfer-Encoding: chunked", "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", 8),
      "disk 0123456789");
  EXPECT_EQ(parse(&request, "Content-Length: 16", long_body, std::nullopt),
            "the body has 16 bytes, at most 8 are accepted (http.max_body)");
  EXPECT_EQ(parse(&request, "Content-Length: 21", "", std::nullopt),
            "the body has 21 bytes, at most 8 are accepted (http.max_body)");
  EXPECT_EQ(parse(&request, "Content-Length: 21", "", 8),
            "the body has 21 bytes, at most 20 are accepted (flows.max_stream)");
  // The disk would hold less than memory does.
  EXPECT_EQ(parse(&request, "Content-Length: 21", "", 20),
            "the body has 21 bytes, at most 8 are accepted (http.max_body)");
  EXPECT_EQ(
      parse(&request, "Transfer-Encoding: chunked", "15\r\n0123456789abcdef01234\r\n0\r\n\r\n", 8),
      "the body has more than 20 bytes (flows.max_stream)");
  EXPECT_EQ(
      parse(&request, "Transfer-Encoding: chunked", "9\r\n012345678\r\n0\r\n\r\n", std::nullopt),
      "the body has more than 8 bytes (http.max_body)");
}

TEST_F(ParserTest, Messages) {
  Expect("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "ok GET /a ");
  Expect("\r\nGET /a?b=c#d HTTP/1.1\r\nHost: h\r\n\r\n", "ok GET /a ");
  Expect("GET http://h:80/a?x HTTP/1.1\r\nHost: h\r\n\r\n", "ok GET /a ");
  Expect("GET / HTTP/1.0\r\n\r\n", "ok GET / ");
  Expect("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "ok OPTIONS * ");
  Expect("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "ok PUT /a hello");
  Expect(
      "PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
      "ok PUT /a abcde");
  Expect("GET /a HTTP/1.1\r\nHost: h\r\n", "more");
  Expect("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhell", "more");
}

TEST_F(ParserTest, StopsAtTheEndOfAMessage) {
  const std::string first = "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxy";
  EXPECT_EQ(Parse(first + "GET /b HTTP/1.1\r\n"), "ok PUT /a xy");
  EXPECT_EQ(consumed_, first.size());
}

TEST_F(ParserTest, MalformedRequests) {
  const std::string malformed = "400 http.malformed";
  Expect("hello\r\n\r\n", malformed);
  Expect("\x16\x03\x01\x02\x00\x01", malformed);
  Expect("GET /a HTTP/1.1\r\n\r\n", malformed);                           // no Host
  Expect("GET /a HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", malformed);     // two
  Expect("GET /a HTTP/1.1\r\nHost : h\r\n\r\n", malformed);               // space
  Expect("GET /a HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", malformed);  // folded
  Expect("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", malformed);
  Expect("GET /a HTTP/2.0\r\nHost: h\r\n\r\n", "505 http.version");
  Expect("GET /a HTTP/1.1\r\nHost: h\r\nExpect: coffee\r\n\r\n", "417 http.expectation");
  Expect("GET a HTTP/1.1\r\nHost: h\r\n\r\n", malformed);
  Expect("GET /?%zz HTTP/1.1\r\nHost: h\r\n\r\n", "http.bad_target");
}

TEST_F(ParserTest, AmbiguousFramingIsRefused) {
  const std::string head = "PUT /a HTTP/1.1\r\nHost: h\r\n";
  const std::string bad = "400 http.bad_framing";
  Expect(head + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad);
  Expect(head + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", bad);
  Expect(head + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nxy", bad);
  Expect(head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nxy", bad);
  Expect(head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad);
  Expect("PUT /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad);
  for (const char* encoding : {"gzip, chunked", "xchunked", "chunked, identity", "gzip"}) {
    const std::string result = Parse(head + "Transfer-Encoding: " + encoding + "\r\n\r\n");
    EXPECT_TRUE(result == bad || result == "501 http.transfer_encoding") << encoding << result;
  }
  for (const char* length : {"-1", "+2", "0x2", "2 2", "2,2", "99999999999999999999", ""}) {
    const std::string result = Parse(head + "Content-Length: " + length + "\r\n\r\nxy");
    EXPECT_TRUE(result.starts_with("400 ")) << length << " gave " << result;
  }
}

TEST_F(ParserTest, Limits) {
  const std::string head = "PUT /a HTTP/1.1\r\nHost: h\r\n";
  Expect(head + "X: " + std::string(600, 'x') + "\r\n\r\n", "431 http.header_too_large");
  Expect("GET /" + std::string(600, 'x'), "431 http.header_too_large");
  std::string many = head;
  for (int i = 0; i < 8; ++i) many += fmt::format("X{}: 1\r\n", i);
  Expect(many + "\r\n", "431 http.header_too_large");
  Expect(head + "Content-Length: 65\r\n\r\n", "413 http.body_too_large");
  Expect(head + "Transfer-Encoding: chunked\r\n\r\n41\r\n" + std::string(65, 'x'),
         "413 http.body_too_large");
  Expect(head + "Content-Length: 64\r\n\r\n" + std::string(64, 'x'),
         "ok PUT /a " + std::string(64, 'x'));
}

TEST_F(ParserTest, HeadersAndRequestId) {
  ASSERT_EQ(Parse("GET /a HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nX-Pad:  v \t\r\n"
                  "X-Request-Id: job-7\r\n\r\n"),
            "ok GET /a ");
  EXPECT_EQ(request_.FindHeader("x-EMPTY"), "");
  EXPECT_EQ(request_.FindHeader("x-pad"), "v");
  EXPECT_EQ(request_.FindHeader("x-none"), std::nullopt);
  EXPECT_EQ(request_.id(), "job-7");
  ASSERT_EQ(Parse("GET /a HTTP/1.1\r\nHost: h\r\nX-Request-Id: <script>\r\n\r\n"), "ok GET /a ");
  EXPECT_EQ(request_.id().size(), 16u);
  const std::string id(request_.id());
  ASSERT_EQ(Parse("GET /a HTTP/1.1\r\nHost: h\r\n\r\n"), "ok GET /a ");
  EXPECT_NE(request_.id(), id);
}

TEST_F(ParserTest, KeepAlive) {
  const auto keeps = [&](std::string_view bytes) {
    EXPECT_TRUE(Parse(bytes).starts_with("ok"));
    return parser_.keep_alive();
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

}  // namespace
}  // namespace sluice::http
