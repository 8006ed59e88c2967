#include "server/access_log.h"

#include "base/log.h"

namespace sluice::server {

void AccessLog::OnRequest(const http::RequestRecord& record) {
  // An overloaded or stopping server answers 503 on purpose.
  const bool failed = record.status >= 500 && record.status != 503;
  const log::Level level = failed ? log::Level::kWarn : log::Level::kDebug;
  if (!log::Enabled(level)) return;
  const http::Request& request = record.request;
  log::Write(level, "request",
             {{"method", http::MethodName(request.method())},
              {"path", request.path()},
              {"status", record.status},
              {"took_us", record.duration_ns / 1000},
              {"bytes", record.response_bytes},
              {"user", request.principal() ? request.principal()->name() : ""},
              {"remote", request.remote()},
              {"request_id", request.id()},
              {"cancelled", record.cancelled}});
}

}  // namespace sluice::server
