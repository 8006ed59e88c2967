// What becomes of groups that were given to the journal: they are completed in order, or given up
// together.
#include <algorithm>

#include "base/log.h"
#include "db/committer.h"

namespace sluice::db {
namespace {

constexpr uint64_t kAskIntervalNs = 100'000'000;
constexpr std::string_view kNotStored = "commit.not_stored";

Status NotStored() {
  return Error(Code::kOverloaded, std::string(kNotStored),
               "the write was not stored: the journal could not be reached; try again");
}

Status Unknown() {
  return Error(Code::kUnavailable, "commit.unknown",
               "the journal does not answer: the write may or may not have happened");
}

Status ShardLost(ShardId shard) {
  return Error(Code::kUnavailable, "commit.shard_lost",
               "shard {} belongs to another server now; the write was not stored here", shard);
}

}  // namespace

// Goes on until the oldest group has no outcome.
void Committer::Settle() {
  while (const auto outcome = HeadOutcome()) {
    if (!SettleHead(*outcome)) return;
  }
  if (lost_ && !left_) StepDown();
}

// The outcome of the oldest group, when it can be acted on.
std::optional<Journal::Outcome> Committer::HeadOutcome() {
  if (in_flight_.empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  if (!CanSettle()) return std::nullopt;
  return in_flight_.front()->answer->outcome;
}

// False when it must be tried again later.
bool Committer::SettleHead(Journal::Outcome outcome) {
  if (outcome == Journal::Outcome::kCommitted) return Complete();
  if (IsUnclear()) return AskJournal();
  NothingIsStored();
  return true;
}

bool Committer::Complete() {
  Pending& head = *in_flight_.front();
  if (head.appended && !journal_.WritesStore()) {
    const bool last_try = stopping();
    if (const Status written = store_.Write(&head.batch, storage::Sync::kNo); !written.ok()) {
      if (retry_ns_ == 0) {
        log::Error("a committed group can't be written to the store; the shard waits",
                   {{"shard", shard_}, {"error", written.ToString()}});
      }
      SetFailure(written);
      retry_ns_ = clock_.MonotonicNs() + kAskIntervalNs;
      (void)store_.Resume();
      if (last_try) Abandon();
      return false;
    }
  }
  if (retry_ns_ != 0) SetFailure(OkStatus());
  retry_ns_ = 0;
  std::unique_ptr<Pending> done = std::move(in_flight_.front());
  in_flight_.pop_front();
  if (done->appended) Install(done->next, done->batch, done->committed);
  // Listeners come first: when a writer gets its answer, the followers are awake, and the memory of
  // modules is as their rows say.
  if (done->group) {
    writes_ += done->group->writes();
    ++groups_;
    NotifyListeners(done->committed);
    AnswerCommits(*done);
  } else {
    commits_ += done->commits;
    writes_ += done->writes;
    if (done->published) done->published();
    NotifyListeners(done->committed);
    AnswerTask(*done, OkStatus());
  }
  Recycle(std::move(done));
  return true;
}

// The oldest group is not committed, and all are answered. Whether some group may be stored all the
// same.
bool Committer::IsUnclear() const {
  return std::ranges::any_of(in_flight_, [](const auto& each) {
    return each->answer->outcome == Journal::Outcome::kUnknown ||
           each->answer->outcome == Journal::Outcome::kCommitted;
  });
}

// Replaces the outcomes by what the journal has. False if it does not say.
bool Committer::AskJournal() {
  const bool last_try = stopping();
  const Result<Journal::Position> found = journal_.Last(shard_);
  if (!found) {
    if (retry_ns_ == 0) {
      log::Error(
          "it is not known whether a commit group is durable; the shard waits for its journal",
          {{"shard", shard_}, {"error", found.error().ToString()}});
    }
    SetFailure(found.error());
    retry_ns_ = clock_.MonotonicNs() + kAskIntervalNs;
    if (last_try) Abandon();
    return false;
  }
  if (retry_ns_ != 0) SetFailure(OkStatus());
  retry_ns_ = 0;
  if (found->last < durable_.sequence || found->last > state_.sequence) {
    log::Error("the journal does not end with this server's groups",
               {{"shard", shard_}, {"last", found->last}, {"expected", durable_.sequence}});
    lost_ = true;
  }
  lost_ = lost_ || found->lost;
  for (const auto& each : in_flight_) {
    Journal::Answer& answer = *each->answer;
    if (each->next.sequence <= found->last) {
      answer.outcome = Journal::Outcome::kCommitted;
    } else if (lost_) {
      answer.outcome = Journal::Outcome::kRefused;
    } else if (answer.outcome != Journal::Outcome::kFailed) {
      answer = {Journal::Outcome::kFailed, NotStored()};
    }
  }
  return true;
}

// No group in flight is stored, nor ever will be.
void Committer::NothingIsStored() {
  const Journal::Answer why = *in_flight_.front()->answer;
  if (why.outcome == Journal::Outcome::kRefused) {
    StepDown();
    return;
  }
  if (why.status.id() != kNotStored) {
    log::Error("a commit group could not be made durable; the shard takes no writes until it can",
               {{"shard", shard_}, {"error", why.status.ToString()}});
    last_recovery_ns_ = clock_.MonotonicNs();
    SetFailure(why.status);
  }
  GiveUp(why.status);
}

void Committer::GiveUp(const Status& status) {
  state_ = durable_;
  AnnounceGone(durable_);
  std::deque<std::unique_ptr<Pending>> gone;
  gone.swap(in_flight_);
  for (auto& pending : gone) {
    if (pending->group) {
      ++groups_;
      for (CommitResult& result : pending->results) result = {.status = status, .writes = {}};
      AnswerCommits(*pending);
    } else {
      AnswerTask(*pending, status);
    }
    Recycle(std::move(pending));
  }
}

void Committer::StepDown() {
  log::Error("another server has taken the shard; this one takes no more writes for it",
             {{"shard", shard_}});
  lost_ = left_ = true;
  SetFailure(ShardLost(shard_));
  GiveUp(ShardLost(shard_));
}

// The committer ends before it is known what is stored.
void Committer::Abandon() {
  left_ = true;
  SetFailure(Error(Code::kUnavailable, "commit.stopping", "the server is stopping"));
  GiveUp(Unknown());
}

void Committer::SetFailure(const Status& status) {
  const MutexLock lock(mutex_);
  failure_ = status;
}

bool Committer::stopping() {
  const MutexLock lock(mutex_);
  return stopping_;
}

// Callers that have waited long enough hear that the outcome is not known. A task waits on: what it
// publishes belongs to its caller.
void Committer::AnswerLate() {
  if (options_.answer_within_ms == 0 || in_flight_.empty()) return;
  const uint64_t now = clock_.MonotonicNs();
  for (const auto& pending : in_flight_) {
    if (pending->told_late || now < pending->since_ns + options_.answer_within_ms * 1'000'000) {
      continue;
    }
    pending->told_late = true;
    if (!pending->group) continue;
    std::vector<CommitResult> results = pending->results;
    for (CommitResult& result : pending->results) {
      // A commit that was refused is not in the group.
      result = {.status = result.status.ok() ? Unknown() : NotStored(), .writes = {}};
    }
    AnswerCommits(*pending);
    pending->results = std::move(results);
  }
}

// Only callers that have not been answered before.
void Committer::AnswerCommits(Pending& pending) {
  for (size_t i = 0; i < pending.items.size(); ++i) {
    CommitCallback callback = std::move(pending.items[i]->callback);
    pending.items[i]->callback = nullptr;
    if (!callback) continue;
    ++(pending.results[i].status.ok() ? commits_ : rejected_);
    callback(std::move(pending.results[i]));
  }
}

void Committer::AnswerTask(Pending& pending, const Status& status) {
  pending.items.front()->task_done(status);
}

void Committer::Recycle(std::unique_ptr<Pending> pending) {
  pending->group.reset();
  pending->catalog.reset();
  pending->items.clear();
  pending->results.clear();
  pending->batch.Clear();
  pending->committed = {};
  pending->published = nullptr;
  pending->commits = pending->writes = 0;
  pending->appended = false;
  pending->told_late = false;
  pending->answer.reset();
  spare_.push_back(std::move(pending));
}

}  // namespace sluice::db
