#include "http/message_check.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

// Where the first wrong byte is, however the message is cut; npos for none.
size_t WrongAt(std::string_view message, size_t step) {
  MessageCheck check;
  size_t from = 0;
  size_t to = 0;
  while (from < message.size()) {
    if (from == to) to = std::min(message.size(), to + step);
    const size_t good = check.Good(message.data(), from, to);
    if (good == from) return from;
    from = good;
  }
  return std::string_view::npos;
}

void ExpectWrongAt(std::string_view message, size_t at) {
  for (const size_t step : {message.size(), size_t{1}, size_t{3}, size_t{7}}) {
    EXPECT_EQ(WrongAt(message, step), at) << message << " in steps of " << step;
  }
}

TEST(MessageCheck, LinesOfTheHeadEndWithCrlf) {
  ExpectWrongAt("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", std::string_view::npos);
  ExpectWrongAt("\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n", std::string_view::npos);
  ExpectWrongAt("GET /a HTTP/1.1\nHost: h\r\n\r\n", 15);
  ExpectWrongAt("GET /a HTTP/1.1\r\nHost: h\n\r\n", 24);
  ExpectWrongAt("GET /a HTTP/1.1\r\nHost: h\r\n\n", 26);
  ExpectWrongAt("\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n", 0);
  ExpectWrongAt("PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\na\nb", std::string_view::npos);
}

TEST(MessageCheck, ChunksEndWithCrlf) {
  const std::string head = "PUT /a HTTP/1.1\r\ntransfer-ENCODING: chunked\r\n\r\n";
  for (const char* const right :
       {"3\r\nabc\r\n0\r\n\r\n", "0\r\n\r\nGET\n", "0\r\nX: y\r\n\r\n",
        "3 ;a=\"b\"\r\nabc\r\n02\r\n\r\n\r\n0\r\n\r\n", "A\r\n0123456789\r\n0\r\n\r\n"}) {
    ExpectWrongAt(head + right, std::string_view::npos);
  }
  const std::pair<const char*, size_t> wrong[] = {{"3\r\nabcXX0\r\n\r\n", 6},
                                                  {"3\r\nabc\n0\r\n\r\n", 6},
                                                  {"3\r\nabc\rX0\r\n\r\n", 7},
                                                  {"3;\n\r\nabc\r\n0\r\n\r\n", 2},
                                                  {"3\nabc\r\n0\r\n\r\n", 1},
                                                  {"3\r\nabc\r\n0\n\r\n", 9},
                                                  {"3\r\nabc\r\n0\r\n\n", 11},
                                                  {"3\r\nabc\r\n0\r\nX: y\n\r\n", 15},
                                                  {";a\r\n", 0},
                                                  {"3x\r\nabc\r\n", 1},
                                                  {"00000000000000003\r\nabc\r\n", 16}};
  for (const auto& [chunks, at] : wrong) ExpectWrongAt(head + chunks, head.size() + at);
}

}  // namespace
}  // namespace sluice::http
