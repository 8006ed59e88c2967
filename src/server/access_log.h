// One log line for each request: a warning when the server failed, else for debugging.
#pragma once

#include "http/server.h"

namespace sluice::server {

class AccessLog final : public http::RequestObserver {
 public:
  void OnRequest(const http::RequestRecord& record) override;
};

}  // namespace sluice::server
