// The stored form of a function's failed events is fixed: docs/formats/failures.md.
#include "function/failed_event.h"

#include "base/bytes.h"
#include "db/test_database.h"

namespace sluice::function {
namespace {

class FailedEventTest : public db::DatabaseTest {
 protected:
  static Event Update() {
    Event event;
    event.operation = db::Operation::kUpdate;
    event.key = "k";
    event.body = "{}";
    event.xattrs = R"({"x":1})";
    event.previous = "1";
    event.cas = 18'000'000'000'000'000'000u;
    event.sequence = 7;
    event.expiry_ms = 9000;
    return event;
  }
  Result<EventAgain> Again(const FailedEvent& kept) {
    return AgainOf(*database_, {.event = kept.text}, kept.payload);
  }
};

TEST_F(FailedEventTest, Golden) {
  const FailedEvent update = KeptEvent(Update(), {.bucket = "b"});
  EXPECT_EQ(update.text,
            R"({"operation":"update","keyspace":"b","key":"k","cas":"18000000000000000000",)"
            R"("sequence":7,"datatype":"json","expiry_ms":9000})");
  EXPECT_EQ(ToHex(update.payload), "027b7d077b2278223a317d0131");
  Event expire = Update();
  expire.operation = db::Operation::kExpire;
  const FailedEvent expired = KeptEvent(expire, {"b", "s", "c"});
  EXPECT_EQ(expired.text,
            R"({"operation":"expire","keyspace":"b.s.c","key":"k","cas":"18000000000000000000",)"
            R"("sequence":7})");
  EXPECT_EQ(ToHex(expired.payload), "000000");
  const FailedEvent timer = KeptEvent(timer::Timer{"cb", "r", {1, 2}, "[1]"});
  EXPECT_EQ(timer.text, R"({"operation":"timer","callback":"cb","reference":"r"})");
  EXPECT_EQ(timer.payload, "[1]");
}

TEST_F(FailedEventTest, ComesBackAsTheHandlerSawIt) {
  const auto again = Again(KeptEvent(Update(), {.bucket = "b"}));
  ASSERT_TRUE(again) << again.error().ToString();
  const Event& event = std::get<Event>(*again);
  const Event expected = Update();
  EXPECT_EQ(event.keyspace, keyspace_);
  EXPECT_EQ(event.operation, expected.operation);
  EXPECT_EQ(event.key, expected.key);
  EXPECT_EQ(event.body, expected.body);
  EXPECT_EQ(event.xattrs, expected.xattrs);
  EXPECT_EQ(event.previous, expected.previous);
  EXPECT_EQ(event.cas, expected.cas);
  EXPECT_EQ(event.sequence, expected.sequence);
  EXPECT_EQ(event.expiry_ms, expected.expiry_ms);

  Event binary = Update();
  binary.datatype = db::Datatype::kBinary;
  binary.body = std::string("\0\xff", 2);
  const auto bytes = Again(KeptEvent(binary, {.bucket = "b"}));
  EXPECT_EQ(std::get<Event>(*bytes).body, binary.body);
  EXPECT_EQ(std::get<Event>(*bytes).datatype, db::Datatype::kBinary);

  const auto timer = Again(KeptEvent(timer::Timer{"cb", "r", {1, 2}, "[1]"}));
  EXPECT_EQ(std::get<timer::Timer>(*timer), (timer::Timer{"cb", "r", {}, "[1]"}));
}

TEST_F(FailedEventTest, DamageIsNoticed) {
  const FailedEvent kept = KeptEvent(Update(), {.bucket = "b"});
  EXPECT_EQ(Again({kept.text, kept.payload.substr(1)}).error().id(), "failure.corrupt");
  EXPECT_EQ(Again({R"({"operation":"dance"})", ""}).error().id(), "failure.corrupt");
  EXPECT_FALSE(Again({"no JSON", ""}));
}

}  // namespace
}  // namespace sluice::function
