// Passwords: Argon2id, a memory-hard function. The hash is kept in the usual encoded form
// ("$argon2id$v=19$m=...,t=...,p=...$salt$hash"), which carries its parameters, so they can be
// raised later without invalidating stored hashes.
#pragma once

#include <cstdint>
#include <semaphore>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::auth {

inline constexpr size_t kMinPasswordBytes = 8;
inline constexpr size_t kMaxPasswordBytes = 1024;

Status CheckPassword(std::string_view password);

struct PasswordCost {
  uint32_t memory_kib = 32 << 10;
  uint32_t passes = 2;
};

// Any thread; each call takes tens of milliseconds and memory_kib, so at most kMaxAtOnce of them
// run at a time and further callers wait.
class PasswordHasher {
 public:
  static constexpr int kMaxAtOnce = 2;

  explicit PasswordHasher(PasswordCost cost = {}) : cost_(cost) {}

  std::string Hash(std::string_view password);
  bool Verify(const std::string& encoded, std::string_view password);

 private:
  const PasswordCost cost_;
  std::counting_semaphore<kMaxAtOnce> slots_{kMaxAtOnce};
};

}  // namespace sluice::auth
