// What each type of column makes of values: least, greatest, beyond, of another kind, NULL.
#include "db/row.h"

#include <gtest/gtest.h>

#include "db/datetime_text.h"
#include "json/print.h"

namespace sluice::db {
namespace {

using json::Value;

// The stored form as JSON, or the id of the error.
std::string Stored(ColumnType type, const Value& value, uint32_t length = 0,
                   bool not_null = false) {
  const TableSchema schema{.name = "t", .columns = {}};
  const TableColumn column{.name = "c", .type = type, .length = length, .not_null = not_null};
  const auto stored = StoreColumn(schema, column, value);
  return stored ? json::ToText(*stored) : stored.error().id();
}

// The text of the value that a column gives back.
std::string Loaded(ColumnType type, const Value& value, uint32_t length = 0) {
  const TableSchema schema{.name = "t", .columns = {}};
  const auto stored = StoreColumn(schema, {.name = "c", .type = type, .length = length}, value);
  return stored ? json::ToText(LoadColumn(type, *stored)) : stored.error().id();
}

TEST(Row, NullsAndNotNull) {
  for (int type = 0; type <= static_cast<int>(ColumnType::kDecimal128); ++type) {
    EXPECT_EQ(Stored(static_cast<ColumnType>(type), nullptr), "null");
    EXPECT_EQ(Stored(static_cast<ColumnType>(type), Value()), "null");
    EXPECT_EQ(Stored(static_cast<ColumnType>(type), nullptr, 0, true), "table.not_null");
    EXPECT_TRUE(LoadColumn(static_cast<ColumnType>(type), nullptr).is_null());
    EXPECT_TRUE(LoadColumn(static_cast<ColumnType>(type), Value()).is_null());
  }
}

struct IntegerRange {
  ColumnType type;
  int64_t least;
  int64_t most;
};

TEST(Row, IntegersHaveTheirRange) {
  for (const IntegerRange& range : {IntegerRange{ColumnType::kShort, INT16_MIN, INT16_MAX},
                                    IntegerRange{ColumnType::kUnsignedShort, 0, UINT16_MAX},
                                    IntegerRange{ColumnType::kInt, INT32_MIN, INT32_MAX},
                                    IntegerRange{ColumnType::kUnsignedInt, 0, UINT32_MAX}}) {
    EXPECT_EQ(Stored(range.type, range.least), std::to_string(range.least));
    EXPECT_EQ(Stored(range.type, range.most), std::to_string(range.most));
    EXPECT_EQ(Stored(range.type, range.least - 1), "table.out_of_range");
    EXPECT_EQ(Stored(range.type, range.most + 1), "table.out_of_range");
    EXPECT_EQ(Stored(range.type, 3.99), "3");
    EXPECT_EQ(Stored(range.type, "42"), "42");
    EXPECT_EQ(Stored(range.type, "42x"), "table.conversion");
    EXPECT_EQ(Stored(range.type, Value::Bytes("x")), "table.conversion");
    EXPECT_EQ(Stored(range.type, Value::EmptyArray()), "table.conversion");
  }
  EXPECT_EQ(Stored(ColumnType::kInt, -3.99), "-3");
  EXPECT_EQ(Stored(ColumnType::kLongLong, INT64_MIN), std::to_string(INT64_MIN));
  EXPECT_EQ(Stored(ColumnType::kLongLong, 0x1p63), "table.out_of_range");
  EXPECT_EQ(Stored(ColumnType::kUnsignedLongLong, Value::Unsigned(UINT64_MAX)),
            std::to_string(UINT64_MAX));
  EXPECT_EQ(Stored(ColumnType::kUnsignedLongLong, 0x1p64), "table.out_of_range");
  EXPECT_EQ(Stored(ColumnType::kUnsignedLongLong, -1), "table.out_of_range");
}

TEST(Row, Reals) {
  EXPECT_EQ(Stored(ColumnType::kDouble, 1.5e300), "1.5e+300");
  EXPECT_EQ(Stored(ColumnType::kDouble, "2.5"), "2.5");
  EXPECT_EQ(Stored(ColumnType::kDouble, "two"), "table.conversion");
  EXPECT_EQ(Stored(ColumnType::kFloat, 0.5), "0.5");
  EXPECT_EQ(Stored(ColumnType::kFloat, 1e39), "table.out_of_range");
}

TEST(Row, TextHasALength) {
  EXPECT_EQ(Stored(ColumnType::kCString, "abcd", 4), "\"abcd\"");
  EXPECT_EQ(Stored(ColumnType::kCString, "abcde", 4), "table.too_long");
  EXPECT_EQ(Stored(ColumnType::kCString, 12, 4), "\"12\"");
  EXPECT_EQ(Stored(ColumnType::kCString, Value(std::string("a\0b", 3)), 4), "table.conversion");
  EXPECT_EQ(Stored(ColumnType::kVutf8, "any length"), "\"any length\"");
  EXPECT_EQ(Stored(ColumnType::kVutf8, Value::Bytes("x")), "table.conversion");
}

TEST(Row, Bytes) {
  EXPECT_EQ(Stored(ColumnType::kByte, Value::Bytes("\xde\xad"), 2), "\"dead\"");
  EXPECT_EQ(Stored(ColumnType::kByte, Value::Bytes("\xde"), 2), "table.too_long");
  EXPECT_EQ(Stored(ColumnType::kByte, Value::Bytes("abc"), 2), "table.too_long");
  EXPECT_EQ(Stored(ColumnType::kByte, "dead", 2), "table.conversion");
  EXPECT_EQ(Stored(ColumnType::kBlob, Value::Bytes("")), "\"\"");
  EXPECT_EQ(LoadColumn(ColumnType::kBlob, "dead"), Value::Bytes("\xde\xad"));
}

TEST(Row, Datetimes) {
  EXPECT_EQ(Stored(ColumnType::kDatetime, "2019-12-19T131422.330 America/New_York"),
            "\"2019-12-19T18:14:22.330Z\"");
  EXPECT_EQ(Stored(ColumnType::kDatetime, "2019-12-19"), "\"2019-12-19T00:00:00.000Z\"");
  EXPECT_EQ(Stored(ColumnType::kDatetime, "2019-12-19 13:14+02:00"),
            "\"2019-12-19T11:14:00.000Z\"");
  EXPECT_EQ(Stored(ColumnType::kDatetime, 1576779262), "\"2019-12-19T18:14:22.000Z\"");
  EXPECT_EQ(Stored(ColumnType::kDatetimeUs, "1969-12-31T235959.999999Z"),
            "\"1969-12-31T23:59:59.999999Z\"");
  EXPECT_EQ(Stored(ColumnType::kDatetime, "2019-13-19"), "table.conversion");
  EXPECT_EQ(Stored(ColumnType::kDatetime, "2019-12-19T131422 Mars/Olympus"), "table.conversion");
  EXPECT_EQ(Stored(ColumnType::kDatetime, 1e12), "table.out_of_range");
  EXPECT_EQ(Loaded(ColumnType::kDatetime, 0), "\"1970-01-01T00:00:00.000Z\"");
}

TEST(Row, Intervals) {
  EXPECT_EQ(Stored(ColumnType::kIntervalYm, 5), "5");
  EXPECT_EQ(Stored(ColumnType::kIntervalYm, "-1-2"), "-14");
  EXPECT_EQ(Stored(ColumnType::kIntervalYm, "1-12"), "table.conversion");
  EXPECT_EQ(Stored(ColumnType::kIntervalDs, 1.5), "1500000");
  EXPECT_EQ(Stored(ColumnType::kIntervalDs, "1 02:03:04.5"), "93784500000");
  EXPECT_EQ(Stored(ColumnType::kIntervalDs, "1 24:00:00"), "table.conversion");
  const json::Interval months{json::Interval::Kind::kYearMonth, 5};
  EXPECT_EQ(Stored(ColumnType::kIntervalDs, months), "table.conversion");
  EXPECT_EQ(FormatInterval(months), "0-5");
  EXPECT_EQ(FormatInterval({json::Interval::Kind::kDaySecond, -93'784'500'000}), "-1 02:03:04.500");
}

TEST(Row, Decimals) {
  EXPECT_EQ(Stored(ColumnType::kDecimal32, "1.50"), "1.50");
  EXPECT_EQ(Stored(ColumnType::kDecimal32, 12345678), "1.234568e7");
  EXPECT_EQ(Stored(ColumnType::kDecimal64, "abc"), "table.conversion");
  EXPECT_EQ(Loaded(ColumnType::kDecimal128, "123456789012345678901234567890.1234"),
            "123456789012345678901234567890.1234");
}

TEST(Row, ErrorsNameTheColumn) {
  const TableSchema schema{.name = "people", .columns = {}};
  const TableColumn column{.name = "age", .type = ColumnType::kShort};
  EXPECT_EQ(StoreColumn(schema, column, "young").error().message(),
            "column 'age' of table 'people' (short) can't take the string \"young\"");
}

TEST(DatetimeText, ShowsTheZone) {
  const auto moment = ParseDatetime("2019-12-19T18:14:22.330Z");
  ASSERT_TRUE(moment);
  EXPECT_EQ(FormatDatetime(*moment, "America/New_York", 3),
            "2019-12-19T131422.330 America/New_York");
  EXPECT_EQ(FormatDatetime(*moment, "UTC", 6), "2019-12-19T181422.330000 UTC");
  EXPECT_TRUE(IsTimeZone("Europe/Paris"));
  EXPECT_FALSE(IsTimeZone("Nowhere"));
}

}  // namespace
}  // namespace sluice::db
