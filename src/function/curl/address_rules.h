// The addresses that functions may call over HTTP. The client checks each address before it
// connects: after it has resolved a name, and again after each redirect.
//
// The server's own listeners are always refused. Loopback, private, link-local and other addresses
// outside of the public internet are refused unless the configuration allows them.
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "base/locked.h"
#include "base/status.h"

namespace sluice::function {

enum class PrivateAddresses : uint8_t { kRefused, kAllowed };

class AddressRules {
 public:
  explicit AddressRules(PrivateAddresses mode) : mode_(mode) {}

  // The ports that this server listens on, known once they are bound.
  void SetOwnPorts(std::vector<uint16_t> ports) { own_ports_.Set(std::move(ports)); }

  // Error function.address_refused.
  Status Check(const sockaddr* address) const;

 private:
  bool IsOwnPort(uint16_t port) const;

  const PrivateAddresses mode_;
  Locked<std::vector<uint16_t>> own_ports_;
};

}  // namespace sluice::function
