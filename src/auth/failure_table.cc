#include "auth/failure_table.h"

#include <algorithm>

#include "base/mutex.h"

namespace sluice::auth {

std::string FailureTable::KeyOf(std::string_view user, std::string_view address) {
  std::string key(user);
  key += '\0';
  key += address;
  return key;
}

uint64_t FailureTable::BlockedForMs(std::string_view user, std::string_view address) {
  const std::string key = KeyOf(user, address);
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return 0;
  const uint64_t now_ms = NowMs();
  const uint64_t until_ms = found->second->blocked_until_ms;
  return until_ms > now_ms ? until_ms - now_ms : 0;
}

void FailureTable::Failed(std::string_view user, std::string_view address) {
  std::string key = KeyOf(user, address);
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
  } else {
    if (entries_.size() == kMaxEntries) {
      by_key_.erase(entries_.back().key);
      entries_.pop_back();
    }
    entries_.push_front({.key = std::move(key)});
    by_key_.emplace(entries_.front().key, entries_.begin());
  }
  Entry& entry = entries_.front();
  const uint64_t now_ms = NowMs();
  if (now_ms - entry.last_ms > kForgetAfterMs) entry.failures = 0;
  entry.last_ms = now_ms;
  if (++entry.failures < kFreeFailures) return;
  const uint32_t doublings = std::min<uint32_t>(entry.failures - kFreeFailures, 16);
  entry.blocked_until_ms = now_ms + std::min(kFirstDelayMs << doublings, kMaxDelayMs);
}

void FailureTable::Succeeded(std::string_view user, std::string_view address) {
  const MutexLock lock(mutex_);
  if (by_key_.empty()) return;
  const auto found = by_key_.find(KeyOf(user, address));
  if (found == by_key_.end()) return;
  const Entries::iterator entry = found->second;
  by_key_.erase(found);
  entries_.erase(entry);
}

}  // namespace sluice::auth
