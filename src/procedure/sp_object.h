// The object that db:sp returns: another procedure. A call runs that procedure in a Lua state of
// its own with the same session, so it emits to the same caller and writes in the same transaction.
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
