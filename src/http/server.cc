#include "http/server.h"

#include <cstring>
#include <latch>

#include <boost/asio/ip/tcp.hpp>

#include "base/check.h"
#include "base/random.h"
#include "http/acceptor.h"
#include "http/io_loop.h"
#include "http/worker_pool.h"

namespace sluice::http {
namespace {

uint64_t RandomSeed() {
  const std::string bytes = SecureRandomBytes(sizeof(uint64_t));
  uint64_t seed;
  std::memcpy(&seed, bytes.data(), sizeof(seed));
  return seed;
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, Environment environment)
      : context_(options, std::move(environment)) {
    CHECK(options.io_threads > 0 && options.worker_threads > 0);
    context_.workers =
        std::make_unique<WorkerPool>("http worker", options.worker_threads, options.worker_queue);
    for (size_t i = 0; i < options.io_threads; ++i) {
      loops_.push_back(std::make_shared<IoLoop>(&context_, RandomSeed()));
    }
  }
  ~Impl() {
    Stop();
    for (const auto& loop : loops_) loop->Join();
  }

  Result<Listener> Listen(const ListenOptions& options, std::shared_ptr<const Router> router) {
    CHECK(!started_);
    const size_t index = acceptors_.size();
    auto acceptor = std::make_unique<Acceptor>(index, loops_);
    RETURN_IF_ERROR(acceptor->Open(options));
    acceptors_.push_back(std::move(acceptor));
    for (const auto& loop : loops_) loop->SetRouter(index, router);
    return Listener{.index = index, .port = acceptors_.back()->port()};
  }

  void Start() {
    CHECK(!started_);
    started_ = true;
    for (const auto& acceptor : acceptors_) acceptor->Start();
    for (const auto& loop : loops_) loop->Start();
    std::vector<LoopThreads*> watched;
    for (const auto& loop : loops_) watched.push_back(&loop->threads());
    context_.watch.Start(std::move(watched));
  }

  void SetRouter(size_t listener, std::shared_ptr<const Router> router) {
    CHECK(listener < acceptors_.size());
    for (const auto& loop : loops_) {
      loop->Post([loop = loop.get(), listener, router] { loop->SetRouter(listener, router); });
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
    if (!context_.AwaitNone(context_.options.drain_ms)) {
      for (const auto& loop : loops_) loop->Post([loop = loop.get()] { loop->CloseAll(); });
      context_.AwaitNone();
    }
    context_.workers.reset();
    context_.watch.Stop();
    for (const auto& loop : loops_) loop->End();
  }

  size_t connections() const { return context_.connections.load(); }
  uint64_t body_bytes() const { return context_.bodies.used(); }

 private:
  ServerContext context_;
  std::vector<std::shared_ptr<IoLoop>> loops_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  bool started_ = false;
  bool stopped_ = false;
};

Server::Server(const ServerOptions& options, Environment environment)
    : impl_(std::make_unique<Impl>(options, std::move(environment))) {}
Server::~Server() = default;

Result<Server::Listener> Server::Listen(const ListenOptions& options,
                                        std::shared_ptr<const Router> router) {
  return impl_->Listen(options, std::move(router));
}
void Server::Start() { impl_->Start(); }
void Server::SetRouter(size_t listener, std::shared_ptr<const Router> router) {
  impl_->SetRouter(listener, std::move(router));
}
void Server::Stop() { impl_->Stop(); }
size_t Server::connections() const { return impl_->connections(); }

uint64_t Server::body_bytes() const { return impl_->body_bytes(); }

}  // namespace sluice::http
