// The stored form of failures is fixed: docs/formats/failures.md.
#include "failure/failure.h"

#include "db/test_formats.h"

namespace sluice::failure {
namespace {

const Failure kFailure{.id = {.stamp = 258},
                       .key = "k",
                       .event = "{}",
                       .problem = {.kind = "exception",
                                   .type = "Error",
                                   .message = "no",
                                   .stack = "at",
                                   .line = 3,
                                   .column = 300},
                       .attempts = 2,
                       .edits = 1,
                       .first_ms = 5,
                       .last_ms = 6,
                       .payload_bytes = 7};

TEST(FailureFormat, Golden) {
  EXPECT_EQ(ToHex(OwnerPrefix("o")), "6f00");
  EXPECT_EQ(ToHex(ListPrefix("o")), "6f0066");
  EXPECT_EQ(ToHex(FailureKey("o", 258)), "6f00660000000000000102");
  EXPECT_EQ(ToHex(PayloadKey("o", 258)), "6f00700000000000000102");
  EXPECT_EQ(ToHex(EncodeFailure(kFailure)),
            "01016b027b7d09657863657074696f6e054572726f72026e6f0261740"
            "3ac020201050607");
  EXPECT_EQ(ToHex(EncodePayload("ab")), "016162");
  EXPECT_EQ(*DecodeFailure(FailureKey("o", 258), EncodeFailure(kFailure)), kFailure);
  EXPECT_EQ(*DecodePayload(EncodePayload("ab")), "ab");
  EXPECT_EQ(*OwnerOf(PayloadKey("o", 1)), "o");
  EXPECT_EQ(RetryOwner("o"), "retry:o");
  EXPECT_EQ(RetryReference(258), "258");
  EXPECT_EQ(*StampOfReference("258"), 258u);
}

TEST(FailureFormat, RefusesWhatItDoesNotKnow) {
  const std::string key = FailureKey("o", 1);
  db::ExpectOnlyWhole(EncodeFailure(kFailure),
                      [&](std::string_view row) { return DecodeFailure(key, row).has_value(); });
  EXPECT_FALSE(DecodeFailure(key, EncodeFailure(kFailure) + "x"));
  EXPECT_EQ(DecodeFailure("short", EncodeFailure(kFailure)).error().id(), "failure.corrupt");
  db::ExpectOnlyWhole(EncodePayload(""),
                      [](std::string_view row) { return DecodePayload(row).has_value(); });
  EXPECT_EQ(OwnerOf("nobody").error().id(), "failure.corrupt");
  for (const char* reference : {"", "x", "1x", "-1"}) EXPECT_FALSE(StampOfReference(reference));
}

TEST(FailureIds, AreTexts) {
  EXPECT_EQ(ToText({.stamp = 258}), "258");
  EXPECT_EQ(ToText({.stamp = 258, .shard = 3}), "258-3");
  for (const FailureId id : {FailureId{258, 0}, FailureId{258, 3}, FailureId{UINT64_MAX, 255}}) {
    EXPECT_EQ(*ParseFailureId(ToText(id)), id);
  }
  for (const char* text :
       {"", "x", "1x", "-1", "1-", "1-x", "1-2-3", "-", "1-65536", "18446744073709551616"}) {
    const auto id = ParseFailureId(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().id(), "failure.bad_id");
  }
  EXPECT_LT((FailureId{1, 3}), (FailureId{2, 0}));
}

TEST(FailureFormat, SortsByFirstTime) {
  EXPECT_LT(FailureKey("o", 255), FailureKey("o", 256));
  EXPECT_LT(FailureKey("o", UINT64_MAX), FailureKey("p", 0));
}

TEST(FailureFormat, LongTextsAreCutBetweenCharacters) {
  Problem problem;
  problem.message.assign(kMaxMessageBytes - 1, 'a');
  problem.message += "ä";
  problem.stack = std::string(kMaxStackBytes, 's');
  const Problem kept = Shortened(problem);
  EXPECT_EQ(kept.message, std::string(kMaxMessageBytes - 1, 'a') + "…");
  EXPECT_EQ(kept.stack, problem.stack);
}

}  // namespace
}  // namespace sluice::failure
