// A protocol of lines over net, plain and by TLS: what a protocol has to bring, and what it gets.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "base/clock.h"
#include "net/completion.h"
#include "net/connection.h"
#include "net/io_loop.h"
#include "net/run_blocking.h"
#include "net/server.h"
#include "net/task.h"
#include "net/test_certificate.h"
#include "net/test_client.h"

namespace sluice::net {
namespace {

using testing::StartsWith;

constexpr size_t kMaxLine = 1 << 20;
constexpr uint64_t kIdleMs = 60'000;

// Answers each line with the same line; "work" is answered by a worker, "wait" only when the server
// ends the wait, "bye" ends the connection.
class LineConnection final : public Connection, public Exchange {
 public:
  LineConnection(IoLoop& loop, std::string remote, Admission admission)
      : Connection(loop, std::move(remote)),
        loop_(loop.shared_from_this()),
        admission_(admission),
        since_ns_(loop.server().now_ns()) {}

  // Connection
  void Tick(uint64_t now_ns) override {
    if (now_ns - std::min(now_ns, since_ns_) > kIdleMs * 1'000'000) Close();
  }
  void Drain() override {
    ends_ = true;
    Cancel();
    Continue();
  }

  // Exchange
  const std::shared_ptr<Loop>& loop() const override { return loop_; }
  Pool& workers() const override { return *io().server().workers; }

 private:
  void Opened() override {
    if (admission_ == Admission::kRefused) {
      out_ = "full\n";
      ends_ = true;
    }
    Continue();
  }
  void OnReadEnd(ReadEnd end, size_t size) override {
    reading_ = false;
    if (end != ReadEnd::kData) return Close();
    since_ns_ = io().server().now_ns();
    in_.append(buffer_, size);
    Continue();
  }
  void OnWriteEnd(bool ok) override {
    writing_ = false;
    if (!ok) return Close();
    Continue();
  }
  void OnClose() override {
    transport().Close();
    Cancel();
  }
  bool CanEnd() const override { return task_.done(); }
  void OnSuspend() override {}
  void OnResumed() override {
    Continue();
    MaybeEnd();
  }

  // Does all that can be done now: answers lines, writes, reads on.
  void Continue() {
    size_t end;
    while (!closed() && !ends_ && task_.done() && (end = in_.find('\n')) != std::string::npos) {
      Handle(in_.substr(0, end));
      in_.erase(0, end + 1);
    }
    if (closed() || writing_) return;
    if (!out_.empty() && !Write()) return;
    if (in_.size() > kMaxLine || (ends_ && task_.done())) return Close();
    if (!std::exchange(reading_, true)) BeginRead(buffer_, sizeof(buffer_));
  }
  // False: not all of it is written yet, or it can't be.
  bool Write() {
    sending_ = std::exchange(out_, {});
    const Done done = BeginWrite(sending_, {});
    writing_ = done == Done::kLater;
    if (done == Done::kFailed) Close();
    return done == Done::kNow;
  }

  void Handle(const std::string& line) {
    if (line == "bye") {
      ends_ = true;
    } else if (line == "work") {
      Begin(Work());
    } else if (line == "wait") {
      Begin(Wait());
    } else {
      out_ += line + "\n";
    }
  }
  void Begin(Task<> task) {
    ResetExchange();
    task_ = std::move(task);
    task_.Start();
  }
  Task<> Work() {
    const auto loop_thread = std::this_thread::get_id();
    const Result<bool> elsewhere =
        co_await RunBlocking(*this, [&] { return std::this_thread::get_id() != loop_thread; });
    out_ += !elsewhere ? "refused\n" : *elsewhere ? "worked\n" : "on the loop\n";
  }
  Task<> Wait() {
    const Completion<int> never(*this);
    const Result<int> got = co_await never;
    out_ += got ? "got\n" : got.error().id() + "\n";
  }

  const std::shared_ptr<Loop> loop_;
  const Admission admission_;
  uint64_t since_ns_;
  char buffer_[4096];
  std::string in_;
  std::string out_;
  std::string sending_;
  Task<> task_;
  bool reading_ = false;
  bool writing_ = false;
  bool ends_ = false;  // after what is still to be written
};

class LineProtocol final : public Protocol {
 public:
  std::unique_ptr<Connection> NewConnection(IoLoop& loop, std::string remote,
                                            Admission admission) override {
    EXPECT_THAT(remote, StartsWith("127.0.0.1:"));
    return std::make_unique<LineConnection>(loop, std::move(remote), admission);
  }
};

// A client of either kind of listener.
class LineClient {
 public:
  LineClient(uint16_t port, SSL_CTX* tls) : raw_(port) {
    if (tls == nullptr) return;
    ssl_ = SSL_new(tls);
    SSL_set_fd(ssl_, raw_.fd());
    EXPECT_EQ(SSL_connect(ssl_), 1);
  }
  ~LineClient() { SSL_free(ssl_); }
  LineClient(const LineClient&) = delete;
  LineClient& operator=(const LineClient&) = delete;

