#include "function/curl/address_rules.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace sluice::function {
namespace {

using Ipv6 = std::array<uint8_t, 16>;

struct Range4 {
  uint32_t first;
  int bits;
};
// What RFC 6890 and its successors keep from the public internet.
constexpr Range4 kPrivate4[] = {
    {0x00000000, 8},   // this network
    {0x0A000000, 8},   // private
    {0x64400000, 10},  // shared by a provider's customers
    {0x7F000000, 8},   // loopback
    {0xA9FE0000, 16},  // link-local, and the metadata services of clouds
    {0xAC100000, 12},  // private
    {0xC0000000, 24},  // protocol assignments
    {0xC0000200, 24},  // documentation
    {0xC0586300, 24},  // relays of 6to4
    {0xC0A80000, 16},  // private
    {0xC6120000, 15},  // benchmarks
    {0xC6336400, 24},  // documentation
    {0xCB007100, 24},  // documentation
    {0xE0000000, 4},   // multicast
    {0xF0000000, 4},   // reserved, broadcast
};

bool IsPrivate4(uint32_t address) {
  return std::ranges::any_of(kPrivate4, [&](const Range4& range) {
    return ((address ^ range.first) >> (32 - range.bits)) == 0;
  });
}

uint32_t Word(const Ipv6& address, size_t at) {
  return uint32_t{address[at]} << 24 | uint32_t{address[at + 1]} << 16 |
         uint32_t{address[at + 2]} << 8 | address[at + 3];
}

// The IPv4 address that an IPv6 one stands for: mapped, compatible, NAT64, 6to4.
std::optional<uint32_t> Inner4(const Ipv6& address) {
  const bool zeros = std::all_of(address.begin(), address.begin() + 10, [](auto b) { return !b; });
  if (zeros && address[10] == 0xFF && address[11] == 0xFF) return Word(address, 12);
  if (zeros && address[10] == 0 && address[11] == 0 && Word(address, 12) > 1) {
    return Word(address, 12);
  }
  constexpr std::array<uint8_t, 12> kNat64 = {0x00, 0x64, 0xFF, 0x9B};
  if (std::equal(kNat64.begin(), kNat64.end(), address.begin())) return Word(address, 12);
  if (address[0] == 0x20 && address[1] == 0x02) return Word(address, 2);
  return std::nullopt;
}

bool IsPrivate6(const Ipv6& address) {
  if (const auto inner = Inner4(address)) return IsPrivate4(*inner);
  // The rest is loopback, link-local, unique local, multicast, translation, or not given to
  // anybody.
  if ((address[0] & 0xE0) != 0x20) return true;
  const uint32_t first = Word(address, 0);
  if (first >> 9 == 0x20010000 >> 9) return true;  // protocol assignments, Teredo
  if (first == 0x20010DB8) return true;            // documentation
  return first >> 12 == 0x3FFF0000 >> 12;          // documentation
}

// One address in both forms: IPv4 is kept mapped into IPv6.
struct Endpoint {
  Ipv6 address{};
  uint16_t port = 0;
};

std::optional<Endpoint> EndpointOf(const sockaddr* address) {
  Endpoint endpoint;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof(v4));
    endpoint.address[10] = endpoint.address[11] = 0xFF;
    std::memcpy(&endpoint.address[12], &v4.sin_addr, 4);
    endpoint.port = ntohs(v4.sin_port);
    return endpoint;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  std::memcpy(&v6, address, sizeof(v6));
  std::memcpy(endpoint.address.data(), &v6.sin6_addr, 16);
  endpoint.port = ntohs(v6.sin6_port);
  return endpoint;
}

std::string TextOf(const Ipv6& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool mapped = Inner4(address) && address[10] == 0xFF && address[0] == 0;
  if (mapped) {
    inet_ntop(AF_INET, &address[12], text, sizeof(text));
  } else {
    inet_ntop(AF_INET6, address.data(), text, sizeof(text));
  }
  return text;
}

// Whether a connection to there ends on this machine.
bool IsThisMachine(const Ipv6& address) {
  if (const auto inner = Inner4(address); inner && (*inner >> 24 == 127 || *inner >> 24 == 0)) {
    return true;
  }
  if (!Inner4(address) &&
      std::all_of(address.begin(), address.end() - 1, [](auto b) { return !b; })) {
    return address[15] <= 1;
  }
  Ipv6 wanted = address;
  if (const auto inner = Inner4(address)) {
    wanted = {};
    wanted[10] = wanted[11] = 0xFF;
    const uint32_t word = htonl(*inner);
    std::memcpy(&wanted[12], &word, sizeof(word));
  }
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return true;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const auto own = EndpointOf(at->ifa_addr);
    if (own && own->address == wanted) return true;
  }
  return false;
}

}  // namespace

bool AddressRules::IsOwnPort(uint16_t port) const {
  const auto ports = own_ports_.Lock();
  return std::ranges::find(*ports, port) != ports->end();
}

Status AddressRules::Check(const sockaddr* address) const {
  const auto endpoint = EndpointOf(address);
  if (!endpoint) {
    return Error(Code::kForbidden, "function.address_refused",
                 "functions may call IPv4 and IPv6 addresses only");
  }
  if (IsOwnPort(endpoint->port) && IsThisMachine(endpoint->address)) {
    return Error(Code::kForbidden, "function.own_address",
                 "{} port {} is this server's own; functions can't call it",
                 TextOf(endpoint->address), endpoint->port);
  }
  if (mode_ == PrivateAddresses::kAllowed) return OkStatus();
  if (IsPrivate6(endpoint->address) || IsThisMachine(endpoint->address)) {
    return Error(Code::kForbidden, "function.address_refused",
                 "{} is not an address of the public internet, or is this machine's; the setting "
                 "functions.allow_private_addresses would allow it",
                 TextOf(endpoint->address));
  }
  return OkStatus();
}

}  // namespace sluice::function
