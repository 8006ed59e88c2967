// GET /v1/feed/{keyspace}: the changes of a keyspace as server-sent events. An event's id is the
// place after it; a client that comes back with it misses nothing and gets nothing twice, unless
// the log was trimmed meanwhile: then it gets each document that changed once, in its last state.
#include "service/feed.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "json/print.h"
#include "rest/access.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

using service::ChangeStream;
using service::ChangeStreamOptions;
using service::FeedPosition;
using service::FeedUntil;

struct FeedRequest {
  ChangeStreamOptions stream;
  FeedUntil until = FeedUntil::kForever;
};

std::unexpected<Status> BadChoice(std::string_view name, std::string_view expected,
                                  std::string_view found) {
  return Unexpected(Error(Code::kInvalidArgument, "http.bad_parameter",
                          "query parameter '{}': expected {}, found '{}'", name, expected, found)
                        .With("parameter", std::string(name)));
}

Result<FeedRequest> FeedRequestOf(const Context& context, const Request& request) {
  FeedRequest wanted;
  ASSIGN_OR_RETURN(wanted.stream.keyspace,
                   service::ResolveKeyspace(context.database, request.Param("keyspace"),
                                            service::Access::kRead));
  auto since = request.FindHeader("Last-Event-ID");
  if (!since) since = request.Query("since");
  if (since && !since->empty()) {
    ASSIGN_OR_RETURN(wanted.stream.since, FeedPosition::Parse(*since));
  }
  const std::string_view from = request.Query("from").value_or("now");
  if (from == "everything") {
    wanted.stream.from = ChangeStreamOptions::From::kEverything;
  } else if (from != "now") {
    return BadChoice("from", "now or everything", from);
  }
  const auto until = request.Query("until");
  if (until && *until != "caught_up") return BadChoice("until", "caught_up", *until);
  if (until) wanted.until = FeedUntil::kCaughtUp;
  ASSIGN_OR_RETURN(wanted.stream.values, request.QueryBool("values", true));
  ASSIGN_OR_RETURN(const int64_t limit, request.QueryInt("limit", INT64_MAX, 1, INT64_MAX));
  wanted.stream.limit = static_cast<uint64_t>(limit);
  return wanted;
}

// 410 says: not now, nor later; start over.
void RefuseFeed(Response& response, const Status& why) {
  if (why.id() == "feed.history_gone") return response.Error(410, why);
  response.Error(why);
}

// Encodes a feed as server-sent events.
class EventFeed final : public service::FeedReceiver {
 public:
  EventFeed(Request& request, Response& response, bool values)
      : request_(request), response_(response), values_(values) {}

  void OnReady(const FeedPosition& position) override { AppendMark("ready", position); }
  void OnCaughtUp(const FeedPosition& position) override { AppendMark("caught_up", position); }
  void OnChange(const db::Change& change, const FeedPosition& position) override {
    std::string data = R"({"key":)";
    json::AppendQuoted(change.key, &data);
    const std::string_view operation = db::OperationName(change.operation);
    fmt::format_to(std::back_inserter(data),
                   R"(,"operation":"{}","cas":"{}","sequence":{},"time":{})", operation, change.cas,
                   change.sequence, change.time_ms);
    if (change.after) AppendAfter(change, &data);
    data += '}';
    const std::string id = position.ToText();
    EventStream::Append({.id = id, .event = operation, .data = data}, &out_);
  }

  size_t bytes() const override { return out_.size(); }
  Task<Status> Send() override {
    if (out_.empty()) co_return OkStatus();
    if (!head_) head_.emplace(request_, response_);
    const Status sent = co_await response_.Write(out_);
    out_.clear();
    co_return sent;
  }
  // Before the head: an ordinary error. After it: an event, then the end.
  Task<> End(Status why) override {
    if (!head_) co_return RefuseFeed(response_, why);
    const std::string body = ErrorBody(why, request_.id());
    EventStream::Append(
        {.event = "error", .data = std::string_view(body).substr(0, body.size() - 1)}, &out_);
    [[maybe_unused]] const Status sent = co_await Send();
  }

 private:
  void AppendMark(std::string_view event, const FeedPosition& position) {
    const std::string id = position.ToText();
    EventStream::Append({.id = id, .event = event, .data = "{}"}, &out_);
  }
  void AppendAfter(const db::Change& change, std::string* data) const {
    if (change.after->expiry_ms != 0) {
      fmt::format_to(std::back_inserter(*data), R"(,"expiry":{})", change.after->expiry_ms);
    }
    if (!values_) return;
    if (change.unreadable.ok()) {
      AppendValueMember(*change.after, data);
    } else {
      AppendErrorMember(change.unreadable, data);
    }
  }

  Request& request_;
  Response& response_;
  const bool values_;
  std::optional<EventStream> head_;  // there once something has been sent
  std::string out_;
};

Task<> FollowKeyspace(Context& context, Request& request, Response& response) {
  const Result<FeedRequest> wanted = FeedRequestOf(context, request);
  if (!wanted) co_return response.Error(wanted.error());
  Result<Result<std::unique_ptr<ChangeStream>>> opened = co_await RunBlocking(
      request.exchange(), [&] { return ChangeStream::Open(context.database, wanted->stream); });
  if (!opened) co_return response.Error(opened.error());
  if (!*opened) co_return RefuseFeed(response, opened->error());
  EventFeed feed(request, response, wanted->stream.values);
  co_await service::RunFeed(context.database, request.exchange(), std::move(**opened),
                            wanted->until, feed);
}

}  // namespace

Status AddFeedRoutes(Router& router, Context& context) {
  return router.Add(
      {.method = Method::kGet,
       .path = "/v1/feed/{keyspace}",
       .summary = "Follow the changes of a keyspace",
       .tag = "feed",
       .description =
           "Server-sent events insert, update, delete and expire; `ready` at the start and "
           "`caught_up` after all existing changes. An event's id, sent back as "
           "Last-Event-ID or `since`, continues after it.",
       .parameters = {{.name = "since", .description = "the id of the last event seen"},
                      {.name = "Last-Event-ID",
                       .in = Parameter::In::kHeader,
                       .description = "the same, as browsers send it"},
                      {.name = "from",
                       .description = "without an id: now, or everything (documents first)"},
                      {.name = "values", .description = "false: keys only", .type = "boolean"},
                      {.name = "limit", .description = "end after this many", .type = "integer"},
                      {.name = "until", .description = "caught_up: end there"}},
       .responses = {{200, "events", Content{.type = "text/event-stream"}},
                     {410, "the server no longer has the changes after that id: start over"}},
       .auth = std::string(kReadKeyspace),
       .handler = [&context](Request& request, Response& response) -> Task<> {
         return FollowKeyspace(context, request, response);
       }});
}

}  // namespace sluice::rest
