// HTTP on one listener: has the router of its requests. Internal to http.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/router.h"
#include "http/server_context.h"
#include "net/connection.h"
#include "net/io_loop.h"

namespace sluice::http {

class HttpListener final : public net::Protocol {
 public:
  HttpListener(ServerContext& server, size_t index, size_t loops,
               std::shared_ptr<const Router> router)
      : server_(server), index_(index), routers_(loops, std::move(router)) {}

  std::unique_ptr<net::Connection> NewConnection(net::IoLoop& loop, std::string remote,
                                                 net::Admission admission) override;

  // The loop's thread.
  const std::shared_ptr<const Router>& router(const net::IoLoop& loop) const {
    return routers_[loop.index()];
  }
  void SetRouter(const net::IoLoop& loop, std::shared_ptr<const Router> router) {
    routers_[loop.index()] = std::move(router);
  }

  ServerContext& server() { return server_; }
  size_t index() const { return index_; }

 private:
  ServerContext& server_;
  const size_t index_;
  // By loop: each reads and sets its own.
  std::vector<std::shared_ptr<const Router>> routers_;
};

}  // namespace sluice::http
