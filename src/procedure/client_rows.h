// The rows of a run whose client says which of them it has dealt with: what a consumer needs.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "json/value.h"

namespace sluice::procedure {

// Used by the thread of the run; `wake` is called by others.
class ClientRows {
 public:
  virtual ~ClientRows() = default;

  // Whether Push would not wait.
  virtual bool HasRoom() const = 0;
  // Error procedure.client_gone when nobody wants it any more.
  virtual Status Push(json::Value row) = 0;
  // The same, and waits until the client has acknowledged it. `look` is called now and then, and
  // ends the wait when it returns an error.
  virtual Status PushAndWait(json::Value row, const std::function<Status()>& look) = 0;

  // Since the start of the run.
  virtual uint64_t pushed() const = 0;
  virtual uint64_t acknowledged() const = 0;
  // The client has gone: nobody acknowledges any more.
  virtual bool gone() const = 0;
  // The procedure waits for an event: what was acknowledged before has been dealt with, so it need
  // not go on if the client goes.
  virtual void Rest() = 0;
  // What the first `rows` rows stood for is consumed for good.
  virtual void Confirm(uint64_t rows) = 0;
  // The client takes rows before it has acknowledged those before them.
  virtual bool runs_ahead() const = 0;
  // `wake` is called when there may be room, or more may have been acknowledged; null: no more.
  virtual void SetWake(std::function<void()> wake) = 0;
};

}  // namespace sluice::procedure
