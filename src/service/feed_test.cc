// A client's feed, without a protocol.
#include "service/feed.h"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "net/test_exchange.h"

namespace sluice::service {
namespace {

// Keeps the events that it has got; each call of Send is a "|".
class Events final : public FeedReceiver {
 public:
  void OnReady(const FeedPosition& position) override { Add("ready", position); }
  void OnCaughtUp(const FeedPosition& position) override { Add("caught_up", position); }
  void OnChange(const db::Change& change, const FeedPosition& position) override {
    Add(std::string(db::OperationName(change.operation)) + " " + std::string(change.key), position);
  }
  size_t bytes() const override { return waiting_; }
  net::Task<Status> Send() override {
    if (waiting_ == 0) co_return OkStatus();
    waiting_ = 0;
    all_ += "|";
    if (on_send) on_send();
    co_return OkStatus();
  }
  net::Task<> End(Status why) override {
    all_ += std::string(why.id());
    co_return;
  }

  const std::string& all() const { return all_; }
  const FeedPosition& last() const { return last_; }

  std::function<void()> on_send;

 private:
  void Add(const std::string& event, const FeedPosition& position) {
    all_ += event + ";";
    waiting_ += event.size();
    last_ = position;
  }

  std::string all_;
  size_t waiting_ = 0;
  FeedPosition last_;
};

class FeedTest : public db::DatabaseTest {
 protected:
  std::unique_ptr<ChangeStream> Open(ChangeStreamOptions options) {
    options.keyspace = keyspace_;
    auto stream = ChangeStream::Open(*database_, std::move(options));
    EXPECT_TRUE(stream) << stream.error().ToString();
    return std::move(*stream);
  }
  void Run(ChangeStreamOptions options, FeedUntil until) {
    exchange_.Await(RunFeed(*database_, exchange_, Open(std::move(options)), until, events_));
  }

  static constexpr auto kEverything = ChangeStreamOptions::From::kEverything;
  net::TestExchange exchange_;
  Events events_;
};

TEST_F(FeedTest, EndsWhenCaughtUp) {
  ASSERT_TRUE(Put("a", "1").status.ok());
  Run({.from = kEverything}, FeedUntil::kCaughtUp);
  EXPECT_EQ(events_.all(), "ready;insert a;|caught_up;|");
}

TEST_F(FeedTest, EndsAfterTheLimitAndGoesOnFromThere) {
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(Put(key, "1").status.ok());
  const auto start = Open({})->position();
  for (const char* key : {"a", "a", "a"}) ASSERT_TRUE(Put(key, "2").status.ok());
  Run({.since = start, .limit = 2}, FeedUntil::kForever);
  EXPECT_EQ(events_.all(), "ready;update a;update a;|");
  const FeedPosition last = events_.last();
  ASSERT_TRUE(Delete("a").status.ok());
  Run({.since = last}, FeedUntil::kCaughtUp);
  EXPECT_EQ(events_.all(), "ready;update a;update a;|ready;update a;delete a;|caught_up;|");
}

TEST_F(FeedTest, ACommitWakesAFeedThatWaits) {
  std::thread writer;
  events_.on_send = [&] {
    if (writer.joinable()) return;
    // The feed waits for commits from now on; this one comes before or while it does.
    writer = std::thread([&] { EXPECT_TRUE(Put("a", "1").status.ok()); });
  };
  Run({.limit = 1}, FeedUntil::kForever);
  writer.join();
  EXPECT_EQ(events_.all(), "ready;caught_up;|insert a;|");
}

TEST_F(FeedTest, EndsWhenTheKeyspaceIsDropped) {
  events_.on_send = [&] { EXPECT_TRUE(database_->admin().DropBucket("b").ok()); };
  Run({}, FeedUntil::kForever);
  EXPECT_TRUE(events_.all().ends_with("|feed.keyspace_dropped")) << events_.all();
}

TEST_F(FeedTest, EndsWhenTheClientLeaves) {
  exchange_.AwaitAfterLeaving(
      RunFeed(*database_, exchange_, Open({}), FeedUntil::kForever, events_));
  EXPECT_EQ(events_.all(), "ready;caught_up;|");
}

TEST_F(FeedTest, APlaceOfAnotherKeyspaceIsGone) {
  FeedPosition position = Open({})->position();
  ++position.keyspace;
  const auto stream = ChangeStream::Open(*database_, {.keyspace = keyspace_, .since = position});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().id(), "feed.history_gone");
}

}  // namespace
}  // namespace sluice::service
