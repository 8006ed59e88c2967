#include "follow/shard_gate.h"

#include <future>
#include <optional>

#include <gtest/gtest.h>

namespace sluice::follow {
namespace {

constexpr db::ShardId kOne = 1;
constexpr db::ShardId kTwo = 2;

TEST(ShardGate, LetsThreadsInWhileItIsOpen) {
  ShardGate gate;
  EXPECT_FALSE(gate.Enter(kOne));
  gate.Open(kOne);
  EXPECT_TRUE(gate.Enter(kOne));
  EXPECT_FALSE(gate.Enter(kTwo));
  EXPECT_EQ(gate.Enter(kOne)->shard(), kOne);
  gate.Close(kOne);
  EXPECT_FALSE(gate.Enter(kOne));
}

TEST(ShardGate, EachTimeThatItIsOpenIsATenureOfItsOwn) {
  ShardGate gate;
  gate.Open(kOne);
  const ShardGate::TenurePtr first = gate.Enter(kOne)->tenure();
  EXPECT_EQ(gate.Enter(kOne)->tenure(), first);
  gate.Close(kOne);
  EXPECT_TRUE(first->over());
  gate.Open(kOne);
  EXPECT_NE(gate.Enter(kOne)->tenure(), first);
  EXPECT_FALSE(gate.Enter(kOne)->tenure()->over());
}

TEST(ShardGate, WaitsForThoseInsideAndForNobodyElse) {
  ShardGate gate;
  gate.Open(kOne);
  gate.Open(kTwo);
  std::optional<ShardGate::Pass> first = gate.Enter(kOne);
  std::optional<ShardGate::Pass> second = gate.Enter(kOne);
  const std::optional<ShardGate::Pass> other = gate.Enter(kTwo);
  gate.Close(kOne);
  EXPECT_TRUE(first->tenure()->over());
  EXPECT_FALSE(other->tenure()->over());
  auto empty = std::async(std::launch::async, [&] { gate.AwaitEmpty(kOne); });
  first.reset();
  EXPECT_EQ(empty.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  second.reset();
  empty.get();
}

}  // namespace
}  // namespace sluice::follow
