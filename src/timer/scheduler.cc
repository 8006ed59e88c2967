// Invariant of an owner in a shard: a timer that is stored, committed before the last Created and
// at or after `from`, will be seen by the next look; one before `from` was delivered. So `from`
// moves forward only past delivered timers, and back to the due time of Created.
#include "timer/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/mutex.h"
#include "timer/owned.h"

namespace sluice::timer {
namespace {

constexpr size_t kHandOutAtOnce = 256;  // then the other owners have their turn
// The wall clock may be set, so the thread looks at it at least this often.
constexpr std::chrono::nanoseconds kMaxPause(1'000'000'000);

}  // namespace

Scheduler::Scheduler(const db::Database& database, const Clock& clock)
    : database_(database), clock_(clock) {
  thread_ = Thread({"timers"}, [this] { Loop(); });
}

Scheduler::~Scheduler() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

uint64_t Scheduler::Add(const std::string& owner, db::ShardId shard, Receiver receiver,
                        Failed failed) {
  Owner made;
  made.receiver = std::move(receiver);
  made.failed = std::move(failed);
  uint64_t added = 0;
  {
    const MutexLock lock(mutex_);
    added = made.added = ++added_;
    owners_.insert_or_assign(Place{owner, shard}, std::move(made));
    woken_ = true;
  }
  wake_.NotifyOne();
  return added;
}

void Scheduler::Remove(const std::string& owner, db::ShardId shard, uint64_t added) {
  const MutexLock lock(mutex_);
  const auto found = owners_.find({owner, shard});
  if (found != owners_.end() && found->second.added == added) owners_.erase(found);
}

void Scheduler::Created(const std::string& owner, db::ShardId shard, uint64_t due_ms) {
  {
    const MutexLock lock(mutex_);
    const auto found = owners_.find({owner, shard});
    if (found == owners_.end()) return;
    const bool sooner = due_ms < std::min(found->second.next_due_ms, found->second.created_ms);
    found->second.created_ms = std::min(found->second.created_ms, due_ms);
    if (!sooner) return;
    woken_ = true;
  }
  wake_.NotifyOne();
}

void Scheduler::Done(const std::string& owner, std::span<const Moment> moments) {
  bool room = false;
  {
    const MutexLock lock(mutex_);
    for (const Moment& moment : moments) {
      const auto found = owners_.find({owner, moment.shard});
      if (found != owners_.end()) found->second.handed.erase(moment);
    }
    // The receivers of an owner's shards may share their room.
    for (auto found = owners_.lower_bound({owner, 0});
         found != owners_.end() && found->first.owner == owner; ++found) {
      room |= std::exchange(found->second.full, false);
    }
    if (!room) return;
    woken_ = true;
  }
  wake_.NotifyOne();
}

void Scheduler::Wake() {
  {
    const MutexLock lock(mutex_);
    woken_ = true;
  }
  wake_.NotifyOne();
}

void Scheduler::Loop() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const uint64_t now_ms = clock_.WallMs();
    const std::optional<Place> place = NextOwner(now_ms);
    if (!place) {
      wake_.WaitFor(lock, clock_, Pause(),
                    [this]() REQUIRES(mutex_) { return stopping_ || woken_; });
      woken_ = false;
      continue;
    }
    Owner& before = owners_.at(*place);
    if (before.created_ms <= before.from.due_ms) before.from = {before.created_ms, 0};
    before.created_ms = UINT64_MAX;
    const Moment from = before.from;
    const uint64_t added = before.added;
    lock.Unlock();
    const Result<Found> found = Look(*place, from, now_ms);
    lock.Lock();
    const auto owner = owners_.find(*place);
    if (owner == owners_.end() || owner->second.added != added) continue;
    if (found) {
      HandOut(owner->second, *found);
    } else {
      owner->second.failed(found.error());
      owners_.erase(owner);
    }
  }
}

// An owner that has something due: the one that waits longest.
std::optional<Scheduler::Place> Scheduler::NextOwner(uint64_t now_ms) {
  const Place* first = nullptr;
  uint64_t first_ms = UINT64_MAX;
  for (const auto& [place, owner] : owners_) {
    const uint64_t due_ms = std::min(owner.next_due_ms, owner.created_ms);
    if (owner.full || due_ms > now_ms || due_ms >= first_ms) continue;
    first = &place;
    first_ms = due_ms;
  }
  return first == nullptr ? std::nullopt : std::optional(*first);
}

// Until the first timer is due.
std::chrono::nanoseconds Scheduler::Pause() const {
  uint64_t first_ms = UINT64_MAX;
  for (const auto& [place, owner] : owners_) {
    if (!owner.full) first_ms = std::min({first_ms, owner.next_due_ms, owner.created_ms});
  }
  const uint64_t now_ns = clock_.WallNs();
  if (first_ms >= (now_ns + kMaxPause.count()) / 1'000'000) return kMaxPause;
  const uint64_t first_ns = first_ms * 1'000'000;
  return std::chrono::nanoseconds(first_ns > now_ns ? first_ns - now_ns : 0);
}

Result<Scheduler::Found> Scheduler::Look(const Place& place, const Moment& from,
                                         uint64_t now_ms) const {
  Found found;
  RETURN_IF_ERROR(VisitIn(database_, place.shard, place.owner, from, [&](Timer timer) {
    if (timer.moment.due_ms > now_ms || found.due.size() == kHandOutAtOnce) {
      found.next_due_ms = timer.moment.due_ms;
      return false;
    }
    found.due.push_back(std::move(timer));
    return true;
  }));
  return found;
}

void Scheduler::HandOut(Owner& owner, const Found& found) {
  for (const Timer& timer : found.due) {
    if (!owner.handed.contains(timer.moment)) {
      if (!owner.receiver(timer)) {
        owner.full = true;
        owner.next_due_ms = timer.moment.due_ms;
        return;
      }
      owner.handed.insert(timer.moment);
    }
    owner.from = timer.moment;
    ++owner.from.id;
  }
  owner.next_due_ms = found.next_due_ms;
}

}  // namespace sluice::timer
