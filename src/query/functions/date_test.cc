#include "query/functions/test_context.h"

namespace sluice::query {
namespace {

constexpr int64_t kMillis = 1'700'000'000'123;  // 2023-11-14T22:13:20.123Z, a Tuesday

Value List(std::initializer_list<Value> items) { return Value::Array(items); }

TEST(DateFunctions, Now) {
  TestContext context;
  CheckCalls(context, {
                          {"now_millis", {}, kMillis},
                          {"clock_millis", {}, 1'700'000'001'456},
                          {"now_str", {}, "2023-11-14T22:13:20.123Z"},
                          {"now_local", {"YYYY"}, "2023"},
                          {"now_utc", {"1111-11-11"}, "2023-11-14"},
                          {"now_tz", {"Asia/Kolkata"}, "2023-11-15T03:43:20.123+05:30"},
                          {"now_tz", {"Nowhere/Atall"}, nullptr},
                          {"clock_str", {}, "2023-11-14T22:13:21.456Z"},
                          {"clock_local", {}, "2023-11-14T22:13:21.456Z"},
                          {"clock_utc", {"%H:%M"}, "22:13"},
                          {"clock_tz", {"America/New_York", "%T %Z"}, "17:13:21 EST"},
                      });
  context.zone = "Europe/Paris";
  CheckCalls(context, {
                          {"now_str", {}, "2023-11-14T23:13:20.123+01:00"},
                          {"now_utc", {}, "2023-11-14T22:13:20.123Z"},
                          {"millis_to_str", {kMillis}, "2023-11-14T23:13:20.123+01:00"},
                          {"str_to_millis", {"2023-11-14T23:13:20.123"}, kMillis},
                      });
  context.statement_us += 456;
  CheckCalls(context, {{"now_millis", {}, 1'700'000'000'123.456}});
  EXPECT_EQ(FindFunction("now_str")->volatility, Volatility::kStatement);
  EXPECT_EQ(FindFunction("clock_str")->volatility, Volatility::kVolatile);
  for (const char* name : {"now_str", "now_utc", "clock_str", "clock_utc"}) {
    CheckUnknowns(name, {"%Y"}, {1});
  }
  for (const char* name : {"now_tz", "clock_tz"}) CheckUnknowns(name, {"UTC", "%Y"}, {1, 2});
}

TEST(DateFunctions, Conversions) {
  CheckCalls({
      {"millis_to_utc", {kMillis}, "2023-11-14T22:13:20.123Z"},
      {"millis_to_utc", {kMillis, "2006-01-02"}, "2023-11-14"},
      {"millis_to_utc", {0}, "1970-01-01T00:00:00Z"},
      {"millis_to_utc", {-1}, "1969-12-31T23:59:59.999Z"},
      {"millis_to_utc", {1e300}, nullptr},
      {"millis_to_utc", {1500}, "1970-01-01T00:00:01.5Z"},
      {"millis_to_tz", {kMillis, "Europe/Paris"}, "2023-11-14T23:13:20.123+01:00"},
      {"millis_to_zone_name", {kMillis, "UTC", "%Y"}, "2023"},
      {"millis_to_tz", {kMillis, "No/Zone"}, nullptr},
      {"str_to_millis", {"2023-11-14T22:13:20.123Z"}, kMillis},
      {"millis", {"2023-11-14 23:13:20.123+0100"}, kMillis},
      {"str_to_millis", {"2023-11-14T23:13:20+01"}, 1'700'000'000'000},
      {"str_to_millis", {"2023/11/14"}, 1'699'920'000'000},
      {"str_to_millis", {"14.11.2023", "%d.%m.%Y"}, 1'699'920'000'000},
      {"str_to_millis", {"2023-02-29"}, nullptr},
      {"str_to_millis", {"2023-13-01"}, nullptr},
      {"str_to_millis", {"2023-11-14T24:00:00Z"}, nullptr},
      {"str_to_millis", {"yesterday"}, nullptr},
      {"str_to_millis", {""}, nullptr},
      {"str_to_millis", {"2024-02-29"}, 1'709'164'800'000},
      {"str_to_utc", {"2023-11-14T23:13:20+01:00"}, "2023-11-14T22:13:20Z"},
      {"str_to_utc", {"14/11/2023 05+09:00", "DD/MM/YYYY hhTZD"}, "13/11/2023 20Z"},
      {"str_to_utc", {"14/11/2023", "DD/MM/YYYY", "%F"}, "2023-11-14T00:00:00Z"},
      {"str_to_tz", {"2023-11-14T22:13:20Z", "Asia/Kolkata"}, "2023-11-15T03:43:20+05:30"},
      {"str_to_zone_name", {"14/11/2023", "UTC", "DD/MM/YYYY"}, "14/11/2023"},
      {"str_to_tz", {"14/11/2023", "UTC", "DD/MM/YYYY", "YYYY"}, "2023"},
      {"date_format_str", {"2023-11-14T22:13:20Z", "1111-11-11"}, "2023-11-14"},
      {"date_format_str", {"2023-11-14", "DD Mon YY"}, "14 Nov 23"},
      {"date_format_str", {"14.11.23", "%d.%m.%y", "%Y-%m-%d"}, "2023-11-14"},
  });
  for (const char* name : {"millis_to_str", "millis_to_utc"}) {
    CheckUnknowns(name, {kMillis, "%Y"}, {"x", 1});
  }
  CheckUnknowns("millis_to_tz", {kMillis, "UTC", "%Y"}, {"x", 1, 2});
  CheckUnknowns("str_to_millis", {"2023", "%Y"}, {1, 2});
  CheckUnknowns("str_to_utc", {"2023", "%Y", "%Y"}, {1, 2, 3});
  CheckUnknowns("str_to_tz", {"2023", "UTC", "%Y", "%Y"}, {1, 2, 3, 4});
  CheckUnknowns("date_format_str", {"2023", "%Y", "%Y"}, {1, 2, 3});
}

TEST(DateFunctions, Add) {
  const char* date = "2023-01-31T10:20:30Z";
  CheckCalls({
      {"date_add_str", {date, 1, "day"}, "2023-02-01T10:20:30Z"},
      {"date_add_str", {date, 1, "month"}, "2023-03-03T10:20:30Z"},
      {"date_add_str", {date, 1, "calendar_month"}, "2023-02-28T10:20:30Z"},
      {"date_add_str", {"2023-02-28", 1, "calendar_month"}, "2023-03-31"},
      {"date_add_str", {date, -1, "QUARTER"}, "2022-10-31T10:20:30Z"},
      {"date_add_str", {date, 2, "week"}, "2023-02-14T10:20:30Z"},
      {"date_add_str", {date, -5, "year"}, "2018-01-31T10:20:30Z"},
      {"date_add_str", {date, 1, "decade"}, "2033-01-31T10:20:30Z"},
      {"date_add_str", {date, 1, "century"}, "2123-01-31T10:20:30Z"},
      {"date_add_str", {date, -1, "millennium"}, "1023-01-31T10:20:30Z"},
      {"date_add_str", {date, 14, "hour"}, "2023-02-01T00:20:30Z"},
      {"date_add_str", {date, -21, "minute"}, "2023-01-31T09:59:30Z"},
      {"date_add_str", {date, 31, "second"}, "2023-01-31T10:21:01Z"},
      {"date_add_str", {"2023-01-31 10:20:30.5", 600, "millisecond"}, "2023-01-31 10:20:31.1"},
      {"date_add_str", {"2023/01/31", 1, "day"}, "2023/02/01"},
      {"date_add_str", {date, 1.0, "day"}, "2023-02-01T10:20:30Z"},
      {"date_add_str", {date, 1.5, "day"}, nullptr},
      {"date_add_str", {date, 1, "fortnight"}, nullptr},
      {"date_add_str", {date, 1, "dow"}, nullptr},
      {"date_add_str", {date, 9e18, "year"}, nullptr},
      {"date_add_str", {date, 9'000, "year"}, nullptr},
      {"date_add_str", {date, 9e14, "millisecond"}, nullptr},
      {"date_add_millis", {kMillis, 1, "day"}, kMillis + 86'400'000},
      {"date_add_millis", {kMillis, -124, "millisecond"}, kMillis - 124},
      {"date_add_millis", {kMillis, 1, "x"}, nullptr},
  });
  CheckUnknowns("date_add_str", {date, 1, "day"}, {1, "1", 2});
  CheckUnknowns("date_add_millis", {kMillis, 1, "day"}, {"x", "1", 2});
  TestContext paris;
  paris.zone = "Europe/Paris";
  // The night in which the clock is put forward: a day is not 24 hours.
  CheckCalls(paris,
             {
                 {"date_add_str", {"2023-03-25T12:00:00", 1, "day"}, "2023-03-26T12:00:00"},
                 {"date_add_str", {"2023-03-25T12:00:00", 24, "hour"}, "2023-03-26T13:00:00"},
                 {"date_add_str", {"2023-03-25T02:30:00", 1, "day"}, "2023-03-26T03:00:00"},
             });
}

TEST(DateFunctions, Difference) {
  const char *a = "2023-03-01T00:10:00Z", *b = "2021-12-31T23:50:00Z";
  CheckCalls({
      {"date_diff_str", {a, b, "year"}, 2},
      {"date_diff_str", {b, a, "year"}, -2},
      {"date_diff_str", {a, b, "quarter"}, 5},
      {"date_diff_str", {a, b, "month"}, 15},
      {"date_diff_str", {a, b, "week"}, 60},
      {"date_diff_str", {a, b, "day"}, 425},
      {"date_diff_str", {a, b, "hour"}, 425 * 24 - 23},
      {"date_diff_str", {a, b, "minute"}, (425 * 24 - 23) * 60 - 40},
      {"date_diff_str", {a, b, "decade"}, 0},
      {"date_diff_str", {a, b, "dow"}, nullptr},
      {"date_diff_str", {a, "x", "day"}, nullptr},
      {"date_diff_abs_str", {b, a, "day"}, 425},
      {"date_diff_millis", {kMillis, kMillis - 1, "millisecond"}, 1},
      {"date_diff_millis", {0, kMillis, "day"}, -19675},
      {"date_diff_abs_millis", {0, kMillis, "day"}, 19675},
      {"date_diff_millis", {0, -1, "second"}, 1},
  });
  for (const char* name : {"date_diff_str", "date_diff_abs_str"}) {
    CheckUnknowns(name, {a, b, "day"}, {1, 2, 3});
  }
  for (const char* name : {"date_diff_millis", "date_diff_abs_millis"}) {
    CheckUnknowns(name, {1, 2, "day"}, {"x", "y", 3});
  }
}

TEST(DateFunctions, Truncate) {
  const char* date = "2023-11-14T22:13:20.123+05:30";
  CheckCalls({
      {"date_trunc_str", {date, "millennium"}, "2000-01-01T00:00:00+05:30"},
      {"date_trunc_str", {"1999-05-05", "century"}, "1900-01-01"},
      {"date_trunc_str", {date, "decade"}, "2020-01-01T00:00:00+05:30"},
      {"date_trunc_str", {date, "year"}, "2023-01-01T00:00:00+05:30"},
      {"date_trunc_str", {date, "quarter"}, "2023-10-01T00:00:00+05:30"},
      {"date_trunc_str", {date, "month"}, "2023-11-01T00:00:00+05:30"},
      {"date_trunc_str", {date, "week"}, "2023-11-12T00:00:00+05:30"},
      {"date_trunc_str", {date, "iso_week"}, "2023-11-13T00:00:00+05:30"},
      {"date_trunc_str", {date, "day"}, "2023-11-14T00:00:00+05:30"},
      {"date_trunc_str", {date, "hour"}, "2023-11-14T22:00:00+05:30"},
      {"date_trunc_str", {date, "minute"}, "2023-11-14T22:13:00+05:30"},
      {"date_trunc_str", {date, "second"}, "2023-11-14T22:13:20+05:30"},
      {"date_trunc_str", {date, "millisecond"}, date},
      {"date_trunc_str", {date, "timezone"}, nullptr},
      {"date_trunc_str", {"14.11.2023", "month", "DD.MM.YYYY"}, "01.11.2023"},
      {"date_trunc_millis", {kMillis, "day"}, 1'699'920'000'000},
      {"date_trunc_millis", {kMillis, "nonsense"}, nullptr},
  });
  CheckUnknowns("date_trunc_str", {date, "day", "%F"}, {1, 2, 3});
  CheckUnknowns("date_trunc_millis", {kMillis, "day"}, {"x", 2});
}

TEST(DateFunctions, Parts) {
  const char* date = "2021-01-03T22:13:20.123-03:30";  // a Sunday in the last ISO week of 2020
  CheckCalls({
      {"date_part_str", {date, "millennium"}, 3},
      {"date_part_str", {date, "century"}, 21},
      {"date_part_str", {date, "decade"}, 202},
      {"date_part_str", {date, "year"}, 2021},
      {"date_part_str", {date, "quarter"}, 1},
      {"date_part_str", {date, "month"}, 1},
      {"date_part_str", {date, "week"}, 1},
      {"date_part_str", {date, "iso_week"}, 53},
      {"date_part_str", {date, "iso_year"}, 2020},
      {"date_part_str", {date, "iso_dow"}, 7},
      {"date_part_str", {date, "day"}, 3},
      {"date_part_str", {date, "doy"}, 3},
      {"date_part_str", {date, "day_of_year"}, 3},
      {"date_part_str", {date, "dow"}, 0},
      {"date_part_str", {date, "day_of_week"}, 0},
      {"date_part_str", {date, "hour"}, 22},
      {"date_part_str", {date, "minute"}, 13},
      {"date_part_str", {date, "second"}, 20},
      {"date_part_str", {date, "millisecond"}, 123},
      {"date_part_str", {date, "timezone"}, -12600},
      {"date_part_str", {date, "timezone_hour"}, -3},
      {"date_part_str", {date, "timezone_minute"}, -30},
      {"date_part_str", {date, "eon"}, nullptr},
      {"date_part_str", {"x", "day"}, nullptr},
      {"date_part_str", {"10:11", "minute"}, 11},
      {"date_part_millis", {kMillis, "hour"}, 22},
      {"date_part_millis", {kMillis, "day", "Asia/Kolkata"}, 15},
      {"date_part_millis", {kMillis, "day", "Moon/Base"}, nullptr},
      {"weekday_str", {date}, "Sunday"},
      {"weekday_str", {"x"}, nullptr},
      {"weekday_millis", {kMillis}, "Tuesday"},
      {"weekday_millis", {kMillis, "Asia/Kolkata"}, "Wednesday"},
      {"weekday_millis", {-1}, "Wednesday"},
  });
  CheckUnknowns("date_part_str", {date, "day"}, {1, 2});
  CheckUnknowns("date_part_millis", {kMillis, "day", "UTC"}, {"x", 2, 3});
  CheckUnknowns("weekday_str", {date}, {1});
  CheckUnknowns("weekday_millis", {kMillis, "UTC"}, {"x", 1});
}

TEST(DateFunctions, Durations) {
  CheckCalls({
      {"duration_to_str", {5'402'500'000'000}, "1h30m2.5s"},
      {"duration_to_str", {5'402'500'000'000, "Seconds"}, "5402.500"},
      {"duration_to_str", {1.5}, "1ns"},
      {"duration_to_str", {1, "lunar"}, nullptr},
      {"str_to_duration", {"1h30m2.5s"}, 5'402'500'000'000},
      {"str_to_duration", {"1:30", "interval"}, 90'000'000'000},
      {"str_to_duration", {"1:30", "legacy"}, nullptr},
      {"str_to_duration", {"soon"}, nullptr},
  });
  CheckUnknowns("duration_to_str", {1, "legacy"}, {"x", 1});
  CheckUnknowns("str_to_duration", {"1s", "legacy"}, {1, 2});
}

TEST(DateFunctions, Ranges) {
  CheckCalls({
      {"date_range_str", {"2023-01-01", "2023-01-03", "day"}, List({"2023-01-01", "2023-01-02"})},
      {"date_range_str",
       {"2023-03-01", "2023-01-01", "month", -1},
       List({"2023-03-01", "2023-02-01"})},
      {"date_range_str", {"2023-01-01", "2023-03-01", "month", -1}, List({})},
      {"date_range_str", {"2023-01-01", "2023-03-01", "month", 0}, List({"2023-01-01"})},
      {"date_range_str", {"2023-01-01", "2023-01-01", "day"}, List({})},
      {"date_range_str", {"2023-01-01", "2023-03-01", "day", 1.5}, nullptr},
      {"date_range_str", {"2023-01-01", "2023-03-01", "age"}, nullptr},
      {"date_range_millis", {0, 3000, "second"}, List({0, 1000, 2000})},
      {"date_range_millis", {0, 3000, "second", 2}, List({0, 2000})},
  });
  CheckUnknowns("date_range_str", {"2023-01-01", "2023-01-03", "day", 1}, {1, 2, 3, "4"});
  CheckUnknowns("date_range_millis", {0, 1000, "day", 1}, {"x", "y", 3, "4"});
  TestContext context;
  Call(context, "date_range_str", {"2023-01-01", "2024-01-01", "millisecond"});
  EXPECT_EQ(CodeOf(context.failure), QueryCode::kRange);
  TestContext memory;
  Call(memory, "date_range_str", {"2023-01-01", "2023-01-02", "millisecond", 10});
  EXPECT_EQ(CodeOf(memory.failure), QueryCode::kMemoryQuota);
}

}  // namespace
}  // namespace sluice::query
