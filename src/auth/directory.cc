#include "auth/directory.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/random.h"

namespace sluice::auth {
namespace {

constexpr std::string_view kAdminName = "admin";
constexpr size_t kFirstPasswordBytes = 16;

std::unexpected<Status> NoUser(std::string_view name) {
  return Fail(Code::kNotFound, "auth.user_not_found", "there is no user '{}'", name);
}

Status LastAdmin(std::string_view name) {
  return Error(Code::kConflict, "auth.last_admin", "'{}' is the only admin: make another one first",
               name);
}

bool IsLastAdmin(const Accounts& accounts, std::string_view name) {
  const UserPtr user = accounts.FindUser(name);
  if (user == nullptr || !user->is_admin()) return false;
  return std::none_of(accounts.users.begin(), accounts.users.end(), [&](const auto& entry) {
    return entry.first != name && entry.second->is_admin();
  });
}

db::RowWrite Row(std::string_view prefix, std::string_view name, std::optional<std::string> value) {
  db::RowWrite row;
  row.family = db::RowFamily::kMeta;
  row.shard = db::kDefinitionsShard;
  row.key = std::string(prefix) + std::string(name);
  row.value = std::move(value);
  return row;
}

// A role on a bucket that is not there is a mistyped one, or would give rights on whatever gets
// that name later. Roles of `held` may stay: their bucket may have been dropped.
Status CheckBuckets(const db::Catalog& catalog, const Grants& wanted, const Grants& held) {
  for (const Grant& grant : wanted) {
    const bool fits = grant.bucket == kEveryBucket || grant.bucket == db::kTablesBucket ||
                      catalog.buckets().contains(grant.bucket);
    if (fits || std::ranges::find(held, grant) != held.end()) continue;
    return Error(
        Code::kInvalidArgument, "auth.no_such_bucket", "role '{}': {}", grant.ToString(),
        catalog.FindTable(grant.bucket) != nullptr
            ? fmt::format("'{}' is a table; roles on tables are those on {}, as in '{}:{}'",
                          grant.bucket, db::kTablesBucket, RoleName(grant.role), db::kTablesBucket)
            : fmt::format("there is no bucket '{}'; create it first, or name all buckets "
                          "with '{}:*'",
                          grant.bucket, RoleName(grant.role)));
  }
  return OkStatus();
}

}  // namespace

UserPtr Accounts::FindUser(std::string_view name) const {
  const auto found = users.find(name);
  return found == users.end() ? nullptr : found->second;
}

TokenPtr Accounts::FindToken(std::string_view digest) const {
  const auto found = tokens.find(digest);
  return found == tokens.end() ? nullptr : found->second;
}

Directory::Directory(db::Database& database, PasswordHasher& hasher)
    : database_(database),
      hasher_(hasher),
      users_watch_(database, std::string(kUserPrefix),
                   [this](const auto& name, const auto& row) { return RefreshUser(name, row); }),
      tokens_watch_(
          database, std::string(kTokenPrefix),
          [this](const auto& digest, const auto& row) { return RefreshToken(digest, row); }) {}

Result<std::unique_ptr<Directory>> Directory::Open(db::Database& database, PasswordHasher& hasher) {
  std::unique_ptr<Directory> directory(new Directory(database, hasher));
  RETURN_IF_ERROR(directory->users_watch_.Load());
  RETURN_IF_ERROR(directory->tokens_watch_.Load());
  return directory;
}

Status Directory::RefreshUser(const std::string& name, const std::optional<std::string>& row) {
  if (!row) {
    accounts_.Lock()->users.erase(name);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(User user, DecodeUser(name, *row));
  auto changed = std::make_shared<const User>(std::move(user));
  accounts_.Lock()->users.insert_or_assign(name, std::move(changed));
  return OkStatus();
}

Status Directory::RefreshToken(const std::string& digest, const std::optional<std::string>& row) {
  if (!row) {
    accounts_.Lock()->tokens.erase(digest);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(Token token, DecodeToken(digest, *row));
  auto changed = std::make_shared<const Token>(std::move(token));
  accounts_.Lock()->tokens.insert_or_assign(digest, std::move(changed));
  return OkStatus();
}

OwnedToken Directory::FindToken(std::string_view digest) const {
  const auto accounts = accounts_.Lock();
  const TokenPtr token = accounts->FindToken(digest);
  const UserPtr user = token == nullptr ? nullptr : accounts->FindUser(token->user);
  if (user == nullptr) return {};
  return {token, user};
}

Status Directory::StoreRows(std::vector<db::RowWrite> rows) {
  db::Commit commit;
  commit.shard = db::kDefinitionsShard;
  commit.rows = std::move(rows);
  return database_.Apply(std::move(commit)).status;
}

Result<std::optional<FirstAdmin>> Directory::EnsureAdmin() {
  if (!accounts_.Lock()->users.empty()) return std::nullopt;
  FirstAdmin admin{std::string(kAdminName), ToHex(SecureRandomBytes(kFirstPasswordBytes))};
  ASSIGN_OR_RETURN([[maybe_unused]] const Put put,
                   PutUser({admin.name, admin.password, Grants{Grant{Role::kAdmin}}}));
  return admin;
}

Result<Directory::Put> Directory::PutUser(const UserChange& change) {
  RETURN_IF_ERROR(CheckUserName(change.name));
  if (change.password) RETURN_IF_ERROR(CheckPassword(*change.password));
  if (change.grants && change.grants->size() > kMaxGrants) {
    return Fail(Code::kTooLarge, "auth.too_many", "a user has at most {} roles", kMaxGrants);
  }
  std::string password_hash;
  if (change.password) password_hash = hasher_.Hash(*change.password);

  const MutexLock lock(change_mutex_);
  const UserPtr present = FindUser(change.name);
  if (present == nullptr && !change.password) {
    return Fail(Code::kInvalidArgument, "auth.bad_password", "a new user needs a password");
  }
  if (present == nullptr && accounts_.Lock()->users.size() >= kMaxUsers) {
    return Fail(Code::kTooLarge, "auth.too_many", "there are at most {} users", kMaxUsers);
  }
  User user;
  if (present != nullptr) {
    user = *present;
  } else {
    user.name = change.name;
    user.created_ms = database_.clock().WallMs();
  }
  if (change.password) user.password_hash = std::move(password_hash);
  if (change.grants) {
    RETURN_IF_ERROR(CheckBuckets(*database_.catalog(), *change.grants, user.grants));
    user.grants = *change.grants;
  }
  if (!user.is_admin() && IsLastAdmin(*accounts_.Lock(), change.name)) {
    return Unexpected(LastAdmin(change.name));
  }
  RETURN_IF_ERROR(StoreRows({Row(kUserPrefix, user.name, EncodeUser(user))}));
  return present != nullptr ? Put::kChanged : Put::kCreated;
}

Status Directory::RemoveUser(std::string_view name) {
  const MutexLock lock(change_mutex_);
  std::vector<db::RowWrite> rows;
  {
    const auto accounts = accounts_.Lock();
    if (accounts->FindUser(name) == nullptr) return NoUser(name).error();
    if (IsLastAdmin(*accounts, name)) return LastAdmin(name);
    rows.push_back(Row(kUserPrefix, name, std::nullopt));
    for (const auto& [digest, token] : accounts->tokens) {
      if (token->user == name) rows.push_back(Row(kTokenPrefix, digest, std::nullopt));
    }
  }
  return StoreRows(std::move(rows));
}

Result<NewToken> Directory::CreateToken(const TokenRequest& request) {
  RETURN_IF_ERROR(CheckTokenName(request.name));
  const MutexLock lock(change_mutex_);
  const UserPtr user = FindUser(request.user);
  if (user == nullptr) return NoUser(request.user);
  if (accounts_.Lock()->tokens.size() >= kMaxTokens) {
    return Fail(Code::kTooLarge, "auth.too_many", "there are at most {} tokens", kMaxTokens);
  }
  for (const Grant& grant : request.grants.value_or(Grants{})) {
    if (Covers(user->grants, grant)) continue;
    return Fail(Code::kForbidden, "auth.forbidden",
                "a token can't have the role {}, because user '{}' does not", grant.ToString(),
                request.user);
  }
  if (request.grants) {
    RETURN_IF_ERROR(CheckBuckets(*database_.catalog(), *request.grants, user->grants));
  }
  NewToken created;
  created.secret = NewTokenSecret();
  created.token.digest = TokenDigest(created.secret);
  created.token.user = request.user;
  created.token.name = request.name;
  created.token.created_ms = database_.clock().WallMs();
  created.token.expires_ms = request.expires_ms;
  created.token.grants = request.grants;
  RETURN_IF_ERROR(StoreRows({Row(kTokenPrefix, created.token.digest, EncodeToken(created.token))}));
  return created;
}

Status Directory::RemoveToken(std::string_view digest) {
  const MutexLock lock(change_mutex_);
  if (accounts_.Lock()->FindToken(digest) == nullptr) {
    return Error(Code::kNotFound, "auth.token_not_found", "there is no such token");
  }
  return StoreRows({Row(kTokenPrefix, digest, std::nullopt)});
}

}  // namespace sluice::auth
