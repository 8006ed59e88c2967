#include "net/server.h"

#include <chrono>
#include <latch>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/pool.h"
#include "net/acceptor.h"
#include "net/io_loop.h"

namespace sluice::net {

class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Clock& clock) : context_(options, clock) {
    CHECK(options.io_threads > 0 && options.worker_threads > 0);
    context_.workers = std::make_unique<Pool>(PoolOptions{.kind = "worker",
                                                          .most_threads = options.worker_threads,
                                                          .most_queued = options.worker_queue});
    for (size_t i = 0; i < options.io_threads; ++i) {
      loops_.push_back(std::make_shared<IoLoop>(&context_, i));
    }
  }
  ~Impl() {
    Stop();
    for (const auto& loop : loops_) loop->Join();
  }

  Result<uint16_t> Listen(const ListenOptions& options, Protocol& protocol) {
    CHECK(!started_);
    auto acceptor = std::make_unique<Acceptor>(loops_, protocol);
    RETURN_IF_ERROR(acceptor->Open(options));
    acceptors_.push_back(std::move(acceptor));
    return acceptors_.back()->port();
  }

  void Start() {
    CHECK(!started_);
    started_ = true;
    for (const auto& acceptor : acceptors_) acceptor->Start();
    for (const auto& loop : loops_) loop->Start();
  }

  void PostToLoops(const std::function<void(IoLoop&)>& run) {
    for (const auto& loop : loops_) {
      loop->Post([loop = loop.get(), run] { run(*loop); });
    }
  }

  void Stop() {
    if (!started_ || stopped_) return;
    stopped_ = true;
    // The acceptors live on the first loop: once they are closed there, no connection is added.
    std::latch accepting(1);
    loops_[0]->Post([&] {
      for (const auto& acceptor : acceptors_) acceptor->Close();
      for (const auto& loop : loops_) loop->Post([loop = loop.get()] { loop->BeginDrain(); });
      accepting.count_down();
    });
    accepting.wait();
    const auto drain_time = std::chrono::milliseconds(context_.options.drain_ms);
    if (!context_.AwaitNone(MachineClock().Now() + drain_time)) {
      for (const auto& loop : loops_) loop->Post([loop = loop.get()] { loop->CloseAll(); });
      context_.AwaitNone();
    }
    context_.workers.reset();
    for (const auto& loop : loops_) loop->End();
  }

  size_t loops() const { return loops_.size(); }
  size_t connections() const { return context_.connections.load(); }
  void AwaitNoConnections() { context_.AwaitNone(); }

 private:
  ServerContext context_;
  std::vector<std::shared_ptr<IoLoop>> loops_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  bool started_ = false;
  bool stopped_ = false;
};

Server::Server(const ServerOptions& options, const Clock& clock)
    : impl_(std::make_unique<Impl>(options, clock)) {}
Server::~Server() = default;

Result<uint16_t> Server::Listen(const ListenOptions& options, Protocol& protocol) {
  return impl_->Listen(options, protocol);
}
void Server::Start() { impl_->Start(); }
void Server::Stop() { impl_->Stop(); }
void Server::PostToLoops(std::function<void(IoLoop&)> run) { impl_->PostToLoops(run); }
size_t Server::loops() const { return impl_->loops(); }
size_t Server::connections() const { return impl_->connections(); }
void Server::AwaitNoConnections() { impl_->AwaitNoConnections(); }

}  // namespace sluice::net
