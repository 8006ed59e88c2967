#include "doctype/schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/parse.h"

namespace sluice::doctype {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Schema> Compile(std::string_view text) {
  Problems problems;
  auto schema = Schema::Compile(*json::Parse(text), "s.json", text, &problems);
  for (const Status& status : problems.errors) ADD_FAILURE() << status.ToString();
  return schema;
}

// "ok", or the errors, one a line.
std::string Check(const Schema& schema, std::string_view document) {
  std::string out;
  for (const SchemaError& error : schema.Validate(*json::Parse(document))) {
    out += error.instance + " " + error.schema + " " + error.message + "\n";
  }
  return out.empty() ? "ok" : out;
}

std::string Check(std::string_view schema, std::string_view document) {
  const auto compiled = Compile(schema);
  return compiled == nullptr ? "not compiled" : Check(*compiled, document);
}

bool Fits(std::string_view schema, std::string_view document) {
  return Check(schema, document) == "ok";
}

std::string ProblemsOf(std::string_view text) {
  Problems problems;
  Schema::Compile(*json::Parse(text), "s.json", text, &problems);
  std::string out;
  for (const Status& status : problems.errors) out += "error " + status.ToString() + "\n";
  for (const Status& status : problems.warnings) out += "warning " + status.ToString() + "\n";
  return out;
}

TEST(Schema, ErrorsByPath) {
  const auto schema = Compile(R"({"type":"object","required":["name"],"properties":{
    "age":{"type":"integer","minimum":0},
    "phones":{"type":"array","maxItems":2,"items":{"$ref":"#/$defs/phone"}}},
    "$defs":{"phone":{"type":"object","properties":{"n/r":{"pattern":"^[0-9]{10}$"}},
                      "additionalProperties":false}}})");
  EXPECT_EQ(Check(*schema, R"({"name":1,"age":3.0,"phones":[{"n/r":"1234567890"}]})"), "ok");
  EXPECT_EQ(Check(*schema, R"({"age":-1,"phones":[{},{"n/r":"x"},{"y":1}]})"),
            " /required 'name' is missing\n"
            "/age /properties/age/minimum is less than 0\n"
            "/phones /properties/phones/maxItems has 3 elements, expected at most 2\n"
            "/phones/1/n~1r /$defs/phone/properties/n~1r/pattern does not match '^[0-9]{10}$'\n"
            "/phones/2/y /$defs/phone/additionalProperties nothing is allowed here\n");
  EXPECT_EQ(Check(*schema, "[]"), " /type expected object, found array\n");
  const Status status = schema->Check(*json::Parse(R"({"age":-1})"));
  EXPECT_EQ(status.ToString(), "schema.violated: document: 'name' is missing (and 1 more)");
  EXPECT_THAT(status.fields().at("violations"), HasSubstr(R"("path":"/age")"));
}

TEST(Schema, Types) {
  EXPECT_TRUE(Fits(R"({"type":"integer"})", "1.0"));
  EXPECT_FALSE(Fits(R"({"type":"integer"})", "1.5"));
  EXPECT_TRUE(Fits(R"({"type":"number"})", "1"));
  EXPECT_TRUE(Fits(R"({"type":["string","null"]})", "null"));
  EXPECT_FALSE(Fits(R"({"type":["string","null"]})", "true"));
  EXPECT_TRUE(Fits(R"({"enum":[1,[2],null]})", "1.0"));
  EXPECT_FALSE(Fits(R"({"enum":[1,[2],null]})", "true"));
  EXPECT_TRUE(Fits(R"({"const":{"a":1,"b":[]}})", R"({"b":[],"a":1.0})"));
  EXPECT_FALSE(Fits(R"({"const":false})", "0"));
  EXPECT_TRUE(Fits(R"({"const":null})", "null"));
  EXPECT_FALSE(Fits("false", "1"));
  EXPECT_TRUE(Fits("true", "1"));
  EXPECT_TRUE(Fits(R"({"maxLength":1,"maximum":1,"maxItems":1,"maxProperties":1})", "null"));
}

