#include "http/handler.h"

#include "net/run_blocking.h"

namespace sluice::http {

Handler Blocking(std::function<void(Request&, Response&)> function) {
  return [function = std::move(function)](Request& request, Response& response) -> Task<> {
    const Status ran =
        co_await net::RunBlocking(request.exchange(), [&] { function(request, response); });
    if (!ran.ok()) response.Error(ran);
  };
}

}  // namespace sluice::http
