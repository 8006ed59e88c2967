#include "doctype/type_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "doctype/test_types.h"
#include "doctype/type_json.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFull = R"(type: user
keyspace: app._default._default
match: { key: "user:{userId}", property: _type }
properties:
  type: _type
  schema: _schema
  version: _ver
  created: _created
  modified: _modified
  createdBy: _createdBy
  modifiedBy: _modifiedBy
  accessed: { name: _accessed, precision: 1h }
  geo: _geo
  precision: s
  writable: [created, createdBy]
schema: "3.0"
schemas: { "3.0": schemas/user-3.json }
validate: enforce
migrations:
  - user.migrations.js
  - from: "2.0"
    to: "3.0"
    steps:
      - wrap: { path: phone, to: phones, as: number, with: { type: mobile } }
migrate: { read: persist, write: upgrade }
revisions: { keep: 10, max_age: 365d, key: "{key}:v:{version}", on_delete: purge }
limits: { bytes: 256KB, array: { phones: 20 }, depth: 12 }
)";

const TestFiles& FullFiles() {
  static const TestFiles files = {{"schemas/user-3.json", R"({"type":"object"})"},
                                  {"user.migrations.js", "({})"}};
  return files;
}

TEST(TypeReader, ReadsEverything) {
  const auto type = TypeOf(kFull, FullFiles());
  EXPECT_EQ(type->name, "user");
  EXPECT_EQ(type->keyspace, "app._default._default");
  EXPECT_EQ(type->key->text(), "user:{userId}");
  EXPECT_TRUE(type->by_property);
  EXPECT_EQ(type->properties.name(Stamp::kModifiedBy), "_modifiedBy");
  EXPECT_EQ(type->properties.accessed_precision_ms, 3'600'000u);
  EXPECT_TRUE(type->properties.seconds);
  EXPECT_TRUE(type->properties.is_writable(Stamp::kCreatedBy));
  EXPECT_FALSE(type->properties.is_writable(Stamp::kModified));
  EXPECT_EQ(type->schema, "3.0");
  ASSERT_EQ(type->schemas.size(), 1u);
  EXPECT_EQ(json::ToText(type->schemas[0].schema), R"({"type":"object"})");
  EXPECT_EQ(type->validate, Validation::kEnforce);
  ASSERT_EQ(type->migrations.size(), 2u);
  EXPECT_EQ(type->migrations[0].code, "({})");
  EXPECT_EQ(type->migrations[1].steps[0].place.line, 24u);
  EXPECT_EQ(type->on_read, ReadMigration::kPersist);
  EXPECT_EQ(type->revisions->keep, 10u);
  EXPECT_EQ(type->revisions->max_age_ms, 365ull * 86'400'000);
  EXPECT_EQ(type->revisions->on_delete, Revisions::OnDelete::kPurge);
  EXPECT_EQ(type->limits.bytes, 256'000u);
  EXPECT_EQ(type->limits.arrays[0].most, 20u);
  EXPECT_EQ(type->limits.depth, 12u);
}

TEST(TypeReader, CanonicalJsonReadsBackTheSame) {
  const auto type = TypeOf(kFull, FullFiles());
  const json::Value json = ToJson(*type);
  Problems problems;
  const auto again = ReadTypeJson(*json::Parse(json::ToText(json)), "request", &problems);
  ASSERT_TRUE(again) << Lines(problems.errors);
  EXPECT_EQ(json::ToText(ToJson(*again)), json::ToText(json));
  EXPECT_EQ(json::ToText(json["schemas"]), R"({"3.0":{"type":"object"}})");
  EXPECT_EQ(json::ToText(json["limits"]), R"({"bytes":"250KiB","depth":12,"array":{"phones":20}})");
}

// A seed of the fuzzer that is not read would be no seed.
TEST(TypeReader, SeedsOfTheFuzzer) {
  for (const std::string name : {"full", "nested", "steps", "schemas"}) {
    const auto text = ReadFile("tests/corpus/type_file_fuzz/" + name + ".yaml", 1 << 20);
    ASSERT_TRUE(text) << name;
    TypeOf(*text, {{"a.js", "x"}, {"schemas/user-3.json", "{}"}, {"user.migrations.js", "x"}});
  }
}

TEST(TypeReader, LeastThatIsNeeded) {
  const auto type = TypeOf("type: a\nkeyspace: b\nmatch: {property: meta.type}\n");
  EXPECT_EQ(type->keyspace, "b._default._default");
  EXPECT_EQ(type->properties.object, "meta");
  EXPECT_EQ(type->properties.name(Stamp::kType), "type");
  EXPECT_FALSE(type->revisions);
  Problems problems;
  EXPECT_TRUE(ReadTypeJson(ToJson(*type), "", &problems)) << Lines(problems.errors);
}

TEST(TypeReader, AllErrorsAtOnceWithTheirPlaces) {
  EXPECT_EQ(ErrorsOf(R"(type: "a b"
keyspace: x.y
match: { key: "user:{id" }
properties: { versoin: _v, created: _c, modified: _c, precision: us }
validate: maybe
revisions: { keep: 0, max_age: 3, on_delete: forget }
limits: { bytes: many, array: { "a[": 1 }, depth: -1 }
extra: 1
)"),
            "type.invalid: type: expected 1 to 100 letters, digits or . _ - %, found 'a b' "
            "(t.yaml:1:7)\n"
            "type.invalid: keyspace: expected bucket or bucket.scope.collection, found 'x.y' "
            "(t.yaml:2:11)\n"
            "type.bad_pattern: match.key: key pattern 'user:{id', character 6: '{' has no '}' "
            "(t.yaml:3:15)\n"
            "type.unknown_key: properties.versoin: no such key; did you mean 'version'? "
            "(t.yaml:4:15)\n"
            "type.invalid: properties.modified: '_c' is the name of another one (t.yaml:4:51)\n"
            "type.invalid: properties.precision: expected one of ms, s; found 'us'; did you mean "
            "'ms'? (t.yaml:4:66)\n"
            "type.invalid: validate: expected one of off, warn, enforce, quarantine; found 'maybe' "
            "(t.yaml:5:11)\n"
            "type.invalid: revisions.keep: expected a whole number from 1 to 1000000000000, found "
            "'0' (t.yaml:6:20)\n"
            "type.invalid: revisions.max_age: expected a duration such as 250ms, 5s, 10m, 2h or 7d "
            "(a whole number and a unit), got '3' (t.yaml:6:32)\n"
            "type.invalid: revisions.on_delete: expected one of keep, purge; found 'forget' "
            "(t.yaml:6:46)\n"
            "type.invalid: limits.bytes: expected a size in bytes such as 512, 64KiB, 20MiB or "
            "1GiB, got 'many' (t.yaml:7:18)\n"
            "path.invalid: limits.array.a[: path 'a[': expected a position such as [0] or [-1] "
            "(t.yaml:7:39)\n"
            "type.invalid: limits.depth: expected a whole number from 1 to 1000000000000, found "
            "'-1' (t.yaml:7:51)\n"
            "type.unknown_key: extra: no such key (t.yaml:8:1)\n"
            "type.invalid: revisions: need properties.version (t.yaml:6:12)\n");
}

TEST(TypeReader, KeysThatNeedEachOther) {
  EXPECT_EQ(ErrorsOf("{}"),
            "type.invalid: type: is missing (t.yaml:1:1)\n"
            "type.invalid: keyspace: is missing (t.yaml:1:1)\n"
            "type.invalid: match: is missing (t.yaml:1:1)\n");
  const std::string start = "type: a\nkeyspace: b\n";
  EXPECT_THAT(ErrorsOf(start + "match: {}\n"), HasSubstr("expected key, property or both"));
  EXPECT_THAT(ErrorsOf(start + "match: {property: kind}\nproperties: {type: type}\n"),
              HasSubstr("match.property: is 'kind', but properties.type is 'type'"));
  EXPECT_THAT(ErrorsOf(start + "match: {property: t}\nschemas: {\"1\": {}}\n"),
              HasSubstr("schemas: need properties.schema and the current schema"));
  EXPECT_THAT(ErrorsOf(start + "match: {property: t}\nproperties: {schema: s}\n"),
              HasSubstr("schema: is missing"));
  EXPECT_THAT(ErrorsOf(start + "match: {property: t}\nvalidate: warn\n"),
              HasSubstr("no schemas to validate with"));
}

TEST(TypeReader, MatchPropertyIsAStampLikeOthers) {
  const std::string start = "type: a\nkeyspace: b\n";
  EXPECT_THAT(ErrorsOf(start + "match: {property: a.b.c}\n"), HasSubstr("found 'a.b.c'"));
  EXPECT_THAT(ErrorsOf(start + "match: {property: x}\nproperties: {created: x}\n"),
              HasSubstr("'x' is the name of another one"));
  EXPECT_THAT(ErrorsOf(start + "match: {property: m.x}\nproperties: {created: c}\n"),
              HasSubstr("is not in the object that holds the other properties"));
}

TEST(TypeReader, Files) {
  const std::string start =
      "type: a\nkeyspace: b\nmatch: {property: t}\nproperties: {schema: s}\nschema: '1'\n";
  EXPECT_EQ(ErrorsOf(start + "migrations: gone.js\n"),
            "type.unreadable_file: migrations: there is no file 'gone.js' (t.yaml:6:13)\n");
  EXPECT_THAT(ErrorsOf(start + "migrations: m.js\n", {{"m.js", ""}}), HasSubstr("'m.js' is empty"));
  EXPECT_THAT(ErrorsOf(start + "schemas: {'1': s.json}\n", {{"s.json", "[]"}}),
              HasSubstr("'s.json' is not a schema"));
  EXPECT_THAT(ErrorsOf(start + "schemas: {'1': s.json}\n", {{"s.json", "{\n  x"}}),
              HasSubstr("(s.json:2:3)"));
  Problems problems;
  EXPECT_FALSE(ReadTypeJson(*json::Parse(R"({"type":"a","keyspace":"b","match":{"property":"t"},
    "properties":{"schema":"s"},"schema":"1","migrations":"x.js"})"),
                            "request", &problems));
  EXPECT_THAT(Lines(problems.errors), HasSubstr("'x.js' is a file: expected its content"));
}