TEST(Schema, NumbersAndStrings) {
  EXPECT_FALSE(Fits(R"({"exclusiveMinimum":1})", "1"));
  EXPECT_FALSE(Fits(R"({"exclusiveMaximum":1})", "1.0"));
  EXPECT_TRUE(Fits(R"({"maximum":9007199254740992})", "9007199254740992"));
  EXPECT_FALSE(Fits(R"({"maximum":9007199254740992})", "9007199254740993"));
  EXPECT_TRUE(Fits(R"({"multipleOf":0.01})", "19.99"));
  EXPECT_FALSE(Fits(R"({"multipleOf":0.01})", "19.995"));
  EXPECT_FALSE(Fits(R"({"multipleOf":3})", "10"));
  EXPECT_TRUE(Fits(R"({"maxLength":2})", R"("äö")"));
  EXPECT_FALSE(Fits(R"({"minLength":3})", R"("äö")"));
  EXPECT_TRUE(Fits(R"({"pattern":"b+"})", R"("abbc")"));
  EXPECT_TRUE(Fits(R"({"pattern":"^\\u00e4\\/$"})", R"("ä/")"));
}

TEST(Schema, Arrays) {
  EXPECT_TRUE(
      Fits(R"({"prefixItems":[{"type":"string"}],"items":{"type":"number"}})", R"(["a",1])"));
  EXPECT_FALSE(Fits(R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a",1])"));
  EXPECT_FALSE(Fits(R"({"$schema":"http://json-schema.org/draft-07/schema#",
    "items":[{"type":"string"}],"additionalItems":{"type":"null"}})",
                    R"(["a",1])"));
  EXPECT_TRUE(Fits(R"({"$schema":"http://json-schema.org/draft-07/schema#",
    "items":[{"type":"string"}]})",
                   R"(["a",1])"));
  EXPECT_FALSE(Fits(R"({"uniqueItems":true})", R"([{"a":1},2,{"a":1.0}])"));
  EXPECT_TRUE(Fits(R"({"uniqueItems":true})", R"([1,true,"1"])"));
  EXPECT_FALSE(Fits(R"({"contains":{"const":1}})", "[2]"));
  EXPECT_TRUE(Fits(R"({"contains":{"const":1},"minContains":0})", "[2]"));
  EXPECT_FALSE(Fits(R"({"contains":{"const":1},"minContains":2})", "[1,2]"));
  EXPECT_FALSE(Fits(R"({"contains":{"const":1},"maxContains":1})", "[1,1]"));
}

TEST(Schema, Objects) {
  EXPECT_FALSE(Fits(R"({"patternProperties":{"^x":{"type":"number"}}})", R"({"xa":"1"})"));
  EXPECT_TRUE(Fits(R"({"properties":{"a":{}},"patternProperties":{"^x":{}},
    "additionalProperties":false})",
                   R"({"a":1,"x1":2})"));
  EXPECT_FALSE(Fits(R"({"properties":{"a":{}},"patternProperties":{"^x":{}},
    "additionalProperties":false})",
                    R"({"a":1,"y":2})"));
  EXPECT_FALSE(Fits(R"({"propertyNames":{"maxLength":2}})", R"({"abc":1})"));
  EXPECT_FALSE(Fits(R"({"minProperties":1})", "{}"));
  EXPECT_FALSE(Fits(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"));
  EXPECT_TRUE(Fits(R"({"dependentRequired":{"a":["b"]}})", R"({"b":1})"));
  EXPECT_FALSE(Fits(R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1})"));
  EXPECT_FALSE(Fits(R"({"dependencies":{"a":["b"],"c":{"maxProperties":1}}})", R"({"c":1,"d":2})"));
}

TEST(Schema, Combinations) {
  EXPECT_FALSE(Fits(R"({"allOf":[{"minimum":2},{"maximum":4}]})", "5"));
  EXPECT_TRUE(Fits(R"({"anyOf":[{"minimum":2},{"type":"string"}]})", R"("a")"));
  EXPECT_FALSE(Fits(R"({"anyOf":[{"minimum":2},{"type":"string"}]})", "1"));
  EXPECT_FALSE(Fits(R"({"oneOf":[{"minimum":2},{"multipleOf":2}]})", "4"));
  EXPECT_TRUE(Fits(R"({"oneOf":[{"minimum":2},{"multipleOf":2}]})", "3"));
  EXPECT_FALSE(Fits(R"({"not":{"type":"null"}})", "null"));
  constexpr std::string_view kIf = R"({"if":{"properties":{"c":{"const":"US"}},"required":["c"]},
    "then":{"required":["zip"]},"else":{"required":["code"]}})";
  EXPECT_FALSE(Fits(kIf, R"({"c":"US"})"));
  EXPECT_TRUE(Fits(kIf, R"({"c":"US","zip":1})"));
  EXPECT_TRUE(Fits(kIf, R"({"code":1})"));
  EXPECT_TRUE(Fits(R"({"then":false})", "1"));
}

