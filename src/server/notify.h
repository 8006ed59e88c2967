// Tells systemd how far the service is (Type=notify).
#pragma once

#include <string_view>

namespace sluice::server {

// Sends "READY=1" or "STOPPING=1" to the socket that NOTIFY_SOCKET names; does nothing without it.
void NotifySupervisor(std::string_view state);

}  // namespace sluice::server
