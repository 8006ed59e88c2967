#include "rest/debugger_guests.h"

#include <algorithm>
#include <set>
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

// A session has locks of its own, so this one is not held while a session is asked or may end.
std::string DebuggerGuests::TokenOf(const std::shared_ptr<function::DebugSession>& session,
                                    std::shared_ptr<const Sender> sender) {
  std::set<std::string> over;
  for (const Entry& entry : entries_.Copy()) {
    const auto known = entry.session.lock();
    if (known == nullptr || known->over()) over.insert(entry.token);
  }
  const std::weak_ptr<function::DebugSession> wanted = session;
  std::string token = ToHex(SecureRandomBytes(kTokenBytes));
  std::vector<Entry> kept;  // in the end: the entries before this call
  Entry oldest;
  const auto entries = entries_.Lock();
  for (const Entry& entry : *entries) {
    if (!over.contains(entry.token)) kept.push_back(entry);
  }
  kept.swap(*entries);
  for (const Entry& entry : *entries) {
    const bool same = !entry.session.owner_before(wanted) && !wanted.owner_before(entry.session);
    if (same && IsSame(entry.sender->who(), sender->who())) return entry.token;
  }
  if (entries->size() >= kMaxTokens) {
    oldest = std::move(entries->front());
    entries->erase(entries->begin());
  }
  entries->push_back({token, session, std::move(sender)});
  return token;
}

std::optional<DebuggerGuests::Guest> DebuggerGuests::Find(std::string_view token) const {
  if (token.size() != 2 * kTokenBytes) return std::nullopt;
  std::optional<Entry> known;
  {
    const auto entries = entries_.Lock();
    const auto found = std::ranges::find_if(*entries, [&](const Entry& entry) {
      return CRYPTO_memcmp(entry.token.data(), token.data(), token.size()) == 0;
    });
    if (found != entries->end()) known = *found;
  }
  if (!known) return std::nullopt;
  auto session = known->session.lock();
  if (session == nullptr || session->over()) return std::nullopt;
  return Guest{std::move(session), known->sender};
}

}  // namespace sluice::rest
