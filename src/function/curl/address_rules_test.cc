#include "function/curl/address_rules.h"

#include <cstring>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace sluice::function {
namespace {

Status Check(const AddressRules& rules, const std::string& text, uint16_t port = 80) {
  sockaddr_storage storage{};
  if (text.find(':') == std::string::npos) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    EXPECT_EQ(inet_pton(AF_INET, text.c_str(), &address.sin_addr), 1) << text;
    std::memcpy(&storage, &address, sizeof(address));
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &address.sin6_addr), 1) << text;
    std::memcpy(&storage, &address, sizeof(address));
  }
  return rules.Check(reinterpret_cast<const sockaddr*>(&storage));
}

constexpr const char* kPrivate[] = {"127.0.0.1",
                                    "127.9.9.9",
                                    "0.0.0.0",
                                    "10.0.0.1",
                                    "10.255.255.255",
                                    "100.64.0.1",
                                    "100.127.0.1",
                                    "169.254.169.254",
                                    "172.16.0.1",
                                    "172.31.255.255",
                                    "192.168.1.1",
                                    "192.0.0.1",
                                    "198.18.0.1",
                                    "198.19.255.255",
                                    "224.0.0.1",
                                    "255.255.255.255",
                                    "::",
                                    "::1",
                                    "fc00::1",
                                    "fd12::1",
                                    "fe80::1",
                                    "fec0::1",
                                    "ff02::1",
                                    "::ffff:10.0.0.1",
                                    "::ffff:127.0.0.1",
                                    "::127.0.0.1",
                                    "64:ff9b::a00:1",
                                    "2002:7f00:1::",
                                    "2002:c0a8:101::",
                                    "192.0.2.1",
                                    "192.88.99.1",
                                    "198.51.100.7",
                                    "203.0.113.255",
                                    "2001:db8::1",
                                    "2001::1",
                                    "2001:1ff::1",
                                    "3fff::1",
                                    "64:ff9b:1::a00:1",
                                    "100::1",
                                    "fb00::1",
                                    "4000::1"};
constexpr const char* kPublic[] = {
    "1.1.1.1",      "9.255.255.255", "11.0.0.1",       "100.63.0.1",     "100.128.0.1",
    "126.0.0.1",    "169.253.0.1",   "172.15.0.1",     "172.32.0.1",     "192.0.1.1",
    "192.167.0.1",  "198.20.0.1",    "223.255.255.1",  "2606:4700::1",   "::ffff:1.1.1.1",
    "2a00::1",      "2001:200::1",   "64:ff9b::101:1", "2002:101:101::", "192.0.3.1",
    "198.51.101.1", "203.0.112.1",   "3ffe::1",
};

TEST(AddressRules, WhatIsNotOfThePublicInternetIsRefusedUnlessAllowed) {
  const AddressRules strict(PrivateAddresses::kRefused);
  const AddressRules open(PrivateAddresses::kAllowed);
  for (const char* text : kPrivate) {
    EXPECT_EQ(Check(strict, text).id(), "function.address_refused") << text;
    EXPECT_TRUE(Check(open, text).ok()) << text;
  }
  for (const char* text : kPublic) {
    EXPECT_TRUE(Check(strict, text).ok()) << text << " " << Check(strict, text).ToString();
  }
}

// A service on 0.0.0.0 of this machine is reached by each of them, public as they may be.
TEST(AddressRules, AddressesOfThisMachineAreRefusedUnlessAllowed) {
  const AddressRules strict(PrivateAddresses::kRefused);
  ifaddrs* list = nullptr;
  ASSERT_EQ(getifaddrs(&list), 0);
  size_t checked = 0;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    if (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6) continue;
    EXPECT_EQ(strict.Check(at->ifa_addr).id(), "function.address_refused") << at->ifa_name;
    ++checked;
  }
  freeifaddrs(list);
  EXPECT_GT(checked, 0u);
}

TEST(AddressRules, OwnListenersAreAlwaysRefused) {
  AddressRules rules(PrivateAddresses::kAllowed);
  rules.SetOwnPorts({8091, 8096});
  for (const char* text : {"127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(Check(rules, text, 8091).id(), "function.own_address") << text;
    EXPECT_EQ(Check(rules, text, 8096).id(), "function.own_address") << text;
    EXPECT_TRUE(Check(rules, text, 8092).ok()) << text;
  }
  EXPECT_TRUE(Check(rules, "1.1.1.1", 8091).ok());
}

TEST(AddressRules, OtherKindsOfSocketsAreRefused) {
  const AddressRules rules(PrivateAddresses::kAllowed);
  sockaddr address{};
  address.sa_family = AF_UNIX;
  EXPECT_EQ(rules.Check(&address).id(), "function.address_refused");
}

}  // namespace
}  // namespace sluice::function
