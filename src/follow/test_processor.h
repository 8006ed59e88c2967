// A processor for tests of followers: an event writes the document of its key, and its body says
// what else happens. Events come from a FakeLog.
//
//   ""       nothing special          "left out"  no event is made of the change
//   "fail"   the run fails            "last"      it ends its batch
//   "alone"  it has to run alone      "slow"      it takes 5 ms
//   "unreadable"  the change can't be made an event
//   "hangs"  the run takes until it is asked to stop, and fails then
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "follow/event.h"
#include "follow/failure_policy.h"
#include "follow/processor.h"

namespace sluice::follow {

inline Status FakeFailure() { return Error(Code::kInvalidArgument, "procedure.failed", "no"); }

struct FakeEvent : Event {
  std::string key;
  std::string body;
};

inline Result<EventPtr> MakeFakeEvent(const db::Change& change, const db::CursorState& after) {
  const std::string_view body = change.after->body;
  if (body == "left out") return EventPtr();
  if (body == "unreadable") return Unexpected(FakeFailure());
  auto event = std::make_unique<FakeEvent>();
  event->after = after;
  event->key = change.key;
  event->body = body;
  event->bytes = change.key.size();
  return EventPtr(std::move(event));
}

// Tries again without end, after growing pauses.
class FakePolicy final : public FailurePolicy {
 public:
  Verdict OnTrouble(Trouble trouble, const Status& status) override {
    troubles.emplace_back(trouble, std::string(status.id()));
    return end ? Verdict::End() : Verdict::Again(pauses.Next());
  }
  void OnPassed() override { pauses.Reset(); }

  std::vector<std::pair<Trouble, std::string>> troubles;
  GrowingPauses pauses{1};
  bool end = false;
};

class FakeProcessor final : public Processor {
 public:
  explicit FakeProcessor(JumpingClock& clock) : clock_(clock) {}

  void Begin() override { keys_.clear(); }
  Result<Ran> Run(const Event& event, Place place) override {
    const auto& fake = static_cast<const FakeEvent&>(event);
    {
      const std::lock_guard lock(mutex_);
      ran_.push_back(fake.key);
      if (broken_.contains(fake.key)) return Unexpected(FakeFailure());
    }
    if (fake.body == "hangs") {
      stopped_.wait(false);
      return Unexpected(FakeFailure());
    }
    if (fake.body == "fail") return Unexpected(FakeFailure());
    if (fake.body == "alone" && place != Place::kFirst) return Ran::kAlone;
    if (fake.body == "slow") clock_.Advance(std::chrono::milliseconds(5));
    keys_.push_back(fake.key);
    return fake.body == "last" ? Ran::kDoneLast : Ran::kDone;
  }
  bool full() const override { return keys_.size() >= most; }
  db::Commit TakeCommit() override {
    db::Commit commit;
    for (const std::string& key : keys_) commit.writes.push_back(db::PutWrite(1, key, {}));
    return commit;
  }
  void Committed(std::span<const EventPtr>) override {}
  void Refused(const Status& status) override {
    const std::lock_guard lock(mutex_);
    refused_.emplace_back(status.id());
  }
  void LetGo(std::span<const EventPtr> events) override {
    const std::lock_guard lock(mutex_);
    let_go_ += events.size();
  }
  void Rest() override {
    const std::lock_guard lock(mutex_);
    ++rests_;
  }

  void RequestStop() override {
    stopped_ = true;
    stopped_.notify_all();
  }
  void ForgetStop() override { stopped_ = false; }

  // Runs of this key fail until it is mended.
  void Break(const std::string& key) {
    const std::lock_guard lock(mutex_);
    broken_.insert(key);
  }
  void Mend(const std::string& key) {
    const std::lock_guard lock(mutex_);
    broken_.erase(key);
  }
  // Keys of all runs, in order.
  std::vector<std::string> ran() const {
    const std::lock_guard lock(mutex_);
    return ran_;
  }
  std::vector<std::string> refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  size_t let_go() const {
    const std::lock_guard lock(mutex_);
    return let_go_;
  }
  size_t rests() const {
    const std::lock_guard lock(mutex_);
    return rests_;
  }
  size_t most = SIZE_MAX;  // writes that make it full

 private:
  JumpingClock& clock_;
  std::atomic<bool> stopped_ = false;
  std::vector<std::string> keys_;  // of the batch
  mutable std::mutex mutex_;
  std::set<std::string> broken_;      // guarded by mutex_
  std::vector<std::string> ran_;      // guarded by mutex_
  std::vector<std::string> refused_;  // guarded by mutex_
  size_t let_go_ = 0;                 // guarded by mutex_
  size_t rests_ = 0;                  // guarded by mutex_
};

}  // namespace sluice::follow
