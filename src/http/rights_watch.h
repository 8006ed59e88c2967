// A filter may implement this, too. It says whether the sender of a request still has the rights
// with which the request passed the filter. For streams and other long requests the I/O threads ask
// it again and again while the handlers run.
#pragma once

namespace sluice::http {

class Request;

class RightsWatch {
 public:
  virtual ~RightsWatch() = default;
  virtual bool Holds(const Request& request) const = 0;
};

}  // namespace sluice::http
