#include "auth/failure_table.h"

#include <algorithm>

namespace sluice::auth {

std::string FailureTable::KeyOf(std::string_view user, std::string_view address) {
  std::string key(user);
  key += '\0';
  key += address;
  return key;
}

uint64_t FailureTable::BlockedForMs(std::string_view user, std::string_view address) {
  const std::string key = KeyOf(user, address);
  const auto table = table_.Lock();
  const auto found = table->by_key.find(key);
  if (found == table->by_key.end()) return 0;
  const uint64_t now_ms = NowMs();
  const uint64_t until_ms = found->second->blocked_until_ms;
  return until_ms > now_ms ? until_ms - now_ms : 0;
}

void FailureTable::Failed(std::string_view user, std::string_view address) {
  std::string key = KeyOf(user, address);
  const auto table = table_.Lock();
  const auto found = table->by_key.find(key);
  if (found != table->by_key.end()) {
    table->entries.splice(table->entries.begin(), table->entries, found->second);
  } else {
    if (table->entries.size() == kMaxEntries) {
      table->by_key.erase(table->entries.back().key);
      table->entries.pop_back();
    }
    table->entries.push_front({.key = std::move(key)});
    table->by_key.emplace(table->entries.front().key, table->entries.begin());
  }
  Entry& entry = table->entries.front();
  const uint64_t now_ms = NowMs();
  if (now_ms - entry.last_ms > kForgetAfterMs) entry.failures = 0;
  entry.last_ms = now_ms;
  if (++entry.failures < kFreeFailures) return;
  const uint32_t doublings = std::min<uint32_t>(entry.failures - kFreeFailures, 16);
  entry.blocked_until_ms = now_ms + std::min(kFirstDelayMs << doublings, kMaxDelayMs);
}

void FailureTable::Succeeded(std::string_view user, std::string_view address) {
  const auto table = table_.Lock();
  if (table->by_key.empty()) return;
  const auto found = table->by_key.find(KeyOf(user, address));
  if (found == table->by_key.end()) return;
  const Entries::iterator entry = found->second;
  table->by_key.erase(found);
  table->entries.erase(entry);
}

}  // namespace sluice::auth
