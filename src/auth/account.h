// Users and tokens and how they are stored: rows of the meta family, in commits like everything
// else (docs/formats/accounts.md).
//
//   user/<name>              0x01, then {"password":<encoded hash>,"roles":[...],"created_ms":n}
//   token/<sha256, in hex>   0x01, then {"user":...,"name":...,"created_ms":n,"expires_ms":n,
//                            "roles":[...]}; expires_ms 0 for never; no roles: all of the user's
//
// A token itself is never stored. It is "slt_" and 256 random bits, known only to the user who
// created it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/roles.h"
#include "base/status.h"

namespace sluice::auth {

inline constexpr std::string_view kUserPrefix = "user/";
inline constexpr std::string_view kTokenPrefix = "token/";
inline constexpr size_t kMaxUserNameBytes = 100;
inline constexpr size_t kMaxTokenNameBytes = 100;

struct User {
  std::string name;
  std::string password_hash;
  Grants grants;
  uint64_t created_ms = 0;

  bool is_admin() const { return Allows(grants, Permission::kAdmin, kEveryBucket); }
};

struct Token {
  std::string digest;  // sha256 of the token, in hex
  std::string user;
  std::string name;
  uint64_t created_ms = 0;
  uint64_t expires_ms = 0;  // Unix time; 0 for never
  std::optional<Grants> grants;

  // The id for listing and deleting the token.
  std::string id() const { return digest.substr(0, 16); }
  bool ExpiredAt(uint64_t now_ms) const { return expires_ms != 0 && expires_ms <= now_ms; }
};

// Letters, digits and `.`, `_`, `-`, `@`, `+`.
Status CheckUserName(std::string_view name);
Status CheckTokenName(std::string_view name);

std::string EncodeUser(const User& user);
Result<User> DecodeUser(std::string_view name, std::string_view stored);
std::string EncodeToken(const Token& token);
Result<Token> DecodeToken(std::string_view digest, std::string_view stored);

std::string NewTokenSecret();
std::string TokenDigest(std::string_view secret);

}  // namespace sluice::auth