TEST(Schema, Unevaluated) {
  constexpr std::string_view kObject = R"({"properties":{"a":{}},
    "allOf":[{"properties":{"b":{}}},{"anyOf":[{"properties":{"c":{"const":1}},"required":["c"]},true]}],
    "unevaluatedProperties":false})";
  EXPECT_TRUE(Fits(kObject, R"({"a":1,"b":2,"c":1})"));
  EXPECT_FALSE(Fits(kObject, R"({"a":1,"b":2,"c":2})"));
  EXPECT_FALSE(Fits(kObject, R"({"d":2})"));
  EXPECT_TRUE(Fits(R"({"$ref":"#/$defs/x","unevaluatedProperties":false,
    "$defs":{"x":{"properties":{"a":{}}}}})",
                   R"({"a":1})"));
  EXPECT_FALSE(
      Fits(R"({"prefixItems":[{}],"contains":{"const":7},"unevaluatedItems":{"type":"string"}})",
           "[1,7,2]"));
  EXPECT_TRUE(
      Fits(R"({"prefixItems":[{}],"contains":{"const":7},"unevaluatedItems":{"type":"string"}})",
           R"([1,7,"2"])"));
}

TEST(Schema, References) {
  constexpr std::string_view kTree = R"({"$id":"https://example.com/tree","type":"object",
    "properties":{"kids":{"type":"array","items":{"$ref":"#"}}},"required":["v"]})";
  EXPECT_TRUE(Fits(kTree, R"({"v":1,"kids":[{"v":2,"kids":[]}]})"));
  EXPECT_FALSE(Fits(kTree, R"({"v":1,"kids":[{"v":2,"kids":[{}]}]})"));
  EXPECT_FALSE(Fits(R"({"$ref":"#pos","$defs":{"p":{"$anchor":"pos","minimum":1}}})", "0"));
  EXPECT_FALSE(
      Fits(R"({"$id":"urn:a","$ref":"urn:a#/$defs/a%25b","$defs":{"a%b":{"minimum":1}}})", "0"));
  // Beside $ref nothing counts in draft 7, and everything since.
  EXPECT_TRUE(Fits(R"({"$schema":"http://json-schema.org/draft-07/schema#",
    "properties":{"a":{"$ref":"#/definitions/n","maximum":1}},"definitions":{"n":{"type":"number"}}})",
                   R"({"a":2})"));
  EXPECT_FALSE(Fits(R"({"properties":{"a":{"$ref":"#/$defs/n","maximum":1}},
    "$defs":{"n":{"type":"number"}}})",
                    R"({"a":2})"));
}

TEST(Schema, Formats) {
  const auto fits = [](const std::string& format, const std::string& text) {
    return Fits(R"({"format":")" + format + R"("})", "\"" + text + "\"");
  };
  EXPECT_TRUE(fits("date-time", "2018-12-14T03:45:24.478Z"));
  EXPECT_FALSE(fits("date-time", "2018-12-14 03:45:24Z"));
  EXPECT_FALSE(fits("date", "2018-13-14"));
  EXPECT_TRUE(fits("time", "03:45:24+01:00"));
  EXPECT_TRUE(fits("duration", "P1Y2M3DT4H"));
  EXPECT_FALSE(fits("duration", "P1D2H"));
  EXPECT_FALSE(fits("duration", "P"));
  EXPECT_TRUE(fits("email", "joe.smith@acme.com"));
  EXPECT_FALSE(fits("email", "joe..smith@acme.com"));
  EXPECT_FALSE(fits("email", "joe"));
  EXPECT_TRUE(fits("hostname", "a-b.example"));
  EXPECT_FALSE(fits("hostname", "-a.example"));
  EXPECT_FALSE(fits("ipv4", "1.2.3.256"));
  EXPECT_TRUE(fits("ipv6", "::1"));
  EXPECT_TRUE(fits("uri", "https://example.com/a%20b?c#d"));
  EXPECT_FALSE(fits("uri", "/relative"));
  EXPECT_TRUE(fits("uri-reference", "/relative"));
  EXPECT_FALSE(fits("uri-reference", "a b"));
  EXPECT_TRUE(fits("uuid", "3f2504e0-4f89-11d3-9a0c-0305e82c3301"));
  EXPECT_FALSE(fits("uuid", "3f2504e04f8911d39a0c0305e82c3301"));
  EXPECT_FALSE(fits("json-pointer", "/a~2"));
  EXPECT_FALSE(fits("regex", "a(b"));
  EXPECT_TRUE(Fits(R"({"format":"date"})", "7"));
}

