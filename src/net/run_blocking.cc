#include "net/run_blocking.h"

namespace sluice::net {

Status OverloadedError() {
  return Error(Code::kOverloaded, "http.overloaded",
               "too many requests are waiting for a worker; try again");
}

Status CancelledError() {
  return Error(Code::kCancelled, "http.cancelled", "the client has gone or the server is stopping");
}

}  // namespace sluice::net
