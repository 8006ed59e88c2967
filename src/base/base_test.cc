#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/quantity.h"
#include "base/random.h"
#include "base/status.h"

namespace sluice {
namespace {

TEST(Status, SaysIdMessageAndPlace) {
  const Status status = Error(Code::kNotFound, "thing.not_found", "no thing '{}'", "x")
                            .At({.file = "a.yaml", .line = 3, .column = 7})
                            .With("thing", "x");
  EXPECT_EQ(status.ToString(), "thing.not_found: no thing 'x' (a.yaml:3:7)");
  EXPECT_EQ(status.fields().at("thing"), "x");
  EXPECT_EQ(OkStatus().ToString(), "ok");
}

TEST(Status, MacrosPropagate) {
  const auto half = [](int value) -> Result<int> {
    if (value % 2 != 0) return Fail(Code::kInvalidArgument, "test.odd", "{} is odd", value);
    return value / 2;
  };
  const auto quarter = [&](int value) -> Result<int> {
    ASSIGN_OR_RETURN(const int once, half(value));
    ASSIGN_OR_RETURN(const int twice, half(once));
    return twice;
  };
  EXPECT_EQ(quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message(), "3 is odd");
}

TEST(Bytes, RoundTripAndTruncation) {
  std::string bytes;
  AppendU16(&bytes, 0xabcd);
  AppendVarint(&bytes, UINT64_MAX);
  AppendString(&bytes, "key");
  AppendU64(&bytes, 42);
  ByteReader reader(bytes);
  EXPECT_EQ(reader.U16(), 0xabcd);
  EXPECT_EQ(reader.Varint(), UINT64_MAX);
  EXPECT_EQ(reader.String(), "key");
  EXPECT_EQ(reader.U64(), 42u);
  EXPECT_TRUE(reader.ok() && reader.AtEnd());
  ByteReader cut(std::string_view(bytes).substr(0, bytes.size() - 1));
  cut.U16();
  cut.Varint();
  cut.String();
  EXPECT_EQ(cut.U64(), 0u);
  EXPECT_FALSE(cut.ok());
}

TEST(Bytes, PrefixEnd) {
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd("a\xff"), "b");
  EXPECT_EQ(PrefixEnd("\xff\xff"), "");
}

TEST(Quantity, ParsesAndFormats) {
  EXPECT_EQ(ParseDurationMs("250ms"), 250u);
  EXPECT_EQ(ParseDurationMs("2h"), 7'200'000u);
  EXPECT_EQ(ParseDurationMs("0"), 0u);
  EXPECT_EQ(ParseSizeBytes("20MiB"), 20u << 20);
  EXPECT_EQ(ParseSizeBytes("512"), 512u);
  EXPECT_EQ(FormatDurationMs(90'000), "90s");
  EXPECT_EQ(FormatSizeBytes(20 << 20), "20MiB");
  for (const char* bad : {"", "5", "s", "-1s", "1.5h", "5 s", "99999999999999999999s"}) {
    EXPECT_FALSE(ParseDurationMs(bad)) << bad;
  }
  EXPECT_FALSE(ParseSizeBytes("99999999999TiB"));
}

TEST(Log, Formats) {
  const auto line = [](log::Format format) {
    return log::FormatLine(format, 1'700'000'000'123, log::Level::kInfo, "a b",
                           {{"n", 5}, {"who", "x \"y\""}, {"on", true}});
  };
  EXPECT_EQ(line(log::Format::kText),
            "2023-11-14T22:13:20.123Z info a b n=5 who=\"x \\\"y\\\"\" on=true\n");
  EXPECT_EQ(line(log::Format::kJson),
            "{\"ts\":\"2023-11-14T22:13:20.123Z\",\"level\":\"info\",\"msg\":\"a b\",\"n\":5,"
            "\"who\":\"x \\\"y\\\"\",\"on\":true}\n");
}

TEST(Random, IdentifiersOfAllThreadsDiffer) {
  Mutex mutex;
  std::set<std::string> all;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        const std::string id = IdentifierBytes(16);
        const MutexLock lock(mutex);
        EXPECT_EQ(id.size(), 16u);
        EXPECT_TRUE(all.insert(id).second);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(IdentifierBytes(5000).size(), 5000u);
}

TEST(Random, Uuid) {
  const std::string uuid = NewUuid();
  EXPECT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(uuid, NewUuid());
}

TEST(Crc32, IsThatOfZlib) {
  EXPECT_EQ(Crc32(""), 0u);
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926u);
}

}  // namespace
}  // namespace sluice
