// Code of users on the threads of connections: while it takes long or waits, the connections go on.
#include "net/loop_threads.h"

#include <algorithm>
#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/wait_scope.h"
#include "http/test_client.h"
#include "net/completion.h"

namespace sluice::http {
namespace {

using Job = std::function<void()>;

// A server with one loop. /job runs the job there and answers when it has ended, /ok at once.
class JobServer {
 public:
  explicit JobServer(Job job)
      : server_(Routes(std::move(job)), net::ServerOptions{.io_threads = 1, .drain_ms = 1}) {}

  uint16_t port() const { return server_.port(); }
  void Stop() { server_.Stop(); }
  FakeClock* clock() { return &server_.clock(); }

 private:
  static Router Routes(Job job) {
    Router router;
    const auto run = [job](Request& request, Response& response) -> Task<> {
      net::Completion<int> done(request.exchange());
      request.exchange().loop()->Run([job, done] {
        job();
        done.Complete(1);
      });
      response.Text(200, (co_await done) ? "done" : "cancelled");
    };
    EXPECT_TRUE(router.Add({.path = "/job", .handler = run}).ok());
    const auto ok = [](Request&, Response& response) { response.Text(200, "ok"); };
    EXPECT_TRUE(router.Add({.path = "/ok", .handler = ok}).ok());
    return router;
  }

  TestServer server_;
};

constexpr std::string_view kAskForJob = "GET /job HTTP/1.1\r\nHost: t\r\n\r\n";

// Time stands still, so no job is ever seen to take long.
TEST(LoopThreads, AShortJobRunsOnTheLoopsThread) {
  std::vector<std::thread::id> threads;
  JobServer server([&] { threads.push_back(std::this_thread::get_id()); });
  RawClient client(server.port());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.Get("/job").body, "done");
  EXPECT_EQ(std::ranges::count(threads, threads.front()), 100);
}

TEST(LoopThreads, ALongJobLosesTheLoop) {
  std::binary_semaphore go_on(0);
  JobServer server([&] { go_on.acquire(); });
  const PassingTime time(server.clock());
  RawClient asks(server.port());
  asks.Send(kAskForJob);
  RawClient other(server.port());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(other.Get("/ok").body, "ok");
  go_on.release();
  EXPECT_EQ(asks.ReadReply().body, "done");
}

TEST(LoopThreads, AJobThatWaitsLosesTheLoopAtOnce) {
  std::atomic<int> waiting = 0;
  std::counting_semaphore<> go_on(0);
  JobServer server([&] {
    ++waiting;
    const WaitScope waits;
    go_on.acquire();
  });
  constexpr int kClients = 20;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->Send(kAskForJob);
  }
  RawClient other(server.port());
  while (waiting < kClients) EXPECT_EQ(other.Get("/ok").body, "ok");
  go_on.release(kClients);
  for (const auto& client : clients) EXPECT_EQ(client->ReadReply().body, "done");
  // Threads that lost the loop have it again.
  go_on.release(kClients);
  for (const auto& client : clients) EXPECT_EQ(client->Get("/job").body, "done");
}

TEST(LoopThreads, JobsWaitWhenTooManyTakeLong) {
  std::atomic<size_t> running = 0;
  std::counting_semaphore<> go_on(0);
  JobServer server([&] {
    ++running;
    const WaitScope waits;
    go_on.acquire();
  });
  constexpr size_t kMore = 10;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (size_t i = 0; i < net::LoopThreads::kMostLost + kMore; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->Send(kAskForJob);
  }
  RawClient other(server.port());
  while (running < net::LoopThreads::kMostLost) EXPECT_EQ(other.Get("/ok").body, "ok");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.Get("/ok").body, "ok");
  EXPECT_EQ(running, net::LoopThreads::kMostLost);
  go_on.release(static_cast<ptrdiff_t>(clients.size()));
  for (const auto& client : clients) EXPECT_EQ(client->ReadReply().body, "done");
  EXPECT_EQ(running, clients.size());
}

TEST(LoopThreads, AStopDoesNotWaitForJobsButTheEndDoes) {
  std::binary_semaphore began(0);
  std::binary_semaphore go_on(0);
  std::atomic<bool> ended = false;
  auto server = std::make_unique<JobServer>([&] {
    began.release();
    go_on.acquire();
    ended = true;
  });
  RawClient client(server->port());
  client.Send(kAskForJob);
  began.acquire();
  client.Close();
  {
    const PassingTime time(server->clock());
    server->Stop();
  }
  EXPECT_FALSE(ended);
  go_on.release();
  server.reset();
  EXPECT_TRUE(ended);
}

TEST(LoopThreads, ManyClientsAtOnce) {
  std::atomic<int> jobs = 0;
  JobServer server([&] {
    if (++jobs % 16 != 0) return;
    const WaitScope waits;
    std::this_thread::yield();
  });
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      RawClient client(server.port());
      for (int n = 0; n < 200; ++n) EXPECT_EQ(client.Get(n % 3 == 0 ? "/ok" : "/job").status, 200);
    });
  }
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace sluice::http
