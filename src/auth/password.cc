#include "auth/password.h"

#include <argon2.h>

#include "base/check.h"
#include "base/random.h"

namespace sluice::auth {
namespace {

constexpr size_t kSaltBytes = 16;
constexpr size_t kHashBytes = 32;
constexpr uint32_t kLanes = 1;

class Slot {
 public:
  explicit Slot(std::counting_semaphore<PasswordHasher::kMaxAtOnce>& slots) : slots_(slots) {
    slots_.acquire();
  }
  ~Slot() { slots_.release(); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  std::counting_semaphore<PasswordHasher::kMaxAtOnce>& slots_;
};

}  // namespace

Status CheckPassword(std::string_view password) {
  if (password.size() >= kMinPasswordBytes && password.size() <= kMaxPasswordBytes) {
    return OkStatus();
  }
  return Error(Code::kInvalidArgument, "auth.bad_password",
               "a password has {} to {} bytes, this one {}", kMinPasswordBytes, kMaxPasswordBytes,
               password.size());
}

std::string PasswordHasher::Hash(std::string_view password) {
  const Slot slot(slots_);
  const std::string salt = SecureRandomBytes(kSaltBytes);
  std::string encoded(
      argon2_encodedlen(cost_.passes, cost_.memory_kib, kLanes, kSaltBytes, kHashBytes, Argon2_id),
      '\0');
  const int failure = argon2id_hash_encoded(cost_.passes, cost_.memory_kib, kLanes, password.data(),
                                            password.size(), salt.data(), salt.size(), kHashBytes,
                                            encoded.data(), encoded.size());
  CHECK(failure == ARGON2_OK);
  encoded.resize(encoded.find('\0'));
  return encoded;
}

bool PasswordHasher::Verify(const std::string& encoded, std::string_view password) {
  const Slot slot(slots_);
  return argon2id_verify(encoded.c_str(), password.data(), password.size()) == ARGON2_OK;
}

}  // namespace sluice::auth
