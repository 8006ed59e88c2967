// The users and tokens of a database. All of them are also in memory, so that recognising somebody
// never reads the store. Memory follows the stored rows, whoever changes them: a change here only
// commits, and has taken effect when the commit returns (db/row_watch.h).
//
// Any thread. Changes wait for their commit, and creating or changing a user also for a password
// hash: call them from a worker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/account.h"
#include "auth/password.h"
#include "auth/roles.h"
#include "base/locked.h"
#include "base/mutex.h"
#include "base/status.h"
#include "db/commit.h"
#include "db/database.h"
#include "db/row_watch.h"

namespace sluice::auth {

inline constexpr size_t kMaxUsers = 10'000;
inline constexpr size_t kMaxTokens = 100'000;

// A changed account is another object.
using UserPtr = std::shared_ptr<const User>;
using TokenPtr = std::shared_ptr<const Token>;
struct Accounts {
  std::map<std::string, UserPtr, std::less<>> users;
  std::map<std::string, TokenPtr, std::less<>> tokens;  // by digest

  UserPtr FindUser(std::string_view name) const;  // null: there is none
  TokenPtr FindToken(std::string_view digest) const;
};
struct OwnedToken {
  TokenPtr token;
  UserPtr user;
};

// The wanted state of a user. An existing user keeps the fields that are not given; a new user
// needs a password.
struct UserChange {
  std::string name;
  std::optional<std::string> password;
  std::optional<Grants> grants;
};

struct TokenRequest {
  std::string user;
  std::string name;
  uint64_t expires_ms = 0;       // Unix time; 0 for never
  std::optional<Grants> grants;  // must be covered by the user's; none: all of the user's
};
struct NewToken {
  std::string secret;  // shown once
  Token token;
};

struct FirstAdmin {
  std::string name;
  std::string password;
};

class Directory {
 public:
  enum class Put : uint8_t { kCreated, kChanged };

  // Reads the stored accounts. The database and the hasher must outlive it.
  static Result<std::unique_ptr<Directory>> Open(db::Database& database, PasswordHasher& hasher);

  // Copies pointers to all accounts; to find one, ask for that.
  Accounts accounts() const { return accounts_.Copy(); }
  UserPtr FindUser(std::string_view name) const { return accounts_.Lock()->FindUser(name); }
  // Both are null unless there are both.
  OwnedToken FindToken(std::string_view digest) const;

  // When there is no user: makes `admin` with a random password and returns both.
  Result<std::optional<FirstAdmin>> EnsureAdmin();

  Result<Put> PutUser(const UserChange& change);
  // With the user's tokens. The last admin stays (auth.last_admin).
  Status RemoveUser(std::string_view name);

  Result<NewToken> CreateToken(const TokenRequest& request);
  Status RemoveToken(std::string_view digest);

 private:
  Directory(db::Database& database, PasswordHasher& hasher);

  Status RefreshUser(const std::string& name, const std::optional<std::string>& row);
  Status RefreshToken(const std::string& digest, const std::optional<std::string>& row);
  Status StoreRows(std::vector<db::RowWrite> rows);

  db::Database& database_;
  PasswordHasher& hasher_;
  Mutex change_mutex_;  // one change at a time; held across its commit
  Locked<Accounts> accounts_;
  db::RowWatch users_watch_;
  db::RowWatch tokens_watch_;
};

}  // namespace sluice::auth
