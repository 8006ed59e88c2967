// Roles and permissions. A user has roles for buckets; a route asks for a permission.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::auth {

// A right that a route asks for. All except kNone, kMonitor and kAdmin are for a bucket.
enum class Permission : uint8_t {
  kNone,  // to be known is enough
  kRead,
  kWrite,
  kManageFunctions,
  kQuery,
  kMonitor,  // metrics and the server's status, which name buckets and functions
  kAdmin,
};
std::string_view PermissionName(Permission permission);

//   admin             everything
//   reader            kRead
//   writer            kRead, kWrite
//   function_manager  kManageFunctions, kRead
//   query             kQuery; what a statement may read and write follows from the other roles
//   metrics           kMonitor, which the roles that read have, too, where they read all buckets
enum class Role : uint8_t {
  kAdmin = 1,
  kReader = 2,
  kWriter = 3,
  kFunctionManager = 4,
  kQuery = 5,
  kMetrics = 6
};
std::string_view RoleName(Role role);

inline constexpr std::string_view kEveryBucket = "*";
inline constexpr size_t kMaxGrants = 1000;

// A role for one bucket or for all (kEveryBucket). Written `admin`, `metrics`, `reader:shop`,
// `writer:*`.
struct Grant {
  Role role = Role::kReader;
  std::string bucket = std::string(kEveryBucket);

  static Result<Grant> Parse(std::string_view text);
  std::string ToString() const;
  bool operator==(const Grant&) const = default;
};
using Grants = std::vector<Grant>;

bool Allows(const Grants& grants, Permission permission, std::string_view bucket);
// Whether `grants` allow everything that `wanted` allows.
bool Covers(const Grants& grants, const Grant& wanted);

// The authenticated user of a request.
struct Principal {
  std::string user;
  std::string token_id;  // of the token that was shown; empty for a password
  Grants grants;
  // What is stored of the secret that was shown: a token's digest or a password's hash. Empty:
  // nobody asked for one (`--dev`).
  std::string secret_hash = {};

  // kNone and kAdmin ignore `bucket`; kMonitor is for all buckets. Pass kEveryBucket to ask for the
  // permission on all buckets.
  bool Allows(Permission permission, std::string_view bucket) const {
    return auth::Allows(grants, permission, bucket);
  }
};

}  // namespace sluice::auth
