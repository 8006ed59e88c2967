// Requests as bytes, several in a row, against the document resources over a real database. No
// request may fail inside the server, and what says that it is JSON must be JSON.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/check.h"
#include "http/request_parser.h"
#include "json/parse.h"
#include "rest/http_types.h"
#include "rest/test_rest.h"

namespace sluice::rest {
namespace {

using http::Handler;
using http::RequestIds;
using http::RequestLimits;
using http::RequestParser;
using http::StreamSink;
using net::Loop;

constexpr size_t kMaxRequests = 8;
constexpr auto kPatience = std::chrono::milliseconds(100);

// What other threads post, run by the one that calls RunOne.
class QueueLoop final : public Loop {
 public:
  void Post(std::move_only_function<void()> run) override {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(run));
    posted_.notify_one();
  }
  void Run(std::move_only_function<void()> job) override { Post(std::move(job)); }
  // False when nothing was posted for a while.
  bool RunOne() {
    std::unique_lock lock(mutex_);
    if (!posted_.wait_for(lock, kPatience, [this] { return !queue_.empty(); })) return false;
    auto run = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::move_only_function<void()>> queue_;  // guarded by mutex_
};

// A connection without a socket. Its client takes everything, and leaves when the handler waits for
// something that does not happen by itself.
class FuzzExchange final : public StreamSink {
 public:
  explicit FuzzExchange(Pool& workers) : workers_(workers) {}

  const std::shared_ptr<Loop>& loop() const override { return loop_; }
  Pool& workers() const override { return workers_; }
  Accepted StreamChunk(std::string_view chunk) override {
    streamed_.append(chunk);
    return cancelled() ? Accepted::kGone : Accepted::kYes;
  }
  void AwaitDrained(std::coroutine_handle<>) override { CHECK(false); }
  void SetHeartbeat(uint64_t, std::string) override {}

  void Run(const Handler& handler, Request& request, Response& response) {
    ResetExchange();
    streamed_.clear();
    if (handler.plain) return handler.plain(request, response);
    Task<> task = handler.waiting(request, response);
    if (task.empty()) return;
    task.Start();
    while (!task.done()) {
      if (!queue_->RunOne()) Cancel();
    }
    task.Take();
  }
  const std::string& streamed() const { return streamed_; }

 private:
  void OnSuspend() override {}
  void OnResumed() override {}

  Pool& workers_;
  const std::shared_ptr<QueueLoop> queue_ = std::make_shared<QueueLoop>();
  const std::shared_ptr<Loop> loop_ = queue_;
  std::string streamed_;
};

class Harness {
 public:
  Harness()
      : workers_({.kind = "fuzz worker", .most_threads = 1, .most_queued = 16}),
        exchange_(workers_) {
    CHECK(rest_.database().admin().CreateBucket("b").ok());
    Context& context = rest_.context();
    for (const auto add :
         {AddBucketRoutes, AddCollectionRoutes, AddIndexRoutes, AddDocumentRoutes,
          AddMutationRoutes, AddScanRoutes, AddBatchRoutes, AddImportRoutes, AddFeedRoutes}) {
      CHECK(add(router_, context).ok());
    }
    auto admin = std::make_shared<auth::Principal>();
    admin->grants = {auth::Grant{auth::Role::kAdmin}};
    sender_ = std::make_shared<const Sender>(std::move(admin));
  }

  void Serve(std::string_view bytes) {
    Request request;
    RequestParser parser(limits_, &request, &remote_, &exchange_);
    for (size_t count = 0; count < kMaxRequests && !bytes.empty(); ++count) {
      parser.Reset();
      const size_t used = parser.Feed(bytes.data(), 0, bytes.size());
      if (parser.state() != RequestParser::State::kComplete) return;
      if (parser.Finish(bytes.data(), 0, &ids_).ok()) Answer(request);
      bytes.remove_prefix(used);
    }
  }

 private:
  void Answer(Request& request) {
    const Router::Match match = router_.Find(&request);
    if (match.route == nullptr) return;
    request.set_principal(sender_);
    Response response;
    response.Reset(&exchange_, request.id());
    exchange_.Run(match.route->handler, request, response);
    CHECK(response.status() >= 200 && response.status() < 600 && response.status() != 500);
    std::string head;
    response.AppendHead({.date = "now"}, &head);
    const bool is_json = head.find("Content-Type: application/json\r\n") != std::string::npos;
    const std::string& body = exchange_.streamed().empty() ? response.body() : exchange_.streamed();
    if (is_json && !exchange_.cancelled()) {
      CHECK(json::Validate(body, {.max_bytes = body.size()}).ok());
    }
  }

  TestRest rest_;
  Router router_;
  std::shared_ptr<const Sender> sender_;
  const RequestLimits limits_;
  const std::string remote_ = "127.0.0.1:1";
  RequestIds ids_{1};
  Pool workers_;
  FuzzExchange exchange_;
};

}  // namespace
}  // namespace sluice::rest

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sluice::rest::Harness harness;
  harness.Serve({reinterpret_cast<const char*>(data), size});
  return 0;
}
