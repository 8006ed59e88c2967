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
  const User* user = accounts.FindUser(name);
  if (user == nullptr || !user->is_admin()) return false;
  return std::none_of(accounts.users.begin(), accounts.users.end(), [&](const auto& entry) {
    return entry.first != name && entry.second.is_admin();
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

using RowVisitor = std::function<Status(std::string_view name, std::string_view value)>;
Status VisitRows(const db::Rows& all, std::string_view prefix, const RowVisitor& visit) {
  const auto rows = all.NewIterator(db::RowFamily::kMeta, db::kDefinitionsShard,
                                    {std::string(prefix), PrefixEnd(prefix)});
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    RETURN_IF_ERROR(visit(rows->key().substr(prefix.size()), rows->value()));
  }
  return rows->status();
}

}  // namespace

const User* Accounts::FindUser(std::string_view name) const {
  const auto found = users.find(name);
  return found == users.end() ? nullptr : &found->second;
}

Result<std::unique_ptr<Directory>> Directory::Open(db::Database& database, PasswordHasher& hasher) {
  std::unique_ptr<Directory> directory(new Directory(database, hasher));
  RETURN_IF_ERROR(directory->Load());
  return directory;
}

Status Directory::Load() {
  Accounts accounts;
  RETURN_IF_ERROR(VisitRows(database_.rows(), kUserPrefix, [&](auto name, auto value) -> Status {
    ASSIGN_OR_RETURN(User user, DecodeUser(name, value));
    accounts.users.emplace(name, std::move(user));
    return OkStatus();
  }));
  RETURN_IF_ERROR(VisitRows(database_.rows(), kTokenPrefix, [&](auto name, auto value) -> Status {
    ASSIGN_OR_RETURN(Token token, DecodeToken(name, value));
    accounts.tokens.emplace(name, std::move(token));
    return OkStatus();
  }));
  Publish(std::move(accounts));
  return OkStatus();
}

Status Directory::StoreRows(std::vector<db::RowWrite> rows) {
  db::Commit commit;
  commit.shard = db::kDefinitionsShard;
  commit.rows = std::move(rows);
  return database_.Apply(std::move(commit)).status;
}

Result<std::optional<FirstAdmin>> Directory::EnsureAdmin() {
  if (!accounts()->users.empty()) return std::nullopt;
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
  Accounts next = *accounts();
  const bool exists = next.users.contains(change.name);
  if (!exists && !change.password) {
    return Fail(Code::kInvalidArgument, "auth.bad_password", "a new user needs a password");
  }
  if (!exists && next.users.size() >= kMaxUsers) {
    return Fail(Code::kTooLarge, "auth.too_many", "there are at most {} users", kMaxUsers);
  }
  const bool was_last_admin = IsLastAdmin(next, change.name);
  User& user = next.users[change.name];
  if (!exists) {
    user.name = change.name;
    user.created_ms = database_.clock().WallMs();
  }
  if (change.password) user.password_hash = std::move(password_hash);
  if (change.grants) {
    RETURN_IF_ERROR(CheckBuckets(*database_.catalog(), *change.grants, user.grants));
    user.grants = *change.grants;
  }
  if (was_last_admin && !user.is_admin()) return Unexpected(LastAdmin(change.name));
  RETURN_IF_ERROR(StoreRows({Row(kUserPrefix, user.name, EncodeUser(user))}));
  Publish(std::move(next));
  return exists ? Put::kChanged : Put::kCreated;
}

Status Directory::RemoveUser(std::string_view name) {
  const MutexLock lock(change_mutex_);
  Accounts next = *accounts();
  const auto found = next.users.find(name);
  if (found == next.users.end()) return NoUser(name).error();
  if (IsLastAdmin(next, name)) return LastAdmin(name);
  std::vector<db::RowWrite> rows;
  rows.push_back(Row(kUserPrefix, name, std::nullopt));
  next.users.erase(found);
  std::erase_if(next.tokens, [&](const auto& entry) {
    if (entry.second.user != name) return false;
    rows.push_back(Row(kTokenPrefix, entry.first, std::nullopt));
    return true;
  });
  RETURN_IF_ERROR(StoreRows(std::move(rows)));
  Publish(std::move(next));
  return OkStatus();
}

Result<NewToken> Directory::CreateToken(const TokenRequest& request) {
  RETURN_IF_ERROR(CheckTokenName(request.name));
  const MutexLock lock(change_mutex_);
  Accounts next = *accounts();
  const User* user = next.FindUser(request.user);
  if (user == nullptr) return NoUser(request.user);
  if (next.tokens.size() >= kMaxTokens) {
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
  next.tokens.emplace(created.token.digest, created.token);
  Publish(std::move(next));
  return created;
}

Status Directory::RemoveToken(std::string_view digest) {
  const MutexLock lock(change_mutex_);
  Accounts next = *accounts();
  const auto found = next.tokens.find(digest);
  if (found == next.tokens.end()) {
    return Error(Code::kNotFound, "auth.token_not_found", "there is no such token");
  }
  RETURN_IF_ERROR(StoreRows({Row(kTokenPrefix, digest, std::nullopt)}));
  next.tokens.erase(found);
  Publish(std::move(next));
  return OkStatus();
}

}  // namespace sluice::auth
