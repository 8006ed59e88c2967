// Bytes through the parser, the router and the writer of answers, as a connection does it, without
// sockets. What the parser lets through must be routable and answerable, and the way the bytes are
// cut must not matter.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/error_body.h"
#include "http/request_parser.h"
#include "http/response.h"
#include "http/router.h"

namespace sluice::http {
namespace {

Router MakeRouter() {
  Router router;
  const auto echo = [](Request& request, Response& response) {
    std::string text;
    for (const auto& [name, value] : request.query()) text += name + "=" + value + "\n";
    response.AddHeader("X-Echo", request.FindHeader("X-Echo").value_or(""));
    response.Text(200, text + request.TakeBody());
  };
  for (const char* path : {"/", "/v1/docs/{space}/{key...}", "/v1/docs/{space}", "/v1/{a}/x/{b}"}) {
    CHECK(router.Add({.path = path, .handler = echo}).ok());
    CHECK(router.Add({.method = Method::kPost, .path = path, .handler = echo}).ok());
  }
  return router;
}

void Answer(const Router& router, const Status& target, Request* request, std::string* out) {
  Response response;
  response.Reset(nullptr, request->id());
  if (!target.ok()) {
    response.Error(target);
  } else if (const Router::Match match = router.Find(request); match.route != nullptr) {
    match.route->handler.plain(*request, response);
  } else {
    response.Error(Error(Code::kNotFound, "http.no_route", "{}", request->path()));
  }
  response.AppendHead({.date = "now"}, out);
  *out += response.body();
}

// All answers to what the bytes hold, cut into pieces of `step`.
std::string Serve(const Router& router, std::string_view bytes, size_t step) {
  static const RequestLimits kLimits{
      .max_head_bytes = 1024, .max_headers = 8, .max_body_bytes = 256};
  const std::string remote = "fuzz";
  RequestIds ids(1);
  Request request;
  RequestParser parser(kLimits, &request, &remote, nullptr);
  std::string out;
  size_t begin = 0, parsed = 0, end = 0;
  while (true) {
    if (begin + parsed == end) {
      if (end == bytes.size()) return out;
      end = std::min(bytes.size(), end + step);
    }
    parsed = parser.Feed(bytes.data() + begin, parsed, end - begin);
    CHECK(begin + parsed <= end);
    if (parser.state() == RequestParser::State::kFailed) {
      CHECK(!ErrorBody(parser.error(), "id").empty());
      return out + parser.error().id();  // the message may depend on how the bytes were cut
    }
    if (parser.state() != RequestParser::State::kComplete) {
      CHECK(begin + parsed == end);
      continue;
    }
    const Status target = parser.Finish(bytes.data() + begin, 0, &ids);
    Answer(router, target, &request, &out);
    if (!parser.keep_alive()) return out;
    begin += parsed;
    parsed = 0;
    parser.Reset();
  }
}

}  // namespace
}  // namespace sluice::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice::http;
  static const Router kRouter = MakeRouter();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = Serve(kRouter, bytes, SIZE_MAX);
  CHECK(whole == Serve(kRouter, bytes, 1));
  CHECK(whole == Serve(kRouter, bytes, 7));
  return 0;
}
