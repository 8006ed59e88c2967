#include "http/server.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "http/connection.h"
#include "http/listener.h"
#include "http/server_context.h"

namespace sluice::http {
namespace {

uint64_t RandomSeed() {
  const std::string bytes = SecureRandomBytes(sizeof(uint64_t));
  uint64_t seed;
  std::memcpy(&seed, bytes.data(), sizeof(seed));
  return seed;
}

}  // namespace

std::unique_ptr<net::Connection> HttpListener::NewConnection(net::IoLoop& loop, std::string remote,
                                                             net::Admission admission) {
  return std::make_unique<Connection>(loop, *this, std::move(remote), admission);
}

class Server::Impl {
 public:
  Impl(net::Server& net, const ServerOptions& options, Environment environment)
      : net_(net), context_(options, std::move(environment)) {
    for (size_t i = 0; i < net.loops(); ++i) {
      context_.loops.push_back(
          std::make_unique<LoopContext>(context_.environment.clock, RandomSeed()));
    }
  }

  Result<Server::Listener> Listen(const net::ListenOptions& options,
                                  std::shared_ptr<const Router> router) {
    const size_t index = listeners_.size();
    auto listener =
        std::make_shared<HttpListener>(context_, index, net_.loops(), std::move(router));
    ASSIGN_OR_RETURN(const uint16_t port, net_.Listen(options, *listener));
    listeners_.push_back(std::move(listener));
    return Server::Listener{.index = index, .port = port};
  }

  void SetRouter(size_t listener, std::shared_ptr<const Router> router) {
    CHECK(listener < listeners_.size());
    // A loop may run it after the server has been destroyed.
    net_.PostToLoops([listener = listeners_[listener], router = std::move(router)](
                         const net::IoLoop& loop) { listener->SetRouter(loop, router); });
  }

  size_t connections() const { return context_.connections.load(); }
  uint64_t body_bytes() const { return context_.bodies.used(); }

 private:
  net::Server& net_;
  ServerContext context_;
  std::vector<std::shared_ptr<HttpListener>> listeners_;
};

Server::Server(net::Server& net, const ServerOptions& options, Environment environment)
    : impl_(std::make_unique<Impl>(net, options, std::move(environment))) {}
Server::~Server() = default;

Result<Server::Listener> Server::Listen(const net::ListenOptions& options,
                                        std::shared_ptr<const Router> router) {
  return impl_->Listen(options, std::move(router));
}
void Server::SetRouter(size_t listener, std::shared_ptr<const Router> router) {
  impl_->SetRouter(listener, std::move(router));
}
size_t Server::connections() const { return impl_->connections(); }
uint64_t Server::body_bytes() const { return impl_->body_bytes(); }

}  // namespace sluice::http
