// What a filter may be, too: who knows whether the sender of a request that passed still has the
// rights that it passed with. Asked again and again for what lasts, on the I/O threads, while
// handlers run.
#pragma once

namespace sluice::http {

class Request;

class RightsWatch {
 public:
  virtual ~RightsWatch() = default;
  virtual bool Holds(const Request& request) const = 0;
};

}  // namespace sluice::http