  void Send(std::string_view text) {
    if (ssl_ == nullptr) {
      EXPECT_TRUE(raw_.Send(text));
    } else {
      EXPECT_EQ(SSL_write(ssl_, text.data(), static_cast<int>(text.size())),
                static_cast<int>(text.size()));
    }
  }
  // With its line break; empty at the end.
  std::string ReadLine() {
    if (ssl_ == nullptr) return raw_.ReadUntil("\n");
    std::string line;
    char next;
    while (!line.ends_with('\n') && SSL_read(ssl_, &next, 1) == 1) line += next;
    return line;
  }
  std::string Ask(std::string_view line) {
    Send(std::string(line) + "\n");
    return ReadLine();
  }
  void Leave() { raw_.Close(); }

 private:
  RawClient raw_;
  SSL* ssl_ = nullptr;
};

// The parameter: whether by TLS.
class LineProtocolTest : public testing::TestWithParam<bool> {
 protected:
  ~LineProtocolTest() override { SSL_CTX_free(tls_); }

  void Start(ServerOptions options = {}) {
    options.tick_ms = 5;
    server_.emplace(options, clock_);
    ListenOptions listen;
    if (GetParam()) {
      tls_ = SSL_CTX_new(TLS_client_method());
      listen.tls =
          TlsOptions{.certificate_file = files_.certificate(), .key_file = files_.key_file()};
    }
    const auto port = server_->Listen(listen, protocol_);
    ASSERT_TRUE(port) << port.error().ToString();
    port_ = *port;
    server_->Start();
  }
  void AwaitNoConnection() { server_->AwaitNoConnections(); }

  Certificate files_;
  FakeClock clock_;
  LineProtocol protocol_;
  std::optional<Server> server_;
  SSL_CTX* tls_ = nullptr;
  uint16_t port_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Transports, LineProtocolTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Plain"; });

TEST_P(LineProtocolTest, AnswersLines) {
  Start();
  LineClient first(port_, tls_);
  LineClient second(port_, tls_);
  EXPECT_EQ(first.Ask("one"), "one\n");
  EXPECT_EQ(second.Ask("two"), "two\n");
  first.Send("a\nb\nc");
  EXPECT_EQ(first.ReadLine(), "a\n");
  EXPECT_EQ(first.ReadLine(), "b\n");
  EXPECT_EQ(first.Ask("d"), "cd\n");
  const std::string large(1 << 19, 'x');
  EXPECT_EQ(second.Ask(large), large + "\n");
  EXPECT_EQ(server_->connections(), 2u);
  EXPECT_EQ(first.Ask("bye"), "");
  EXPECT_EQ(second.Ask("still here"), "still here\n");
}

TEST_P(LineProtocolTest, WorkersAnswerBackOnTheLoop) {
  Start({.io_threads = 1});
  LineClient client(port_, tls_);
  client.Send("work\nnext\n");
  EXPECT_EQ(client.ReadLine(), "worked\n");
  EXPECT_EQ(client.ReadLine(), "next\n");
}

TEST_P(LineProtocolTest, AClientThatLeavesEndsItsWait) {
  Start();
  {
    LineClient client(port_, tls_);
    EXPECT_EQ(client.Ask("before"), "before\n");
    client.Send("wait\n");
    client.Leave();
  }
  AwaitNoConnection();
}

TEST_P(LineProtocolTest, RefusesTooMany) {
  Start({.max_connections = 1});
  LineClient served(port_, tls_);
  EXPECT_EQ(served.Ask("one"), "one\n");
  {
    LineClient refused(port_, tls_);
    EXPECT_EQ(refused.ReadLine(), "full\n");
    EXPECT_EQ(refused.ReadLine(), "");
  }
  EXPECT_EQ(served.Ask("two"), "two\n");
}

TEST_P(LineProtocolTest, TimeLimitsAreLookedAt) {
  Start();
  LineClient client(port_, tls_);
  EXPECT_EQ(client.Ask("one"), "one\n");
  clock_.AdvanceMs(kIdleMs + 1);
  EXPECT_EQ(client.ReadLine(), "");
  AwaitNoConnection();
}

// Stop ends waits and lets what they answer be written.
TEST_P(LineProtocolTest, StopDrains) {
  Start();
  LineClient idle(port_, tls_);
  EXPECT_EQ(idle.Ask("one"), "one\n");
  LineClient waits(port_, tls_);
  EXPECT_EQ(waits.Ask("one"), "one\n");
  waits.Send("wait\n");
  std::thread stopper([this] { server_->Stop(); });
  EXPECT_EQ(waits.ReadLine(), "http.cancelled\n");
  EXPECT_EQ(waits.ReadLine(), "");
  EXPECT_EQ(idle.ReadLine(), "");
  stopper.join();
  EXPECT_EQ(server_->connections(), 0u);
}

TEST(Listen, ReportsWhy) {
  const SystemClock clock;
  LineProtocol protocol;
  Server server({}, clock);
  EXPECT_EQ(server.Listen({.host = "no such host"}, protocol).error().id(), "http.listen");
  const auto taken = server.Listen({}, protocol);
  ASSERT_TRUE(taken) << taken.error().ToString();
  EXPECT_EQ(server.Listen({.port = *taken}, protocol).error().id(), "http.listen");
  EXPECT_EQ(server
                .Listen({.tls = TlsOptions{.certificate_file = "/none/cert.pem",
                                           .key_file = "/none/key.pem"}},
                        protocol)
                .error()
                .id(),
            "http.tls");
}

}  // namespace
}  // namespace sluice::net