TEST(TypeReader, Migrations) {
  const std::string start =
      "type: a\nkeyspace: b\nmatch: {property: t}\nproperties: {schema: s}\nschema: '2'\n"
      "migrations:\n";
  EXPECT_EQ(ErrorsOf(start + "  - {from: '1', to: '2', steps: [{renam: {a: b}}]}\n"),
            "type.invalid: migrations.steps: there is no step 'renam'; did you mean 'rename'? "
            "(t.yaml:7:34)\n");
  EXPECT_THAT(ErrorsOf(start + "  - {from: '1', to: '2'}\n"),
              HasSubstr("expected a file, or from, to and steps"));
  EXPECT_THAT(ErrorsOf(start + "  - {from: '2', to: '2', steps: [{drop: a}]}\n"),
              HasSubstr("from and to are both '2'"));
  EXPECT_THAT(ErrorsOf(start + "  - {from: '1', to: '2', steps: [{cast: {a: nummer}}]}\n"),
              HasSubstr("there is no cast 'nummer'"));
  EXPECT_THAT(ErrorsOf(start + "  - {from: '1', to: '2', steps: [{split: {from: a}}]}\n"),
              HasSubstr("migrations.steps.split: 'to' is missing (t.yaml:7:34)"));
  EXPECT_THAT(ErrorsOf(start + "  - {from: '1', to: '2', steps: [{drop: 'a[0]'}]}\n"),
              HasSubstr("not a position"));
}

}  // namespace
}  // namespace sluice::doctype
