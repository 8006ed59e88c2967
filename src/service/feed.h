// Follows a keyspace for one client: gives its changes to a receiver, which encodes and sends them,
// waits for commits when there are no more, and goes on until the client leaves, the keyspace is
// dropped, or all changes that were asked for have been given.
//
// Concurrency: everything on the exchange's thread, except OnChange, which may be called on a
// worker's while that thread waits for it.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "db/database.h"
#include "db/log.h"
#include "net/exchange.h"
#include "net/task.h"
#include "service/change_stream.h"

namespace sluice::service {

class FeedReceiver {
 public:
  virtual ~FeedReceiver() = default;
  // The feed begins at this place.
  virtual void OnReady(const FeedPosition& position) = 0;
  virtual void OnChange(const db::Change& change, const FeedPosition& position) = 0;
  // All changes that there were have been given; once.
  virtual void OnCaughtUp(const FeedPosition& position) = 0;
  // Bytes that wait for Send. Many of them end a read early.
  virtual size_t bytes() const = 0;
  // An error when the client has left.
  virtual net::Task<Status> Send() = 0;
  // The feed can't go on.
  virtual net::Task<> End(Status why) = 0;
};

enum class FeedUntil : uint8_t { kForever, kCaughtUp };

net::Task<> RunFeed(db::Database& database, net::Exchange& exchange,
                    std::unique_ptr<ChangeStream> stream, FeedUntil until, FeedReceiver& receiver);

}  // namespace sluice::service
