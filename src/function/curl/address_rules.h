// Which addresses functions may call over HTTP. Asked for each address that a connection is opened
// to: after a name was resolved, and again after each redirect.
//
// Never this server's own listeners; loopback, private, link-local and other addresses that are not
// of the public internet only when the configuration says so.
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
