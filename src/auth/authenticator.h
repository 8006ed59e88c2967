// Finds the user of a request by its Authorization header: `Basic` with a user's password, or
// `Bearer` with a token.
//
// Operation: checking a password costs tens of milliseconds by design, so it happens on threads of
// its own (as many as the hasher runs at once) behind a bounded queue. The result is remembered
// under a keyed hash of the header, so that a client which sends its password with each request
// pays once. A change of the accounts takes effect at once.
// Concurrency: any thread.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/directory.h"
#include "auth/failure_table.h"
#include "auth/password.h"
#include "auth/roles.h"
#include "base/clock.h"
#include "base/locked.h"
#include "base/signal.h"
#include "base/status.h"
#include "base/thread.h"

namespace sluice::auth {

class Authenticator {
 public:
  using Recognised = Result<std::shared_ptr<const Principal>>;
  using Callback = std::move_only_function<void(Recognised)>;

  static constexpr size_t kMaxRemembered = 4096;
  static constexpr size_t kMaxQueued = 1024;  // past it: auth.busy

  // The directory, the hasher and the clock must outlive it.
  Authenticator(const Directory& directory, PasswordHasher& hasher, const Clock& clock);
  // Fails the requests that still wait.
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // The answer if it needs no password hash: a token, a malformed header, a password that was right
  // before.
  std::optional<Recognised> TryNow(std::string_view header);
  // `address` is the client's, without its port. The callback runs on one of this object's threads,
  // or at once on this one.
  void Authenticate(std::string_view header, std::string_view address, Callback callback);
  // Whether the same secret, shown now, would be recognised and give all the rights of `before`.
  bool Holds(const Principal& before) const;
  // Waits.
  Recognised AuthenticateAndWait(std::string_view header, std::string_view address);

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Memory {
    UserPtr user;  // the principal was made from it
    std::shared_ptr<const Principal> principal;
  };
  struct Job {
    std::string header;
    std::string user;
    std::string password;
    std::string address;
    Callback callback;
  };

  Digest DigestOf(std::string_view header) const;
  std::optional<Recognised> Remembered(std::string_view header);
  void Remember(std::string_view header, Memory memory);
  Recognised CheckToken(const std::string& digest) const;
  Recognised CheckPassword(const Job& job);
  const std::string& DummyHash();
  std::optional<Job> TakeJob();
  void RunJobs();

  const Directory& directory_;
  PasswordHasher& hasher_;
  const Clock& clock_;
  const std::string key_;  // of the keyed hash; new in each process
  FailureTable failures_;

  std::once_flag dummy_once_;
  std::string dummy_hash_;  // verified for unknown users, so that they take as long

  Locked<std::map<Digest, Memory>> memory_;
  Locked<std::deque<Job>> jobs_;
  Signal new_job_;  // closed when the threads must end
  std::vector<Thread> threads_;
};

}  // namespace sluice::auth
