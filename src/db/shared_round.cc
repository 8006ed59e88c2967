#include "db/shared_round.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "db/group_contents.h"
#include "db/row_key.h"

namespace sluice::db {
namespace {

constexpr auto kRetryPause = std::chrono::milliseconds(100);

Status Unknown() {
  return Error(Code::kUnavailable, "commit.unknown",
               "a shard does not answer: the write may or may not have happened");
}

}  // namespace

Committer::Task DropPrepared(ShardId shard) {
  return [shard](Committer::TaskContext& context) {
    context.batch.Delete(storage::Family::kMeta, RowKey(shard, PreparedKey()));
    context.writes_are_noted = true;
    return OkStatus();
  };
}

Status FinishPrepared(ShardId shard, const PreparedGroup& prepared,
                      Committer::TaskContext& context) {
  ASSIGN_OR_RETURN(storage::Batch batch, storage::Batch::Parse(prepared.group));
  ASSIGN_OR_RETURN(const FoundInBatch found, FindInBatch(batch, shard));
  if (context.state.sequence != prepared.after + 1) {
    return Error(Code::kCorruption, "shared.corrupt",
                 "a prepared group of shard {} follows sequence {}, but the shard is at {}", shard,
                 prepared.after, context.state.sequence - 1);
  }
  batch.Delete(storage::Family::kMeta, RowKey(shard, PreparedKey()));
  context.batch = std::move(batch);
  context.state = found.state;
  return OkStatus();
}

SharedRound::SharedRound(SharedCommits& owner, SharedCommits::Items items)
    : owner_(owner), since_ns_(owner.clock_.MonotonicNs()) {
  for (auto& item : items) {
    Member& member = members_.emplace_back();
    member.result.writes.resize(item->commit.writes.size());
    member.parts =
        Divide(std::move(item->commit), static_cast<uint16_t>(owner_.committers_.size()));
    member.item = std::move(item);
    for (const auto& [shard, part] : member.parts) works_.try_emplace(shard);
  }
}

void SharedRound::Run() {
  Hold();
  RefuseUnheld();
  Check();
  Store();
  Release();
  AnswerAll();
}

// --- hold ---------------------------------------------------------------------------------------

void SharedRound::Hold() {
  {
    const MutexLock lock(mutex_);
    running_ = works_.size();
  }
  for (const auto& [shard, work] : works_) {
    owner_.committers_[shard]->Hold(
        [this, shard](Status status) { TaskEnded(shard, std::move(status)); });
  }
  (void)AwaitTasks();
  for (auto& [shard, work] : works_) work.held = work.status.ok();
}

void SharedRound::RefuseUnheld() {
  for (Member& member : members_) {
    for (const auto& [shard, part] : member.parts) {
      if (works_.at(shard).held) continue;
      member.result = {.status = works_.at(shard).status, .writes = {}};
      break;
    }
  }
}

// --- check --------------------------------------------------------------------------------------

void SharedRound::Check() {
  OpenGroups();
  for (Member& member : members_) {
    if (member.result.status.ok()) Add(member);
  }
}

// The lowest shard that a commit may write decides. In the others the row of the prepared group
// comes before the group.
void SharedRound::OpenGroups() {
  std::set<ShardId> written;
  for (const Member& member : members_) {
    if (!member.result.status.ok()) continue;
    for (const auto& [shard, part] : member.parts) {
      if (!part.OnlyReads()) written.insert(shard);
    }
  }
  if (!written.empty()) decider_ = *written.begin();
  catalog_ = owner_.catalog_();
  for (auto& [shard, work] : works_) {
    if (!work.held) continue;
    ShardState state = owner_.committers_[shard]->held_state();
    if (shard != decider_ && written.contains(shard)) ++state.sequence;
    work.group =
        owner_.committers_[shard]->NewHeldGroup(*catalog_, state, &work.batch, members_.size());
  }
}

void SharedRound::Add(Member& member) {
  std::vector<std::pair<ShardId, CommitResult>> checked;
  for (auto& [shard, part] : member.parts) {
    CommitResult result = works_.at(shard).group->Check(part.commit);
    if (!result.status.ok()) {
      AddResult(part, std::move(result), &member.result);
      for (const auto& [earlier, passed] : checked) works_.at(earlier).group->Reject();
      return;
    }
    checked.emplace_back(shard, std::move(result));
  }
  for (auto& [shard, result] : checked) {
    const CommitPart& part = member.parts.at(shard);
    Work& work = works_.at(shard);
    if (part.OnlyReads()) {
      work.group->Reject();
      continue;
    }
    work.group->Accept(part.commit);
    ++work.commits;
    work.writes += part.commit.writes.size();
    AddResult(part, std::move(result), &member.result);
  }
}

// --- store --------------------------------------------------------------------------------------

void SharedRound::Store() {
  const bool empty =
      std::ranges::none_of(works_, [](const auto& entry) { return entry.second.commits != 0; });
  if (empty || !Prepare()) return;
  owner_.cut_.Begin();
  if (Decide()) Finish();
  owner_.cut_.End();
}

bool SharedRound::Prepare() {
  id_ = owner_.stamps_.Next();
  for (auto& [shard, work] : works_) {
    if (shard == decider_ || work.commits == 0) continue;
    PreparedGroup& prepared = prepared_groups_[shard];
    prepared.id = id_;
    prepared.decided_in = decider_;
    prepared.after = owner_.committers_[shard]->held_state().sequence + 1;
    (void)work.group->Finish();
    prepared.group = work.batch.Serialize();
    Begin(shard, [shard, &prepared](Committer::TaskContext& context) {
      context.batch.Put(storage::Family::kMeta, RowKey(shard, PreparedKey()), prepared.Encode());
      context.writes_are_noted = true;
      return OkStatus();
    });
  }
  const Status done = AwaitTasks();
  for (const auto& [shard, prepared] : prepared_groups_) {
    works_.at(shard).prepared = works_.at(shard).status.ok();
  }
  if (!done.ok()) Abort(done);
  return done.ok();
}

// False if the groups do not take effect, or nobody knows that.
bool SharedRound::Decide() {
  Work& work = works_.at(decider_);
  std::vector<SharedId>& finished = owner_.finished_[decider_];
  Begin(decider_, [&](Committer::TaskContext& context) {
    context.writes_are_noted = true;
    if (work.commits != 0) {
      context.batch = std::move(work.batch);
      context.state = work.group->state();
      context.commits = work.commits;
      context.writes = work.writes;
    }
    for (const SharedId id : finished) {
      context.batch.Delete(storage::Family::kMeta, RowKey(decider_, DecisionKey(id)));
    }
    if (prepared_groups_.empty()) return OkStatus();
    context.batch.Put(storage::Family::kMeta, RowKey(decider_, DecisionKey(id_)),
                      Decision{Prepared()}.Encode());
    return OkStatus();
  });
  const Status done = AwaitTasks();
  if (done.ok()) {
    finished.clear();
    return true;
  }
  if (done.id() != "commit.unknown") {
    Abort(done);
    return false;
  }
  // The server stops before the journal answers. The next start finds out.
  for (Member& member : members_) {
    if (member.result.status.ok()) member.result = {.status = done, .writes = {}};
  }
  return false;
}

// The outcome is certain, so it is tried until it is done. A shard that has been lost is finished
// by its new owner, who needs the decision.
void SharedRound::Finish() {
  bool lost = false;
  bool logged = false;
  for (std::vector<ShardId> left = Prepared(); !left.empty(); left = Prepared()) {
    for (const ShardId shard : left) {
      Begin(shard, [this, shard](Committer::TaskContext& context) {
        const Work& work = works_.at(shard);
        context.writes_are_noted = true;
        context.commits = work.commits;
        context.writes = work.writes;
        return FinishPrepared(shard, prepared_groups_.at(shard), context);
      });
    }
    const Status done = AwaitTasks();
    for (const ShardId shard : left) {
      Work& work = works_.at(shard);
      const bool gone = work.status.id() == "commit.shard_lost";
      lost = lost || gone;
      work.prepared = !work.status.ok() && !gone;
    }
    if (done.ok() || Prepared().empty()) continue;
    if (!std::exchange(logged, true)) {
      log::Error("a decided commit can't be finished in a shard; the server tries until it can",
                 {{"error", done.ToString()}});
    }
    AnswerLate();
    const auto until = MachineClock().Now() + kRetryPause;
    if (owner_.end_.Wait(0, until) == Signal::Waited::kClosed) return;
  }
  if (!lost && !prepared_groups_.empty()) owner_.finished_[decider_].push_back(id_);
}

void SharedRound::Abort(const Status& why) {
  for (Member& member : members_) {
    if (member.result.status.ok()) member.result = {.status = why, .writes = {}};
  }
  // A row that stays is not in the way: without a decision it has no effect.
  for (const ShardId shard : Prepared()) {
    Begin(shard, DropPrepared(shard));
    works_.at(shard).prepared = false;
  }
  (void)AwaitTasks();
}

// --- release ------------------------------------------------------------------------------------

// A shard whose group is still prepared may take nothing else before it is finished.
void SharedRound::Release() {
  for (const auto& [shard, work] : works_) {
    if (!work.held) continue;
    owner_.committers_[shard]->Release(
        work.prepared ? Error(Code::kUnavailable, "commit.stopping", "the server is stopping")
                      : OkStatus());
  }
}

void SharedRound::AnswerAll() {
  for (Member& member : members_) {
    CommitCallback callback = std::exchange(member.item->callback, nullptr);
    if (callback) callback(std::move(member.result));
  }
}

// --- tasks --------------------------------------------------------------------------------------

std::vector<ShardId> SharedRound::Prepared() const {
  std::vector<ShardId> shards;
  for (const auto& [shard, work] : works_) {
    if (work.prepared) shards.push_back(shard);
  }
  return shards;
}

void SharedRound::Begin(ShardId shard, Committer::Task task) {
  {
    const MutexLock lock(mutex_);
    ++running_;
  }
  owner_.committers_[shard]->RunHeld(
      std::move(task), [this, shard](Status status) { TaskEnded(shard, std::move(status)); });
}

void SharedRound::TaskEnded(ShardId shard, Status status) {
  const MutexLock lock(mutex_);
  outcomes_[shard] = std::move(status);
  --running_;
  ended_.NotifyOne();
}

// The first failure of those that were begun.
Status SharedRound::AwaitTasks() {
  const uint64_t within_ms = owner_.options_.answer_within_ms;
  std::map<ShardId, Status> outcomes;
  {
    MutexLock lock(mutex_);
    const auto ended = [this]() REQUIRES(mutex_) { return running_ == 0; };
    if (within_ms != 0 && !told_late_) {
      const Clock::Time until(std::chrono::nanoseconds(since_ns_ + within_ms * 1'000'000));
      if (!ended_.WaitUntil(lock, owner_.clock_, until, ended)) {
        lock.Unlock();
        AnswerLate();
        lock.Lock();
      }
    }
    ended_.Wait(lock, ended);
    outcomes.swap(outcomes_);
  }
  Status failed;
  for (auto& [shard, status] : outcomes) {
    if (failed.ok()) failed = status;
    works_.at(shard).status = std::move(status);
  }
  return failed;
}

// Callers that have waited long enough hear that the outcome is not known.
void SharedRound::AnswerLate() {
  const uint64_t within_ms = owner_.options_.answer_within_ms;
  const uint64_t now = owner_.clock_.MonotonicNs();
  if (told_late_ || within_ms == 0 || now < since_ns_ + within_ms * 1'000'000) return;
  told_late_ = true;
  for (Member& member : members_) {
    CommitCallback callback = std::exchange(member.item->callback, nullptr);
    CommitResult result;
    result.status = member.result.status.ok() ? Unknown() : member.result.status;
    callback(std::move(result));
  }
}

}  // namespace sluice::db
