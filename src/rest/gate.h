// The filter of all ports: AccessFilter's rules, and those of the endpoints of apps. A sender who
// may not use an endpoint is refused as soon as the head of the request has come: the body is
// neither read nor parsed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "auth/authenticator.h"
#include "flow_engine/host.h"
#include "http/rights_watch.h"
#include "rest/access.h"

namespace sluice::rest {

// Route::auth of a route that stands for all endpoints of the app.
inline constexpr std::string_view kEndpoint = "endpoint";

// Who sent a request to an endpoint that passed: what was asked for, as the head says it.
class Admitted final : public Principal {
 public:
  Admitted(std::shared_ptr<const flow_engine::App> app, flow_engine::RestConfig::Match match)
      : app(std::move(app)), match(std::move(match)) {}
  std::string_view name() const override;

  const std::shared_ptr<const flow_engine::App> app;
  const flow_engine::RestConfig::Match match;  // has an endpoint
  json::Value head;                            // of flow_dataset.h, with the session
};

class Gate final : public http::Filter, public http::RightsWatch {
 public:
  // All outlive it.
  Gate(AccessFilter& access, auth::Authenticator& authenticator, flow_engine::Host& host)
      : access_(access), authenticator_(authenticator), host_(host) {}

  Verdict Check(const Route& route, Request& request, Response& response) override;
  Task<Verdict> CheckLater(const Route& route, Request& request, Response& response) override;
  bool Holds(const Request& request) const override;

 private:
  Task<Verdict> CheckUsers(Request& request, Response& response);
  Task<Verdict> AskGuard(Admitted& wanted, const std::string& guard, Request& request,
                         Response& response);
  Task<> AnswerOther(std::shared_ptr<const flow_engine::App> app,
                     const flow_engine::RestConfig::Match& match, const std::string& path,
                     Request& request, Response& response);

  AccessFilter& access_;
  auth::Authenticator& authenticator_;
  flow_engine::Host& host_;
};

// The function that runs what a client waits for on its connection's thread.
std::function<void(Pool::Job)> RunOnLoop(Request& request);

}  // namespace sluice::rest
