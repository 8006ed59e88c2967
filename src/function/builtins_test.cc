// Built-in functions of handlers: Base64, and the ways to run statements.
#include "function/handler_fixture.h"

namespace sluice::function {
namespace {

using BuiltinsTest = HandlerTest;

TEST_F(BuiltinsTest, Base64) {
  EXPECT_EQ(Run("return couchbase.base64Encode('Hä');"), R"("SMOk")");
  EXPECT_EQ(Run("return couchbase.base64Encode(new Uint8Array([0, 255]).buffer);"), R"("AP8=")");
  EXPECT_EQ(Run("return couchbase.base64Encode(new Uint8Array([9, 0, 255]).subarray(1));"),
            R"("AP8=")");
  EXPECT_EQ(Run("return couchbase.base64Encode({a: 1});"), R"("eyJhIjoxfQ==")");
  EXPECT_EQ(Run("return couchbase.base64Decode('SMOk');"), R"("Hä")");
  EXPECT_EQ(Run("return couchbase.base64Encode(undefined);"), R"("dW5kZWZpbmVk")");
  EXPECT_TRUE(Run("return couchbase.base64Decode('*');").starts_with(R"("EventingError: )"));
  EXPECT_EQ(Run("return couchbase.base64Decode(1);"),
            R"("EventingError: base64Decode requires a string")");
}

TEST_F(BuiltinsTest, Base64OfNumbers) {
  EXPECT_EQ(Run("return couchbase.base64Float32ArrayEncode([1, -2.5]);"), R"("AACAPwAAIMA=")");
  EXPECT_EQ(Run("return couchbase.base64Float32ArrayDecode('AACAPwAAIMA=');"), "[1,-2.5]");
  EXPECT_EQ(Run("return couchbase.base64Float64ArrayEncode([1]);"), R"("AAAAAAAA8D8=")");
  EXPECT_EQ(Run("return couchbase.base64Float64ArrayEncode(new Float64Array([1]));"),
            R"("AAAAAAAA8D8=")");
  EXPECT_EQ(Run("return couchbase.base64Float64ArrayDecode('AAAAAAAA8D8=');"), "[1]");
  EXPECT_EQ(Run("return couchbase.base64Float32ArrayEncode(['1']);"),
            R"("EventingError: base64Float32ArrayEncode requires an array of numbers")");
  EXPECT_EQ(
      Run("return couchbase.base64Float64ArrayDecode('AACAPw==');"),
      R"("EventingError: base64Float64ArrayDecode requires numbers of 8 bytes, got 4 bytes")");
}

TEST_F(BuiltinsTest, Statements) {
  EXPECT_EQ(Run("return [...couchbase.analyticsQuery('SELECT RAW $a + 1', {a: 1})];"), "[2]");
  EXPECT_TRUE(Run("return couchbase.analyticsQuery('DELETE FROM dst');")
                  .starts_with(R"("AnalyticsError: )"));
  EXPECT_TRUE(Run("return couchbase.analyticsQuery('SELEC');").starts_with(R"("AnalyticsError: )"));
  EXPECT_EQ(Run("return couchbase.searchQuery('index', {});"),
            "\"SearchError: Search is not available: this server has no full-text indexes. Use "
            "SQL++, such as LIKE, CONTAINS() or REGEXP_CONTAINS()\"");
  EXPECT_EQ(Run("return JSON.stringify(couchbase.SearchQuery.match('x').field('y').boost(2));"),
            R"("{\"kind\":\"match\",\"match\":\"x\",\"field\":\"y\",\"boost\":2}")");
  EXPECT_EQ(Run("return new N1qlQuery('SELECT RAW $a', {namedParams: {'$a': 7}, "
                "consistency: 'request'}).execQuery();"),
            "[7]");
  EXPECT_TRUE(Run("return new N1qlQuery('SELEC').execQuery();").starts_with(R"("N1QLError: )"));
}

}  // namespace
}  // namespace sluice::function
