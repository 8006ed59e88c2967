// A request as a handler sees it. Belongs to its connection and is valid until the handler has
// finished; everything in it is read on the connection's thread, or by a worker that the handler
// waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/disk_file.h"
#include "base/status.h"
#include "http/url.h"
#include "net/exchange.h"

namespace sluice::http {

enum class Method : uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions, kOther };
std::string_view MethodName(Method method);

struct Header {
  std::string_view name;
  std::string_view value;
};

// Who sent a request, as the filter found out. The filter's owner derives from it.
class Principal {
 public:
  virtual ~Principal() = default;
  virtual std::string_view name() const = 0;
};

class Request {
 public:
  Method method() const { return method_; }
  // As sent: "/v1/a%20b?x=1", and its part before '?'.
  std::string_view target() const { return target_; }
  std::string_view path() const { return path_; }
  // Whether the client speaks HTTP/1.1 (else 1.0).
  bool is_http_1_1() const { return is_http_1_1_; }

  // A path parameter by the name in the route's pattern, decoded. The name must be in the pattern.
  std::string_view Param(std::string_view name) const;

  // Query parameters, decoded. The first of a name counts.
  std::optional<std::string_view> Query(std::string_view name) const;
  const QueryPairs& query() const { return query_; }
  // Typed: the fallback when absent, http.bad_parameter when present but not of the type.
  Result<int64_t> QueryInt(std::string_view name, int64_t fallback, int64_t least,
                           int64_t most) const;
  Result<bool> QueryBool(std::string_view name, bool fallback) const;
  Result<uint64_t> QueryDurationMs(std::string_view name, uint64_t fallback) const;
  Result<std::string> QueryRequired(std::string_view name) const;

  // Header names compare without case. The first of a name counts.
  std::optional<std::string_view> FindHeader(std::string_view name) const;
  const std::vector<Header>& headers() const { return headers_; }

  std::string_view body() const { return body_; }
  std::string TakeBody() { return std::move(body_); }
  // A body that went to disk, see Route::spool_above; then body() is empty. Null: it did not.
  const std::shared_ptr<DiskFile>& spooled() const { return spooled_; }
  uint64_t body_size() const { return spooled_ == nullptr ? body_.size() : spooled_->size(); }

  // "127.0.0.1:50312"
  const std::string& remote() const { return *remote_; }
  // From X-Request-Id if that is sane, else made here.
  std::string_view id() const { return id_; }
  // Monotonic time at which the head had been read.
  uint64_t arrival_ns() const { return arrival_ns_; }

  const std::shared_ptr<const Principal>& principal() const { return principal_; }
  void set_principal(std::shared_ptr<const Principal> principal) {
    principal_ = std::move(principal);
  }

  // For Completion and RunBlocking.
  net::Exchange& exchange() { return *exchange_; }

 private:
  friend class RequestParser;
  friend class Router;

  Method method_ = Method::kGet;
  bool is_http_1_1_ = true;
  std::string_view target_;
  std::string_view path_;
  std::vector<std::pair<std::string_view, std::string>> params_;  // names live in the route
  QueryPairs query_;
  std::vector<Header> headers_;
  std::string body_;
  std::shared_ptr<DiskFile> spooled_;
  const std::string* remote_ = nullptr;
  std::string id_;
  uint64_t arrival_ns_ = 0;
  std::shared_ptr<const Principal> principal_;
  net::Exchange* exchange_ = nullptr;
};

}  // namespace sluice::http
