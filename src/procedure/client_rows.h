// The rows of a run whose client acknowledges them. Consumers need this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/signal.h"
#include "base/status.h"
#include "json/value.h"

namespace sluice::procedure {

// Belongs to the thread of the run.
class ClientRows {
 public:
  virtual ~ClientRows() = default;

  // Whether Push would not wait.
  virtual bool HasRoom() const = 0;
  // Gives the client a row. Error procedure.client_gone when the client has gone.
  virtual Status Push(json::Value row) = 0;
  // Gives the client a row and waits until the client has acknowledged it. `look` is called every
  // now and then; an error from it ends the wait.
  virtual Status PushAndWait(json::Value row, const std::function<Status()>& look) = 0;

  // Numbers of rows since the start of the run.
  virtual uint64_t pushed() const = 0;
  virtual uint64_t acknowledged() const = 0;
  // Whether the client has gone. Then it acknowledges nothing any more.
  virtual bool gone() const = 0;
  // Call it before the procedure waits for an event. It says that the procedure has handled all
  // acknowledgements, so that it may be stopped at once when the client goes.
  virtual void Rest() = 0;
  // The events of the first `rows` rows are durably consumed.
  virtual void Confirm(uint64_t rows) = 0;
  // Whether the client takes rows before it has acknowledged the earlier ones.
  virtual bool runs_ahead() const = 0;
  // `signal` is woken when there may be room for a row, when rows were acknowledged, and when the
  // client has gone; null for no more.
  virtual void SetWake(std::shared_ptr<Signal> signal) = 0;
};

}  // namespace sluice::procedure
