#include "service/feed.h"

#include <utility>

#include "net/run_blocking.h"
#include "service/commit_signal.h"

namespace sluice::service {
namespace {

struct FeedBudget {
  size_t rows;
  size_t bytes;
};
constexpr FeedBudget kWorkerBudget = {1000, 128 << 10};
// At the end of the log the changes are in memory and few: no worker is asked to read them.
constexpr FeedBudget kTailBudget = {64, 32 << 10};

Result<size_t> ReadChanges(ChangeStream& stream, const FeedBudget& budget, FeedReceiver& receiver) {
  return stream.Read(budget.rows, [&](const db::Change& change, const FeedPosition& position) {
    receiver.OnChange(change, position);
    return receiver.bytes() < budget.bytes;
  });
}

net::Task<Result<size_t>> ReadOnWorker(net::Exchange& exchange, ChangeStream& stream,
                                       FeedReceiver& receiver) {
  Result<Result<size_t>> given = co_await net::RunBlocking(
      exchange, [&] { return ReadChanges(stream, kWorkerBudget, receiver); });
  if (!given) co_return Unexpected(given.error());
  co_return std::move(*given);
}

}  // namespace

net::Task<> RunFeed(db::Database& database, net::Exchange& exchange,
                    std::unique_ptr<ChangeStream> stream, FeedUntil until, FeedReceiver& receiver) {
  CommitSignal signal(database);
  bool caught_up = false;
  receiver.OnReady(stream->position());
  while (true) {
    signal.Clear();
    const bool tail = caught_up && stream->InLog();
    const Result<size_t> given = tail ? ReadChanges(*stream, kTailBudget, receiver)
                                      : co_await ReadOnWorker(exchange, *stream, receiver);
    if (!given) co_return co_await receiver.End(given.error());
    if (*given == 0 && !caught_up) {
      caught_up = true;
      if (!stream->finished()) receiver.OnCaughtUp(stream->position());
    }
    if (!(co_await receiver.Send()).ok()) co_return;
    if (stream->finished() || (until == FeedUntil::kCaughtUp && caught_up)) co_return;
    if (*given != 0) continue;
    if (database.catalog()->Find(stream->position().keyspace) == nullptr) {
      co_return co_await receiver.End(
          Error(Code::kNotFound, "feed.keyspace_dropped", "the collection was dropped"));
    }
    if (!(co_await signal.Wait(exchange)).ok()) co_return;
  }
}

}  // namespace sluice::service
