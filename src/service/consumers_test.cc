#include "service/consumers.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "net/test_exchange.h"
#include "procedure/test_procedures.h"
#include "service/test_principal.h"

namespace sluice::service {
namespace {

class ConsumersTest : public procedure::ProceduresTest {
 protected:
  void SetUp() override {
    ProceduresTest::SetUp();
    ASSERT_EQ(Ask("CREATE TABLE t (a int)"), "");
    ASSERT_EQ(Ask("CREATE DEFAULT LUA CONSUMER c ON (TABLE t FOR INSERT)"), "");
    consumers_.emplace(*engine_, *manager_);
  }
  void TearDown() override {
    consumers_.reset();
    ProceduresTest::TearDown();
  }
  static procedure::PollRequest Poll(std::string consumer, uint64_t timeout_ms) {
    procedure::PollRequest poll;
    poll.consumer = std::move(consumer);
    poll.timeout_ms = timeout_ms;
    return poll;
  }
  Result<Consumers::Events> Next(const auth::Principal& who, procedure::PollRequest poll) {
    return exchange_.Await(consumers_->Next(who, exchange_, std::move(poll)));
  }

  const std::shared_ptr<const auth::Principal> admin_ = Somebody("root", {"admin"});
  net::TestExchange exchange_;
  std::optional<Consumers> consumers_;
};

TEST_F(ConsumersTest, GivesEventsUntilTheyAreAcknowledged) {
  Ask("INSERT INTO t (a) VALUES (7)");
  const auto events = Next(*admin_, Poll("c", 30'000));
  ASSERT_TRUE(events) << events.error().ToString();
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ((*events)[0].inserted["a"].AsInt(), 7);
  EXPECT_EQ(Next(*admin_, Poll("c", 30'000))->size(), 1u);
  procedure::PollRequest acknowledge = Poll("c", 0);
  acknowledge.acknowledged = procedure::PlaceOfHexId(ToHex((*events)[0].id()));
  ASSERT_TRUE(acknowledge.acknowledged);
  EXPECT_EQ(Next(*admin_, std::move(acknowledge))->size(), 0u);
}

TEST_F(ConsumersTest, ThoseWhoMayReadAllItHearsOfHaveIt) {
  const auto stranger = Somebody("ann", {"reader:b"});
  EXPECT_EQ(Next(*stranger, Poll("c", 0)).error().id(), "consumer.not_found");
  EXPECT_TRUE(consumers_->List(*stranger).empty());
  EXPECT_EQ(Next(*admin_, Poll("none", 0)).error().id(), "consumer.not_found");
}

TEST_F(ConsumersTest, ListsThemWithTheirOwners) {
  ASSERT_EQ(consumers_->List(*admin_).size(), 1u);
  ASSERT_TRUE(Next(*admin_, Poll("c", 0)));
  const Consumers::Info info = consumers_->List(*admin_)[0];
  EXPECT_EQ(info.name, "c");
  EXPECT_EQ(info.sources, std::vector<std::string>{"t"});
  EXPECT_EQ(info.occupancy.client, "root/");
}

TEST_F(ConsumersTest, AClientThatLeavesEndsItsPoll) {
  const auto gone =
      exchange_.AwaitAfterLeaving(consumers_->Next(*admin_, exchange_, Poll("c", 300'000)));
  EXPECT_EQ(gone.error().id(), "http.cancelled");
}

TEST_F(ConsumersTest, StopAnswersWhatWaits) {
  consumers_->Stop();
  EXPECT_EQ(Next(*admin_, Poll("c", 300'000))->size(), 0u);
}

}  // namespace
}  // namespace sluice::service
