#include "service/consumers.h"

#include <atomic>
#include <memory>
#include <utility>

#include "net/completion.h"
#include "net/run_blocking.h"
#include "service/authorization.h"

namespace sluice::service {

bool Consumers::MayConsume(const auth::Principal& who,
                           const procedure::TriggerDefinition& definition) const {
  const auto catalog = engine_.database().catalog();
  for (const procedure::TriggerSource& source : definition.sources) {
    const db::KeyspaceInfo* const keyspace = catalog->Find(source.keyspace);
    if (keyspace == nullptr) continue;  // it is being dropped
    if (!who.Allows(auth::Permission::kRead, keyspace->name.bucket)) return false;
  }
  return true;
}

std::vector<Consumers::Info> Consumers::List(const auth::Principal& who) const {
  std::vector<Info> list;
  for (const json::Value& queue : procedures_.ListQueues()) {
    Info info;
    info.name = queue["spname"].AsString();
    const auto live = procedures_.triggers().Find(info.name);
    if (!live || !(*live)->definition()->consumer) continue;
    if (!MayConsume(who, *(*live)->definition())) continue;
    for (const auto& source : (*live)->definition()->sources) info.sources.push_back(source.name);
    info.occupancy = (*live)->seats().occupancy();
    info.depth = queue["depth"];
    info.lag_s = queue["head_age"];
    list.push_back(std::move(info));
  }
  return list;
}

net::Task<Result<Consumers::Events>> Consumers::Next(const auth::Principal& who,
                                                     net::Exchange& exchange,
                                                     procedure::PollRequest poll) {
  const auto live = procedures_.triggers().Find(poll.consumer);
  // A consumer that the user may not use answers as one that does not exist.
  if (!live || !(*live)->definition()->consumer || !MayConsume(who, *(*live)->definition())) {
    co_return Fail(Code::kNotFound, "consumer.not_found", "there is no consumer '{}'",
                   poll.consumer);
  }
  // Clients of different users are different ones.
  poll.client = fmt::format("{}/{}", who.user, poll.client);
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  poll.cancelled = cancelled;
  net::Completion<Result<Events>> done(exchange);
  const bool taken =
      threads_.TryStart([this, done, poll = std::move(poll)] { done.Complete(polls_.Next(poll)); });
  if (!taken) co_return Unexpected(net::OverloadedError());
  Result<Result<Events>> events = co_await done;
  if (events) co_return std::move(*events);
  cancelled->store(true);
  co_return Unexpected(events.error());
}

}  // namespace sluice::service
