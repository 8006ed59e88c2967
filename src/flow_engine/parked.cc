#include "flow_engine/parked.h"

#include <algorithm>
#include <chrono>

namespace sluice::flow_engine {
namespace {

constexpr uint64_t kLongestMs = 1000;  // the wall clock may be set
constexpr uint64_t kAgainMs = 100;

}  // namespace

void ParkedRuns::Start() {
  thread_ = Thread({"flow parked"}, [this] { Loop(); });
}

void ParkedRuns::Stop() {
  changed_.Close();
  if (thread_.joinable()) thread_.join();
}

bool ParkedRuns::Table::Add(const std::string& id, uint64_t due_ms) {
  if (!by_id.emplace(id, due_ms).second) return false;
  return by_time.emplace(due_ms, id).first == by_time.begin();
}

void ParkedRuns::Add(const std::string& id, uint64_t due_ms) {
  const bool first = table_.Lock()->Add(id, due_ms);
  if (first) changed_.Wake();
}

bool ParkedRuns::Take(const std::string& id) {
  while (true) {
    const uint64_t seen = woken_.news();
    {
      const auto table = table_.Lock();
      if (table->waking != id) {
        const auto found = table->by_id.find(id);
        if (found == table->by_id.end()) return false;
        table->by_time.erase({found->second, id});
        table->by_id.erase(found);
        return true;
      }
    }
    woken_.Wait(seen);
  }
}

void ParkedRuns::Drop(const std::function<bool(const std::string& id)>& which) {
  while (true) {
    const uint64_t seen = woken_.news();
    {
      const auto table = table_.Lock();
      if (table->waking.empty() || !which(table->waking)) {
        std::erase_if(table->by_time, [&](const auto& each) { return which(each.second); });
        std::erase_if(table->by_id, [&](const auto& each) { return which(each.first); });
        return;
      }
    }
    woken_.Wait(seen);
  }
}

size_t ParkedRuns::size() const { return table_.Lock()->by_id.size(); }

void ParkedRuns::Loop() {
  while (true) {
    const uint64_t seen = changed_.news();
    time_.Adjust();
    const Clock::Time look_at = WakeFirst(time_.clock().Now());
    if (changed_.Wait(seen, look_at) == Signal::Waited::kClosed) return;
  }
}

Clock::Time ParkedRuns::WakeFirst(Clock::Time now) {
  const uint64_t now_ms = time_.MsAt(static_cast<uint64_t>(now.time_since_epoch().count()));
  std::pair<uint64_t, std::string> first;
  {
    const auto table = table_.Lock();
    if (table->by_time.empty()) return now + std::chrono::milliseconds(kLongestMs);
    first = *table->by_time.begin();
    if (first.first > now_ms) {
      return now + std::chrono::milliseconds(std::min(first.first - now_ms, kLongestMs));
    }
    table->by_time.erase(table->by_time.begin());
    table->by_id.erase(first.second);
    table->waking = first.second;
  }
  const bool woken = wake_(first.second);
  {
    const auto table = table_.Lock();
    table->waking.clear();
    if (!woken) table->Add(first.second, first.first);
  }
  woken_.Wake();
  return woken ? now : now + std::chrono::milliseconds(kAgainMs);
}

}  // namespace sluice::flow_engine
