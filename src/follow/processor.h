// What a follower does with its events: the part that knows a language. BatchRunner calls it.
//
//   Begin
//   Run ... Run         until the batch is full or over
//   End
//   TakeCommit          what they have done, as one commit
//   Committed | Refused
//
// The thread that runs the events, except RequestStop and LetGo.
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

  // Nothing is held from the batch before.
  virtual void Begin() = 0;

  enum class Place : uint8_t { kFirst, kLater };  // in its batch
  enum class Ran : uint8_t {
    kDone,
    kDoneLast,  // done, and to be committed before another one runs
    kAlone,     // undone: it takes long, so it has to be the first of its batch
  };
  // Runs the event; what it does is held until TakeCommit. Error: the run failed, and nothing of it
  // is held.
  virtual Result<Ran> Run(const Event& event, Place place) = 0;
  // So much is held that it should be committed before another event runs.
  virtual bool full() const = 0;
  // The runs of the batch are over, however they ended.
  virtual void End() {}
  // After a run that failed: the runs before it can't be committed without it.
  virtual bool spoiled() const { return false; }

  // Everything that is held. The caller adds the shard and the moves of cursors.
  virtual db::Commit TakeCommit() = 0;
  virtual void Committed(std::span<const EventPtr> events) = 0;
  virtual void Refused(const Status& status) = 0;

  // The follower has these no longer: they are handled, or left to its next start. Any thread.
  virtual void LetGo(std::span<const EventPtr>) {}
  // There was nothing to do for long.
  virtual void Rest() {}
  // Ends the run that is under way; it fails then. Any thread.
  virtual void RequestStop() {}
};

}  // namespace sluice::follow
