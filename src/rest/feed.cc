// GET /v1/feed/{keyspace}: the changes of a keyspace as server-sent events. An event's id is the
// place after it; a client that comes back with it misses nothing and gets nothing twice, unless
// the log was trimmed meanwhile: then it gets each document that changed once, in its last state.
#include <utility>

#include "rest/access.h"
#include "rest/change_stream.h"
#include "rest/chunks.h"
#include "rest/commit_signal.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

constexpr ChangeStream::Budget kWorkerBudget = {kChunkRows, kChunkBytes};
// At the end of the log what is read is in memory and little: no worker is asked for it.
constexpr ChangeStream::Budget kTailBudget = {64, 32 << 10};

struct FeedRequest {
  ChangeStreamOptions stream;
  bool until_caught_up = false;
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
  wanted.until_caught_up = until.has_value();
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

void AppendMark(std::string_view event, const ChangeStream& stream, std::string* out) {
  const std::string id = stream.position().ToText();
  EventStream::Append({.id = id, .event = event, .data = "{}"}, out);
}

// One connection's feed, from its head to its end.
class FeedSession {
 public:
  FeedSession(Context& context, Request& request, Response& response, bool until_caught_up,
              std::unique_ptr<ChangeStream> stream)
      : context_(context),
        request_(request),
        response_(response),
        until_caught_up_(until_caught_up),
        stream_(std::move(stream)),
        signal_(context.database) {}

  Task<> Run() {
    AppendMark("ready", *stream_, &out_);
    while (true) {
      signal_.Clear();
      const Result<size_t> given = co_await ReadNext();
      if (!given) co_return co_await End(given.error());
      if (*given == 0 && !caught_up_) {
        caught_up_ = true;
        if (!stream_->finished()) AppendMark("caught_up", *stream_, &out_);
      }
      if (!(co_await Send()).ok()) co_return;
      if (stream_->finished() || (until_caught_up_ && caught_up_)) co_return;
      if (*given != 0) continue;
      if (context_.database.catalog()->Find(stream_->position().keyspace) == nullptr) {
        co_return co_await End(
            Error(Code::kNotFound, "feed.keyspace_dropped", "the collection was dropped"));
      }
      if (!(co_await signal_.Wait(request_)).ok()) co_return;
    }
  }

 private:
  Task<Result<size_t>> ReadNext() {
    if (caught_up_ && stream_->InLog()) co_return stream_->Read(kTailBudget, &out_);
    Result<Result<size_t>> given = co_await RunBlocking(
        request_.exchange(), [&] { return stream_->Read(kWorkerBudget, &out_); });
    if (!given) co_return Unexpected(given.error());
    co_return std::move(*given);
  }

  Task<Status> Send() {
    if (out_.empty()) co_return OkStatus();
    if (!started_) {
      started_ = true;
      head_.emplace(request_, response_);
    }
    const Status sent = co_await response_.Write(out_);
    out_.clear();
    co_return sent;
  }

  // Before the head: an ordinary error. After it: an event, then the end.
  Task<> End(Status why) {
    if (!started_) co_return RefuseFeed(response_, why);
    const std::string body = ErrorBody(why, request_.id());
    EventStream::Append(
        {.event = "error", .data = std::string_view(body).substr(0, body.size() - 1)}, &out_);
    [[maybe_unused]] const Status sent = co_await Send();
  }

  Context& context_;
  Request& request_;
  Response& response_;
  const bool until_caught_up_;
  const std::unique_ptr<ChangeStream> stream_;
  CommitSignal signal_;
  std::optional<EventStream> head_;
  std::string out_;
  bool started_ = false;
  bool caught_up_ = false;
};

Task<> FollowKeyspace(Context& context, Request& request, Response& response) {
  const Result<FeedRequest> wanted = FeedRequestOf(context, request);
  if (!wanted) co_return response.Error(wanted.error());
  Result<Result<std::unique_ptr<ChangeStream>>> opened = co_await RunBlocking(
      request.exchange(), [&] { return ChangeStream::Open(context.database, wanted->stream); });
  if (!opened) co_return response.Error(opened.error());
  if (!*opened) co_return RefuseFeed(response, opened->error());
  FeedSession session(context, request, response, wanted->until_caught_up, std::move(**opened));
  co_await session.Run();
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
