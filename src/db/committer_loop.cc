// The committer's thread: it takes commits, builds groups and gives them to the journal.
//
// Invariants:
//   1. in_flight_ is in the order of sequences, and each group's sequence follows from the one
//      before it: state_ is the state after the last of them, durable_ the one before the first.
//   2. A task is alone in in_flight_: it reads the store, which has only committed groups. So is
//      the holder of the shard.
//   3. Every append is answered before the groups in flight are given up. So nothing that was given
//      up can be stored later, when another group has taken its sequence.
//   4. Items that were taken are built before anything is settled: what can't be settled now takes
//      no new groups (CanTake).
//   5. The embedded journal answers within Append: in_flight_ is then empty whenever the thread
//      waits.
#include <algorithm>

#include "base/log.h"
#include "db/committer.h"
#include "db/group_contents.h"

namespace sluice::db {
namespace {

constexpr size_t kMaxGroupCommits = 4096;
constexpr size_t kMaxGroupBytes = 32ull << 20;
constexpr size_t kMaxGroupsInFlight = 4;
constexpr uint64_t kRecoveryIntervalNs = 1'000'000'000;

}  // namespace

void Committer::Loop() {
  while (true) {
    Items items = Await();
    AnswerLate();
    if (items.empty()) {
      Settle();
      const MutexLock lock(mutex_);
      if (CanEnd()) return;
    } else if (items.front()->held) {
      StartHold(*items.front());
    } else if (items.front()->task) {
      StartTask(std::move(items));
    } else {
      StartGroup(std::move(items));
    }
    Settle();
  }
}

// Waits until there is something to do, and takes the items that can be built now.
Committer::Items Committer::Await() {
  const MutexLock lock(mutex_);
  const auto something = [this]() REQUIRES(mutex_) { return CanSettle() || CanTake() || CanEnd(); };
  for (bool late = false; !late && !something();) {
    // What happens meanwhile may be something for later.
    const auto until = Deadline();
    const auto changed = [&]() REQUIRES(mutex_) { return something() || Deadline() != until; };
    if (until) {
      late = !wake_.WaitUntil(lock, clock_, *until, changed);
    } else {
      wake_.Wait(lock, changed);
    }
  }
  return !CanSettle() && CanTake() ? TakeItems() : Items();
}

// When the thread must look again although nothing has happened.
std::optional<Clock::Time> Committer::Deadline() const {
  uint64_t at_ns = UINT64_MAX;
  if (retry_ns_ != 0 && HeadIsAnswered()) at_ns = retry_ns_;
  if (options_.answer_within_ms != 0) {
    const auto waiting = std::ranges::find(in_flight_, false, &Pending::told_late);
    if (waiting != in_flight_.end()) {
      at_ns = std::min(at_ns, (*waiting)->since_ns + options_.answer_within_ms * 1'000'000);
    }
  }
  if (at_ns == UINT64_MAX) return std::nullopt;
  return Clock::Time(std::chrono::nanoseconds(at_ns));
}

// A group that is not committed takes all later ones with it, once these are answered, too.
bool Committer::HeadIsAnswered() const {
  if (in_flight_.empty() || !in_flight_.front()->answer) return false;
  if (in_flight_.front()->answer->outcome == Journal::Outcome::kCommitted) return true;
  return std::ranges::all_of(in_flight_, [](const auto& each) { return each->answer.has_value(); });
}

bool Committer::CanSettle() const {
  if (!HeadIsAnswered()) return false;
  return retry_ns_ == 0 || stopping_ || clock_.MonotonicNs() >= retry_ns_;
}

bool Committer::CanTake() const {
  if (held_) return held_task_ != nullptr && in_flight_.empty();
  if (queue_.empty()) return false;
  if (in_flight_.empty() || IsLate()) return true;
  if (in_flight_.size() >= kMaxGroupsInFlight || retry_ns_ != 0) return false;
  if (!queue_.front()->is_commit() || !in_flight_.back()->group) return false;
  return std::ranges::none_of(in_flight_, [](const auto& each) {
    return each->answer && each->answer->outcome != Journal::Outcome::kCommitted;
  });
}

bool Committer::CanEnd() const {
  return stopping_ && !held_ && queue_.empty() && in_flight_.empty();
}

// Either one task or holder, or commits up to the next one.
Committer::Items Committer::TakeItems() {
  Items items;
  if (held_) {
    items.push_back(std::move(held_task_));
    return items;
  }
  size_t bytes = 0;
  while (!queue_.empty() && items.size() < kMaxGroupCommits && bytes < kMaxGroupBytes) {
    if (!queue_.front()->is_commit() && !items.empty()) break;
    bytes += queue_.front()->bytes;
    items.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (!items.back()->is_commit()) break;
  }
  queued_bytes_ -= bytes;
  return items;
}

Committer::Pending& Committer::NewPending(Items items) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Pending>());
  in_flight_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  Pending& pending = *in_flight_.back();
  pending.items = std::move(items);
  return pending;
}

