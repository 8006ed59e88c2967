// Sends a consumer's events to its client as rows with the columns that the procedure has named,
// and consumes the events when the client has acknowledged their rows. Default consumers use it.
//
// A unit is an event, or all events of a transaction in one shard; its events are consumed
// together. A client that runs ahead gets further units before it has acknowledged the first ones,
// and one commit in each shard consumes all units that it has acknowledged meanwhile. Any other
// client gets the next unit after the last one is consumed.
//
// Belongs to the thread of the run.
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
  bool sentinel = false;        // a row after the events of each transaction marks its end
  uint64_t count = UINT64_MAX;  // events, after which it ends
  std::optional<uint64_t> poll_timeout_ms = std::nullopt;  // a row marks that no event came
};

class Forwarder {
 public:
  // The session's emitter has its columns already.
  Forwarder(Consumption& consumption, lua::Call& call, ForwardOptions options);
  ~Forwarder();

  // Returns when `count` events are consumed. An error when the client goes, another client takes
  // over, or the consumer is dropped.
  Status Run();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Unit {
    uint64_t last_row = 0;
    EventQueue::Origin origin;  // of its events
    size_t events = 0;
    size_t bytes = 0;
  };
  // The part of an event that a column shows.
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
  // Whether the event before the next one is the last of its transaction.
  Result<bool> IsLastOf(int64_t tid);
  Status PushRow(const TriggerEvent* event, std::string_view kind, const Value& values);
  void EndUnit();
  Status ConsumeAcknowledged();
  // Consumes the events of the first `count` units.
  Status Consume(size_t count);
  // Waits for a change when there is nothing to send and nothing to consume.
  Status Wait(uint64_t seen);

  Consumption& self_;
  lua::Call& call_;
  ClientRows& client_;
  const ForwardOptions options_;
  const lua::Zone zone_;
  std::vector<Source> sources_;  // by column

  std::deque<Unit> units_;  // sent and not consumed
  Unit open_;               // more of its events follow
  size_t bytes_ = 0;        // of all events that were sent and are not consumed
  uint64_t left_;           // events that may be sent
  uint64_t acknowledged_ = 0;
  Time progressed_;  // when something was last sent or acknowledged
};

}  // namespace sluice::procedure