TEST(Schema, ProblemsHavePlaces) {
  EXPECT_EQ(
      ProblemsOf("{\n  \"properties\": {\n    \"a\": {\"typ\": \"string\", \"x-note\": 1}\n  }\n}"),
      "warning schema.unknown_keyword: #/properties/a/typ: there is no keyword 'typ'; did you "
      "mean 'type'? (s.json:3:11)\n");
  EXPECT_EQ(
      ProblemsOf(
          R"x({"type":"strin","minimum":"1","maxItems":-1,"required":[1],"pattern":"(?=a)",
"properties":{"a":7},"allOf":[],"$ref":"other.json#/x"})x"),
      "error schema.invalid: #/type: there is no type \"strin\" (s.json:1:2)\n"
      "error schema.invalid: #/minimum: expected a number, found string (s.json:1:17)\n"
      "error schema.invalid: #/maxItems: expected a whole number that is not negative, found "
      "number (s.json:1:31)\n"
      "error schema.invalid: #/required: expected an array of strings, found array "
      "(s.json:1:45)\n"
      "error schema.bad_pattern: #/pattern: '(?=a)' is not a usable pattern: invalid "
      "perl operator: (?= (s.json:1:60)\n"
      "error schema.invalid: #/allOf: expected an array of schemas, found array (s.json:2:22)\n"
      "error schema.unresolved_ref: #/$ref: nothing is at 'other.json#/x'; schemas of other "
      "documents are not fetched: put them under $defs (s.json:2:33)\n"
      "error schema.invalid: #/properties/a: expected a schema (an object, true or false), "
      "found number (s.json:2:15)\n");
  EXPECT_THAT(ProblemsOf(R"({"format":"phone"})"), HasSubstr("warning schema.unknown_format"));
  EXPECT_THAT(ProblemsOf(R"({"items":[{}]})"), HasSubstr("prefixItems"));
  EXPECT_THAT(ProblemsOf(R"({"$dynamicRef":"#a"})"), HasSubstr("schema.unsupported"));
  EXPECT_THAT(ProblemsOf(R"({"$schema":"http://json-schema.org/draft-04/schema#"})"),
              HasSubstr("expected draft 2020-12, 2019-09 or 7"));
}

TEST(Schema, EndsAlways) {
  EXPECT_THAT(ProblemsOf(R"({"$ref":"#"})"), HasSubstr("refers to itself"));
  EXPECT_THAT(
      ProblemsOf(R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}})"),
      HasSubstr("refers to itself"));
  // Each definition uses the next one twice: more steps than the universe has time for.
  std::string text = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    text += "\"d" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  text += R"("d60":{}}})";
  EXPECT_THAT(Check(text, "1"), HasSubstr("needs more than 20000000 steps"));
}

// What is done at the end of each of a million ways takes long, too.
TEST(Schema, LongTextsAndPatternsAreManySteps) {
  std::string text = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 20; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    text += "\"d" + std::to_string(i) + R"(":{"anyOf":[)" + next + "," + next + "]},";
  }
  const std::string document = '"' + std::string(100'000, 'a') + '"';
  for (const char* const leaf : {R"({"pattern":"b$"})", R"({"minLength":200000})"}) {
    EXPECT_THAT(Check(text + R"("d20":)" + leaf + "}}", document),
                HasSubstr("needs more than 20000000 steps"))
        << leaf;
  }
}

}  // namespace
}  // namespace sluice::doctype
