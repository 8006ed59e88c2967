#include "auth/account.h"

#include <algorithm>
#include <utility>

#include <openssl/sha.h>

#include "base/bytes.h"
#include "base/random.h"
#include "json/parse.h"
#include "json/print.h"
#include "json/value.h"

namespace sluice::auth {
namespace {

constexpr char kVersion = 1;
constexpr size_t kTokenBytes = 32;
constexpr std::string_view kTokenMark = "slt_";

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '@' || c == '+';
}

std::unexpected<Status> Damaged(std::string_view what, std::string_view name) {
  return Fail(Code::kCorruption, "auth.damaged_account", "the stored {} '{}' can't be read", what,
              name);
}

json::Value GrantsValue(const Grants& grants) {
  json::Value list = json::Value::EmptyArray();
  for (const Grant& grant : grants) list.Append(json::Value(grant.ToString()));
  return list;
}

Result<Grants> GrantsOf(const json::Value& list) {
  Grants grants;
  for (const json::Value& item : list.items()) {
    if (!item.is_string()) return Damaged("role", "");
    ASSIGN_OR_RETURN(Grant grant, Grant::Parse(item.AsString()));
    grants.push_back(std::move(grant));
  }
  return grants;
}

std::string Versioned(const json::Value& value) {
  std::string out(1, kVersion);
  json::Print(value, &out);
  return out;
}

// The JSON after the version byte; missing if it is malformed.
json::Value Unversioned(std::string_view stored) {
  if (stored.empty() || stored[0] != kVersion) return {};
  Result<json::Value> value = json::Parse(stored.substr(1));
  return value ? std::move(*value) : json::Value();
}

}  // namespace

Status CheckUserName(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxUserNameBytes &&
      std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return OkStatus();
  }
  return Error(Code::kInvalidArgument, "auth.bad_name",
               "a user's name has 1 to {} letters, digits or . _ - @ +, found '{}'",
               kMaxUserNameBytes, name);
}

Status CheckTokenName(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxTokenNameBytes) return OkStatus();
  return Error(Code::kInvalidArgument, "auth.bad_name",
               "a token's name has 1 to {} bytes, found {}", kMaxTokenNameBytes, name.size());
}

std::string EncodeUser(const User& user) {
  return Versioned(json::Value::Object({
      {"password", user.password_hash},
      {"roles", GrantsValue(user.grants)},
      {"created_ms", json::Value::Unsigned(user.created_ms)},
  }));
}

Result<User> DecodeUser(std::string_view name, std::string_view stored) {
  const json::Value value = Unversioned(stored);
  if (!value["password"].is_string() || !value["roles"].is_array() ||
      !value["created_ms"].is_int()) {
    return Damaged("user", name);
  }
  User user;
  user.name = name;
  user.password_hash = value["password"].AsString();
  ASSIGN_OR_RETURN(user.grants, GrantsOf(value["roles"]));
  user.created_ms = static_cast<uint64_t>(value["created_ms"].AsInt());
  return user;
}

std::string EncodeToken(const Token& token) {
  json::Value value = json::Value::Object({
      {"user", token.user},
      {"name", token.name},
      {"created_ms", json::Value::Unsigned(token.created_ms)},
      {"expires_ms", json::Value::Unsigned(token.expires_ms)},
  });
  if (token.grants) value.Set("roles", GrantsValue(*token.grants));
  return Versioned(value);
}

Result<Token> DecodeToken(std::string_view digest, std::string_view stored) {
  const json::Value value = Unversioned(stored);
  if (!value["user"].is_string() || !value["name"].is_string() || !value["created_ms"].is_int() ||
      !value["expires_ms"].is_int()) {
    return Damaged("token", digest);
  }
  Token token;
  token.digest = digest;
  token.user = value["user"].AsString();
  token.name = value["name"].AsString();
  token.created_ms = static_cast<uint64_t>(value["created_ms"].AsInt());
  token.expires_ms = static_cast<uint64_t>(value["expires_ms"].AsInt());
  if (value.Find("roles") != nullptr) {
    ASSIGN_OR_RETURN(token.grants, GrantsOf(value["roles"]));
  }
  return token;
}

std::string NewTokenSecret() {
  return std::string(kTokenMark) + ToHex(SecureRandomBytes(kTokenBytes));
}

std::string TokenDigest(std::string_view secret) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), digest);
  return ToHex({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace sluice::auth
