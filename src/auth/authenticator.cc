#include "auth/authenticator.h"

#include <algorithm>
#include <future>
#include <utility>

#include <openssl/sha.h>

#include "base/base64.h"
#include "base/random.h"

namespace sluice::auth {
namespace {

constexpr size_t kMaxHeaderBytes = 4096;
constexpr size_t kKeyBytes = 32;

struct Credentials {
  enum class Kind : uint8_t { kPassword, kToken };
  Kind kind = Kind::kToken;
  std::string user;
  std::string secret;
};

std::unexpected<Status> BadCredentials() {
  return Fail(Code::kUnauthenticated, "auth.bad_credentials", "unknown user, password or token");
}

std::unexpected<Status> BadHeader(std::string_view why) {
  return Fail(Code::kUnauthenticated, "auth.bad_header",
              "the Authorization header must be 'Basic <base64 of user:password>' or 'Bearer "
              "<token>': {}",
              why);
}

// The rest after a scheme's name, which compares without case.
std::optional<std::string_view> AfterScheme(std::string_view header, std::string_view scheme) {
  if (header.size() <= scheme.size() || header[scheme.size()] != ' ') return std::nullopt;
  for (size_t i = 0; i < scheme.size(); ++i) {
    if ((header[i] | 0x20) != (scheme[i] | 0x20)) return std::nullopt;
  }
  header.remove_prefix(scheme.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  return header;
}

Result<Credentials> ParseHeader(std::string_view header) {
  if (header.empty()) {
    return Fail(Code::kUnauthenticated, "auth.required",
                "this server needs to know who you are: send a user and password, or a token");
  }
  if (header.size() > kMaxHeaderBytes) return BadHeader("it is too long");
  if (const auto token = AfterScheme(header, "Bearer")) {
    return Credentials{Credentials::Kind::kToken, "", std::string(*token)};
  }
  const auto encoded = AfterScheme(header, "Basic");
  if (!encoded) return BadHeader("another scheme was found");
  Result<std::string> pair = FromBase64(*encoded);
  if (!pair) return BadHeader("the text after Basic is not base64");
  const size_t colon = pair->find(':');
  if (colon == std::string::npos) return BadHeader("there is no ':' after the user's name");
  return Credentials{Credentials::Kind::kPassword, pair->substr(0, colon), pair->substr(colon + 1)};
}

std::shared_ptr<const Principal> PasswordPrincipal(const User& user) {
  return std::make_shared<const Principal>(
      Principal{user.name, "", user.grants, user.password_hash});
}

}  // namespace

Authenticator::Authenticator(const Directory& directory, PasswordHasher& hasher, const Clock& clock)
    : directory_(directory),
      hasher_(hasher),
      clock_(clock),
      key_(SecureRandomBytes(kKeyBytes)),
      failures_(clock) {
  for (int i = 0; i < PasswordHasher::kMaxAtOnce; ++i) {
    threads_.emplace_back(ThreadName{"password"}, [this] { RunJobs(); });
  }
}

Authenticator::~Authenticator() {
  new_job_.Close();
  for (Thread& thread : threads_) thread.join();
  while (auto job = TakeJob()) {
    job->callback(Fail(Code::kUnavailable, "auth.stopping", "the server is stopping"));
  }
}

Authenticator::Digest Authenticator::DigestOf(std::string_view header) const {
  std::string keyed = key_;
  keyed += header;
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(keyed.data()), keyed.size(), digest.data());
  return digest;
}

std::optional<Authenticator::Recognised> Authenticator::Remembered(std::string_view header) {
  const Digest digest = DigestOf(header);
  UserPtr before;
  std::shared_ptr<const Principal> principal;
  {
    const auto all = memory_.Lock();
    const auto found = all->find(digest);
    if (found == all->end()) return std::nullopt;
    before = found->second.user;
    principal = found->second.principal;
  }
  const UserPtr now = directory_.FindUser(before->name);
  if (now == before) return principal;
  if (now == nullptr || now->password_hash != before->password_hash) {
    memory_.Lock()->erase(digest);
    return std::nullopt;
  }
  principal = PasswordPrincipal(*now);
  Remember(header, {now, principal});
  return principal;
}

void Authenticator::Remember(std::string_view header, Memory memory) {
  const Digest digest = DigestOf(header);
  const auto all = memory_.Lock();
  // Digests are random: the first is as good a victim as any.
  if (all->size() >= kMaxRemembered) all->erase(all->begin());
  all->insert_or_assign(digest, std::move(memory));
}

Authenticator::Recognised Authenticator::CheckToken(const std::string& digest) const {
  const OwnedToken found = directory_.FindToken(digest);
  if (found.token == nullptr) return BadCredentials();
  const Token& token = *found.token;
  if (token.ExpiredAt(clock_.WallMs())) {
    return Fail(Code::kUnauthenticated, "auth.token_expired", "the token '{}' has expired",
                token.name);
  }
  const UserPtr& user = found.user;
  Principal principal{user->name, token.id(), {}, digest};
  if (!token.grants) {
    principal.grants = user->grants;
  } else {
    // What the user has lost since, the token has lost too.
    for (const Grant& grant : *token.grants) {
      if (Covers(user->grants, grant)) principal.grants.push_back(grant);
    }
  }
  return std::make_shared<const Principal>(std::move(principal));
}

bool Authenticator::Holds(const Principal& before) const {
  if (before.secret_hash.empty()) return true;
  Grants now;
  if (before.token_id.empty()) {
    const UserPtr user = directory_.FindUser(before.user);
    if (user == nullptr || user->password_hash != before.secret_hash) return false;
    now = user->grants;
  } else {
    const Recognised token = CheckToken(before.secret_hash);
    if (!token) return false;
    now = (*token)->grants;
  }
  return std::ranges::all_of(before.grants, [&](const Grant& grant) { return Covers(now, grant); });
}

std::optional<Authenticator::Recognised> Authenticator::TryNow(std::string_view header) {
  if (const auto secret = AfterScheme(header, "Bearer")) return CheckToken(TokenDigest(*secret));
  if (auto remembered = Remembered(header)) return remembered;
  const Result<Credentials> credentials = ParseHeader(header);
  if (!credentials) return Unexpected(credentials.error());
  return std::nullopt;
}

void Authenticator::Authenticate(std::string_view header, std::string_view address,
                                 Callback callback) {
  if (auto now = TryNow(header)) return callback(std::move(*now));
  Result<Credentials> credentials = ParseHeader(header);
  Job job{std::string(header), std::move(credentials->user), std::move(credentials->secret),
          std::string(address), std::move(callback)};
  bool busy = false;
  {
    const auto jobs = jobs_.Lock();
    busy = jobs->size() >= kMaxQueued;
    if (!busy) jobs->push_back(std::move(job));
  }
  if (busy) {
    return job.callback(
        Fail(Code::kOverloaded, "auth.busy", "too many passwords are being checked; try again"));
  }
  new_job_.Wake();
}

Authenticator::Recognised Authenticator::AuthenticateAndWait(std::string_view header,
                                                             std::string_view address) {
  std::promise<Recognised> promise;
  Authenticate(header, address, [&](Recognised found) { promise.set_value(std::move(found)); });
  return promise.get_future().get();
}

Authenticator::Recognised Authenticator::CheckPassword(const Job& job) {
  // An earlier job may have found the same header to be right.
  if (auto remembered = Remembered(job.header)) return *remembered;
  if (const uint64_t wait_ms = failures_.BlockedForMs(job.user, job.address)) {
    return Unexpected(Error(Code::kOverloaded, "auth.blocked",
                            "too many wrong passwords for user '{}' from {}: try again in {} s",
                            job.user, job.address, (wait_ms + 999) / 1000)
                          .With("retry_after", std::to_string((wait_ms + 999) / 1000)));
  }
  const UserPtr user = directory_.FindUser(job.user);
  const std::string& hash = user != nullptr ? user->password_hash : DummyHash();
  if (!hasher_.Verify(hash, job.password) || user == nullptr) {
    failures_.Failed(job.user, job.address);
    return BadCredentials();
  }
  failures_.Succeeded(job.user, job.address);
  const std::shared_ptr<const Principal> principal = PasswordPrincipal(*user);
  Remember(job.header, {user, principal});
  return principal;
}

const std::string& Authenticator::DummyHash() {
  std::call_once(dummy_once_, [this] { dummy_hash_ = hasher_.Hash(SecureRandomBytes(kKeyBytes)); });
  return dummy_hash_;
}

std::optional<Authenticator::Job> Authenticator::TakeJob() {
  const auto jobs = jobs_.Lock();
  if (jobs->empty()) return std::nullopt;
  std::optional<Job> job(std::move(jobs->front()));
  jobs->pop_front();
  return job;
}

void Authenticator::RunJobs() {
  while (!new_job_.closed()) {
    const uint64_t seen = new_job_.news();
    if (auto job = TakeJob()) {
      job->callback(CheckPassword(*job));
    } else {
      new_job_.Wait(seen);
    }
  }
}

}  // namespace sluice::auth
