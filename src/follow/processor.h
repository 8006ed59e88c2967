// Runs a follower's events: the part that knows a language. BatchRunner calls it in this order:
//
//   Begin
//   Run ... Run         until the batch is full or over
//   End
//   TakeCommit          the effects of the runs, as one commit
//   Committed | Refused
// The events of a batch are of one shard.
//
// Concurrency: the thread that runs the events, except RequestStop and LetGo.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "db/commit.h"
#include "follow/event.h"

namespace sluice::follow {

class Processor {
 public:
  virtual ~Processor() = default;

  // Begins a batch. No effects of an earlier batch are held.
  virtual void Begin() = 0;

  enum class Place : uint8_t { kFirst, kLater };  // in its batch
  enum class Ran : uint8_t {
    kDone,
    kDoneLast,  // done, and to be committed before another one runs
    kAlone,     // undone: it takes long, so it has to be the first of its batch
  };
  // Runs the event and holds its effects until TakeCommit. After an error none of them is held.
  virtual Result<Ran> Run(const Event& event, Place place) = 0;
  // Whether the held effects should be committed before another event runs.
  virtual bool full() const = 0;
  // The runs of the batch are over, however they ended.
  virtual void End() {}
  // After a run that failed: the runs before it can't be committed without it.
  virtual bool spoiled() const { return false; }

  // All held effects. The caller adds the shard and the moves of cursors.
  virtual db::Commit TakeCommit() = 0;
  virtual void Committed(std::span<const EventPtr> events) = 0;
  virtual void Refused(const Status& status) = 0;

  // The follower drops these events: they are handled, or its next start reads them again. Any
  // thread.
  virtual void LetGo(std::span<const EventPtr>) {}
  // Called after a long time without events.
  virtual void Rest() {}
  // Ends the current run, which then fails, and all later ones. Any thread.
  virtual void RequestStop() {}
  // While nothing runs: later runs go on, and know nothing of the batch that was ended.
  virtual void ForgetStop() {}
};

}  // namespace sluice::follow
