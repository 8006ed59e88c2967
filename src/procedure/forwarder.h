// Sends a consumer's events to its client, as rows with the columns that the procedure has named,
// and consumes them as the client acknowledges them: what a default consumer does.
//
// A unit is what is consumed at once: an event, or all events of a transaction. A client that runs
// ahead is sent further units while it is still at the first ones; what it has acknowledged
// meanwhile is one commit. Another client gets a unit when the one before is consumed.
//
// The thread of the run.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "lua/host.h"
#include "procedure/consumer_object.h"

namespace sluice::procedure {

struct ForwardOptions {
  bool batch = false;           // by transaction
  bool documents = false;       // rows have `key` and `document` instead of columns
  bool sentinel = false;        // after the events of a transaction a row says that these were all
  uint64_t count = UINT64_MAX;  // events, after which it ends
  std::optional<uint64_t> poll_timeout_ms = std::nullopt;  // then a row says that nothing happened
};

class Forwarder {
 public:
  // The emitter has its columns.
  Forwarder(Consumption& consumption, lua::Call& call, ForwardOptions options);
  ~Forwarder();

  // Until so many events are consumed; or the client goes, or another one takes over, or the
  // consumer is dropped, each of which is an error.
  Status Run();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Unit {
    uint64_t last_row = 0;
    size_t events = 0;
    size_t bytes = 0;
  };
  // What a column shows.
  enum class Source : uint8_t {
    kEvent,
    kId,
    kTid,
    kSequence,
    kEpoch,
    kKey,
    kDocument,
    kField,
  };

  bool MayPush() const;
  // Whether there was an event.
  Result<bool> PushEvent();
  // The one that was pushed is the last of its transaction.
  Result<bool> IsLastOf(int64_t tid);
  Status PushRow(const TriggerEvent* event, std::string_view kind, const Value& values);
  void EndUnit();
  Status ConsumeAcknowledged();
  Status Consume(size_t events);
  // Nothing came, and nothing can be sent: until something changes.
  Status Wait(uint64_t seen);

  Consumption& self_;
  lua::Call& call_;
  ClientRows& client_;
  const ForwardOptions options_;
  const lua::Zone zone_;
  std::vector<Source> sources_;  // by column

  std::deque<Unit> units_;  // sent and not consumed
  Unit open_;               // the one of which more follows
  size_t bytes_ = 0;        // of all that was sent and not consumed
  uint64_t left_;           // events that may be sent
  uint64_t acknowledged_ = 0;
  Time progressed_;  // when something was last sent or acknowledged
};

}  // namespace sluice::procedure