void Committer::StartGroup(Items items) {
  if (const Status taking = CheckTaking(); !taking.ok()) {
    ++groups_;
    Refuse(items, taking);
    return;
  }
  earlier_.clear();
  for (const auto& each : in_flight_) earlier_.insert(earlier_.begin(), &*each->group);
  Pending& pending = NewPending(std::move(items));
  pending.catalog = catalog_();
  Group::Context context = GroupContext(*pending.catalog, pending.items.size());
  context.earlier = earlier_;
  Group& group = pending.group.emplace(context, state_, &pending.batch);
  pending.results.reserve(pending.items.size());
  for (const auto& item : pending.items) pending.results.push_back(group.Add(item->commit));
  pending.committed.keyspaces = group.logged();
  pending.committed.followers = group.new_followers();
  if (group.state().sequence != state_.sequence) {
    pending.next = group.Finish();
    Append(pending);
    return;
  }
  // What it was refused for may be in a group that is on its way.
  pending.next = state_;
  pending.committed.sequence = state_.sequence;
  pending.since_ns = clock_.MonotonicNs();
  OnAnswer(pending, {});
}

void Committer::StartTask(Items items) {
  Pending& pending = NewPending(std::move(items));
  if (const Status run = RunTask(pending); !run.ok()) {
    AnswerTask(pending, run);
    Recycle(std::move(in_flight_.back()));
    in_flight_.pop_back();
    return;
  }
  Append(pending);
}

// Nothing is on its way.
void Committer::StartHold(Item& item) {
  const Status taking = CheckTaking();
  if (taking.ok()) {
    const MutexLock lock(mutex_);
    held_ = true;
  }
  item.held(taking);
}

Status Committer::RunTask(Pending& pending) {
  RETURN_IF_ERROR(CheckTaking());
  pending.next = state_;
  ++pending.next.sequence;
  TaskContext context{pending.next, pending.batch, {}};
  RETURN_IF_ERROR(pending.items.front()->task(context));
  pending.published = std::move(context.published);
  pending.commits = context.commits;
  pending.writes = context.writes;
  pending.next.clock = stamps_.Next();
  pending.batch.Put(storage::Family::kMeta, ShardState::Key(shard_), pending.next.Encode());
  // Announced before the rows are removed: a feed reads rows and then asks which rows are gone,
  // and the answer must include all that it could have missed (feed.cc).
  AnnounceGone(pending.next);
  if (!context.writes_are_noted) last_writes_.NoteAll(pending.next.sequence);
  return OkStatus();
}

void Committer::Append(Pending& pending) {
  pending.appended = true;
  if (pending.group) {
    pending.committed.sequence = pending.next.sequence;
    pending.committed.meta_keys = MetaKeysOf(pending.batch, shard_);
  } else {
    pending.committed = FindInBatch(pending.batch, shard_)->committed;
  }
  const Sequence expected = state_.sequence;
  state_ = pending.next;
  pending.since_ns = clock_.MonotonicNs();
  journal_.Append(shard_, expected, pending.next.sequence, &pending.batch,
                  [this, &pending](Journal::Answer answer) {
                    append_ns_ += clock_.MonotonicNs() - pending.since_ns;
                    OnAnswer(pending, std::move(answer));
                  });
}

// Any thread. After the mutex is free, the group and the committer may be gone.
void Committer::OnAnswer(Pending& pending, Journal::Answer answer) {
  const MutexLock lock(mutex_);
  pending.answer = std::move(answer);
  wake_.NotifyOne();
}

// Whether groups can be built now. After a failed append, tries at most once a second to go on.
Status Committer::CheckTaking() {
  if (IsLate()) {
    return Error(Code::kOverloaded, "commit.not_stored",
                 "the write was not stored: the journal does not answer; try again shortly");
  }
  Status failure;
  {
    const MutexLock lock(mutex_);
    failure = failure_;
  }
  if (failure.ok() || left_) return failure;
  const uint64_t now = clock_.MonotonicNs();
  if (now - last_recovery_ns_ < kRecoveryIntervalNs) return failure;
  last_recovery_ns_ = now;
  if (!journal_.Recover().ok()) return failure;
  log::Info("the shard takes writes again", {{"shard", shard_}});
  SetFailure(OkStatus());
  return OkStatus();
}

void Committer::Refuse(const Items& items, const Status& status) {
  for (const auto& item : items) {
    ++rejected_;
    CommitResult result;
    result.status = status;
    item->callback(std::move(result));
  }
}

}  // namespace sluice::db
