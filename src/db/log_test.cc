// The stored form of log rows is fixed: docs/formats/log.md.
#include "db/log.h"

#include "db/test_formats.h"

namespace sluice::db {
namespace {

std::string Row(const Change& change) {
  std::string row = EncodeLogHeader(change);
  if (change.after) row += EncodeDocument(*change.after);
  return row;
}

Change Update() {
  Change change;
  change.operation = Operation::kUpdate;
  change.keyspace = 3;
  change.key = "k";
  change.time_ms = 300;
  change.cas = 9;
  change.origin = "f";
  DocumentView document;
  document.sequence = 1;
  document.cas = 8;
  document.body = "1";
  change.before = document;
  document.sequence = 2;
  document.cas = 9;
  document.body = "2";
  change.after = document;
  return change;
}

TEST(LogFormat, Golden) {
  EXPECT_EQ(ToHex(LogKey(1, 2, 3)), "0001000000000000000200000003");
  EXPECT_EQ(ToHex(Row(Update())),
            "010203"
            "00000003"
            "016b"
            "ac02"
            "0000000000000009"
            "0166"
            "0c010201000000000000000831"
            "010202000000000000000932");
  Change deletion;
  deletion.operation = Operation::kDelete;
  deletion.keyspace = 3;
  deletion.key = "k";
  deletion.time_ms = 1;
  deletion.cas = 9;
  EXPECT_EQ(ToHex(Row(deletion)), "01030000000003016b01000000000000000900");
  deletion.last_of_keyspace = true;
  EXPECT_EQ(ToHex(Row(deletion)), "01030400000003016b01000000000000000900");
}

TEST(LogFormat, RoundTrip) {
  const std::string key = LogKey(1, 2, 3);
  const std::string row = Row(Update());
  Change read;
  ASSERT_TRUE(DecodeLogRow(key, row, &read).ok());
  EXPECT_EQ(read.sequence, 2u);
  EXPECT_EQ(read.n, 3u);
  EXPECT_EQ(read.operation, Operation::kUpdate);
  EXPECT_EQ(read.keyspace, 3u);
  EXPECT_EQ(read.key, "k");
  EXPECT_EQ(read.time_ms, 300u);
  EXPECT_EQ(read.cas, 9u);
  EXPECT_EQ(read.origin, "f");
  EXPECT_EQ(read.before->body, "1");
  EXPECT_EQ(read.after->body, "2");
}

TEST(LogFormat, RefusesWhatItDoesNotKnow) {
  const std::string key = LogKey(1, 2, 3);
  const auto decodes = [&](std::string_view row) {
    Change change;
    return DecodeLogRow(key, row, &change).ok();
  };
  Change change = Update();
  change.after->body = "";
  ExpectOnlyWhole(Row(change), decodes);
  change.after.reset();
  EXPECT_FALSE(decodes(Row(change) + "x")) << "bytes after the end";
  std::string row = Row(Update());
  row[1] = 5;
  EXPECT_FALSE(decodes(row)) << "an unknown operation";
  row[1] = 0;
  EXPECT_FALSE(decodes(row)) << "an unknown operation";
  row[1] = 1;
  row[2] = 8;
  EXPECT_FALSE(decodes(row)) << "an unknown bit";
  EXPECT_EQ(DecodeLogRow(key.substr(1), Row(Update()), &change).id(), "log.corrupt");
  EXPECT_EQ(DecodeLogRow(key + "x", Row(Update()), &change).id(), "log.corrupt");
}

}  // namespace
}  // namespace sluice::db
