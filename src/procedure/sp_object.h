// What db:sp returns: another procedure. A call of it runs that one in a state of its own, with the
// same session: it emits to the same caller, in the same transaction.
#pragma once

#include <memory>

#include "lua/host.h"
#include "procedure/session.h"

namespace sluice::procedure {

class SpObject final : public lua::HostObject {
 public:
  SpObject(Session& session, std::shared_ptr<const lua::Program> program)
      : HostObject(Class()), session_(session), program_(std::move(program)) {}
  static const lua::HostClass& Class();
  Status Run(lua::Call& call);

 private:
  Session& session_;
  const std::shared_ptr<const lua::Program> program_;
};

}  // namespace sluice::procedure
