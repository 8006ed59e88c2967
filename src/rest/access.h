// Who may use a route. A route's `auth` is one of the texts below; the filter recognises the
// sender, looks for the bucket in the route's path parameter and asks for the permission.
#pragma once

#include <memory>
#include <string_view>

#include "auth/authenticator.h"
#include "auth/roles.h"
#include "http/server.h"
#include "rest/http_types.h"

namespace sluice::rest {

inline constexpr std::string_view kPublic = "";
inline constexpr std::string_view kKnown = "known";  // anybody who is recognised
inline constexpr std::string_view kAdmin = "admin";
inline constexpr std::string_view kReadBucket = "read:bucket";      // the parameter {bucket}
inline constexpr std::string_view kReadKeyspace = "read:keyspace";  // ... of {keyspace}
inline constexpr std::string_view kWriteKeyspace = "write:keyspace";

// The sender of a request that passed the filter.
class Sender final : public Principal {
 public:
  explicit Sender(std::shared_ptr<const auth::Principal> who) : who_(std::move(who)) {}
  std::string_view name() const override { return who_->user; }
  const auth::Principal& who() const { return *who_; }
  const std::shared_ptr<const auth::Principal>& shared() const { return who_; }

 private:
  std::shared_ptr<const auth::Principal> who_;
};

// Requires a request that passed the filter on a route that is not public.
const auth::Principal& SenderOf(const Request& request);
std::shared_ptr<const auth::Principal> SharedSenderOf(const Request& request);
// auth.forbidden unless the sender has the permission. For routes whose body names the keyspace.
Status Require(const Request& request, auth::Permission permission, std::string_view bucket);

class AccessFilter final : public http::Filter {
 public:
  enum class Mode : uint8_t {
    kAsk,
    // Requests from this machine that bring no Authorization header are the admin's (`--dev`).
    // So that no web page can use that, they must name this machine as their host and, if they
    // have an origin, come from it.
    kTrustLoopback,
  };

  AccessFilter(auth::Authenticator& authenticator, Mode mode);

  Verdict Check(const Route& route, Request& request, Response& response) override;
  Task<Verdict> CheckLater(const Route& route, Request& request, Response& response) override;

 private:
  Verdict Decide(const Route& route, Request& request, Response& response,
                 const auth::Authenticator::Recognised& found) const;
  Verdict CheckTrusted(Request& request, Response& response) const;

  auth::Authenticator& authenticator_;
  const Mode mode_;
  const std::shared_ptr<const Sender> trusted_;
};

}  // namespace sluice::rest
