#include "rest/flow_static.h"

#include <algorithm>

#include "flow_engine/guards.h"
#include "rest/flow_dataset.h"
#include "rest/flow_stream.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

using json::Value;

constexpr uint64_t kFilterTimeoutMs = 30'000;

void AnswerMissing(const Request& request, Response& response) {
  AnswerError(request, 404, Value("Resource not found"), response);
}

// What the filter's function gets.
Value DatasetOfPage(const Request& request, const std::string& path) {
  const flow_engine::Endpoint any;
  Value dataset = HeadOf(request, any, {}).value_or(Value::EmptyObject());
  dataset.Set("uri", Value(path));
  return dataset;
}

void AddHeaders(const Value& headers, Response& response) {
  for (const json::Field& header : headers.fields()) {
    if (header.value.is_string()) response.AddHeader(header.name(), header.value.AsString());
  }
}

// `"a", W/"b"`, or `*` for any.
bool IsAmong(std::string_view tags, std::string_view tag) {
  while (!tags.empty()) {
    const size_t end = tags.find(',');
    std::string_view one = tags.substr(0, end);
    tags.remove_prefix(end == std::string_view::npos ? tags.size() : end + 1);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    one = one.substr(0, one.find_last_not_of(' ') + 1);
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag || one == "*") return true;
  }
  return false;
}

// Whether the page may be shown; else it has been answered. A filter can redirect with a status of
// 300 and more, or refuse with 400 and more or with false, as a guard does; what headers it sets
// are the page's.
bool PassesFilter(const Request& request, const flow_engine::Reply& reply, Response& response) {
  const bool refused = reply.body.is_bool() && !reply.body.AsBool();
  if (reply.status >= 400 || refused) {
    AnswerError(request, refused ? 401 : reply.status, refused ? Value("Unauthorized") : reply.body,
                response);
    return false;
  }
  AddHeaders(reply.headers, response);
  if (reply.status < 300) return true;
  response.NoContent(reply.status);
  return false;
}

}  // namespace

Task<> AnswerStatic(flow_engine::Host& host, std::shared_ptr<const flow_engine::App> app,
                    std::string path, Request& request, Response& response) {
  const auto file =
      co_await RunBlocking(request.exchange(), [&] { return flow_engine::FindStatic(*app, path); });
  if (!file) co_return response.Error(file.error());
  if (!*file) co_return AnswerMissing(request, response);
  const flow_engine::StaticContent& content = app->rest.content;
  if (content.IsFiltered(path) && content.filter_service != flow_engine::kUsersGuard) {
    Completion<flow_engine::Reply> done(request.exchange());
    host.engine().Call(app, content.filter_service, Value::EmptyObject(),
                       DatasetOfPage(request, path), kFilterTimeoutMs,
                       [done](flow_engine::Reply reply) { done.Complete(std::move(reply)); });
    const Result<flow_engine::Reply> reply = co_await done;
    if (!reply || !PassesFilter(request, *reply, response)) co_return;
  }
  if (!content.IsCached(path)) {
    response.AddHeader("Cache-Control", "no-cache, no-store");
  } else {
    response.AddHeader("ETag", (*file)->etag);
    if (IsAmong(request.FindHeader("if-none-match").value_or(""), (*file)->etag)) {
      co_return response.NoContent(304);
    }
  }
  if ((*file)->path.empty()) {
    co_return response.Body(200, (*file)->content_type, std::string((*file)->bytes));
  }
  const auto opened =
      co_await RunBlocking(request.exchange(), [&] { return DiskFile::Open((*file)->path); });
  if (!opened || !*opened) co_return AnswerMissing(request, response);
  if (request.method() == Method::kHead) {
    response.set_head_length((**opened)->size());
    co_return response.Body(200, (*file)->content_type, "");
  }
  response.set_content_type((*file)->content_type);
  co_await SendStream(std::make_shared<flow_engine::Stream>(**opened), request, response);
}

}  // namespace sluice::rest
