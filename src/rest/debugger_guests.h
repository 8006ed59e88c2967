// Who may connect to which debugger. DevTools has no password to give, so the path of a debugger's
// WebSocket has a token instead: each user who asks for a debugger's address gets one of his own,
// and what comes with it has that user's rights, as long as he has them.
//
// Any thread. A token lasts as long as its debugger.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/locked.h"
#include "function/debug_session.h"
#include "rest/access.h"

namespace sluice::rest {

class DebuggerGuests {
 public:
  struct Guest {
    std::shared_ptr<function::DebugSession> session;
    std::shared_ptr<const Sender> sender;
  };
  // Of all debuggers; past it, the oldest token ends.
  static constexpr size_t kMaxTokens = 1000;

  // The token of somebody at a debugger; the same one each time.
  std::string TokenOf(const std::shared_ptr<function::DebugSession>& session,
                      std::shared_ptr<const Sender> sender);
  // In a time that does not depend on where the token differs from others.
  std::optional<Guest> Find(std::string_view token) const;

 private:
  struct Entry {
    std::string token;
    std::weak_ptr<function::DebugSession> session;
    std::shared_ptr<const Sender> sender;
  };
  Locked<std::vector<Entry>> entries_;  // oldest first
};

}  // namespace sluice::rest
