#include "rest/debugger_guests.h"

#include <algorithm>
#include <utility>

#include <openssl/crypto.h>

#include "base/bytes.h"
#include "base/random.h"

namespace sluice::rest {
namespace {

constexpr size_t kTokenBytes = 24;

bool IsSame(const auth::Principal& a, const auth::Principal& b) {
  return a.user == b.user && a.secret_hash == b.secret_hash && a.grants == b.grants;
}

}  // namespace

std::string DebuggerGuests::TokenOf(const std::shared_ptr<function::DebugSession>& session,
                                    std::shared_ptr<const Sender> sender) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) {
    const auto known = entry.session.lock();
    return known == nullptr || known->over();
  });
  for (const Entry& entry : entries_) {
    if (entry.session.lock() == session && IsSame(entry.sender->who(), sender->who())) {
      return entry.token;
    }
  }
  if (entries_.size() >= kMaxTokens) entries_.erase(entries_.begin());
  entries_.push_back({ToHex(SecureRandomBytes(kTokenBytes)), session, std::move(sender)});
  return entries_.back().token;
}

std::optional<DebuggerGuests::Guest> DebuggerGuests::Find(std::string_view token) const {
  if (token.size() != 2 * kTokenBytes) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.token.data(), token.data(), token.size()) != 0) continue;
    auto session = entry.session.lock();
    if (session == nullptr || session->over()) return std::nullopt;
    return Guest{std::move(session), entry.sender};
  }
  return std::nullopt;
}

}  // namespace sluice::rest
