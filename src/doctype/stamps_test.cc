#include "doctype/stamps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctype/limits.h"
#include "doctype/test_types.h"
#include "doctype/type_set.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNested = R"(type: user
keyspace: app
match: { property: meta.type }
properties: { object: meta, type: type, version: ver, created: created, modified: modified,
              createdBy: by, precision: s, writable: [created] }
)";

std::string Stamp(const Type& type, std::string_view document,
                  std::optional<std::string_view> present = {}, std::string_view actor = "joe") {
  const auto stamped = ApplyStamps(
      type,
      {.document = document, .present = present, .actor = actor, .now_ms = 1'544'759'124'478});
  if (!stamped) return stamped.error().ToString();
  EXPECT_TRUE(json::Validate(stamped->document).ok()) << stamped->document;
  return stamped->document;
}

TEST(Stamps, OfANewDocument) {
  const auto type = TypeOf(kUserType);
  EXPECT_EQ(Stamp(*type, R"({"userId":123, "n": 1.50 })"),
            R"({"_type":"user","_schema":"3.0","_ver":1,"_created":1544759124478,)"
            R"("_modified":1544759124478,"_createdBy":"joe","_modifiedBy":"joe",)"
            R"("userId":123, "n": 1.50 })");
  EXPECT_EQ(Stamp(*type, "{}", {}, ""),
            R"({"_type":"user","_schema":"3.0","_ver":1,"_created":1544759124478,)"
            R"("_modified":1544759124478})");
}

TEST(Stamps, OfAChangedDocument) {
  const auto type = TypeOf(kUserType);
  const std::string present =
      R"({"_type":"user","_ver":4,"_created":1e3,"_createdBy":"ann","_accessed":7})";
  // Forged values are replaced where they stand, all else keeps its bytes.
  EXPECT_EQ(
      Stamp(*type, R"({ "a" : 1.0, "_ver" :99,"_created":0,"_modifiedBy":"root", "b":"\u0041"})",
            present),
      R"({"_type":"user","_schema":"3.0","_modified":1544759124478,"_createdBy":"ann",)"
      R"("_accessed":7, "a" : 1.0, "_ver" :5,"_created":1e3,"_modifiedBy":"joe", "b":"\u0041"})");
  // What the present document lacks can't be made up.
  EXPECT_EQ(Stamp(*type, R"({"_created":1,"_createdBy":"me"})", R"({"_ver":1})"),
            R"({"_type":"user","_schema":"3.0","_ver":2,"_modified":1544759124478,)"
            R"("_modifiedBy":"joe"})");
  EXPECT_THAT(Stamp(*type, "{}", "[1]"), HasSubstr(R"("_ver":2,"_modified")"));
}

TEST(Stamps, RepeatedAndEscapedNamesAreNoWayAround) {
  const auto type = TypeOf(kUserType);
  EXPECT_EQ(Stamp(*type, R"({"_createdBy":"x","_created":1,"a":[1,2],"_created":2,"\u005fver":7})"),
            R"({"_type":"user","_schema":"3.0","_modified":1544759124478,"_modifiedBy":"joe",)"
            R"("_createdBy":"joe","a":[1,2],"_created":1544759124478,"\u005fver":1})");
  EXPECT_EQ(Stamp(*type, R"({"_createdBy":"x" , "_createdBy":"y"})", R"({"_ver":1})"),
            R"({"_type":"user","_schema":"3.0","_ver":2,"_modified":1544759124478,)"
            R"("_modifiedBy":"joe"})");
  std::string many = "{";
  for (int i = 0; i < 20; ++i) many += R"("_ver":1,)";
  many += R"("_ver":1})";
  EXPECT_THAT(Stamp(*type, many), HasSubstr("type.repeated_property"));
}

TEST(Stamps, InAnObjectOfTheirOwn) {
  const auto type = TypeOf(kNested);
  EXPECT_EQ(Stamp(*type, R"({"a":1})"),
            R"({"meta":{"type":"user","ver":1,"created":1544759124,"modified":1544759124,)"
            R"("by":"joe"},"a":1})");
  EXPECT_EQ(Stamp(*type, "{}"),
            R"({"meta":{"type":"user","ver":1,"created":1544759124,"modified":1544759124,)"
            R"("by":"joe"}})");
  EXPECT_EQ(Stamp(*type, R"({"a":1,"meta":{ "created":5 },"type":"x"})"),
            R"({"a":1,"meta":{"type":"user","ver":1,"modified":1544759124,"by":"joe", )"
            R"("created":5 },"type":"x"})");
  EXPECT_EQ(Stamp(*type, R"({"meta":{}})"),
            R"({"meta":{"type":"user","ver":1,"created":1544759124,"modified":1544759124,)"
            R"("by":"joe"}})");
  EXPECT_EQ(Stamp(*type, R"({"meta":1})"),
            "type.not_object: meta: expected an object, as this document type has");
  EXPECT_THAT(Stamp(*type, "[]"), HasSubstr("type.not_object: document"));
}

TEST(Stamps, Country) {
  const auto type = TypeOf(kUserType);
  EXPECT_THAT(Stamp(*type, R"({"_geo":"DE"})"), HasSubstr(R"("_geo":"DE")"));
  EXPECT_THAT(Stamp(*type, R"({"_geo":"Germany"})"), HasSubstr("type.bad_country"));
  EXPECT_THAT(Stamp(*type, R"({"_geo":"de"})"), HasSubstr("type.bad_country"));
  EXPECT_THAT(Stamp(*type, R"({"_geo":"ZZ"})"), HasSubstr("type.bad_country"));
  EXPECT_THAT(Stamp(*type, "{}"), testing::Not(HasSubstr("_geo")));
}

TEST(Stamps, VersionsGoOnAfterRevisions) {
  const auto type = TypeOf(kUserType);
  const auto again = ApplyStamps(*type, {.document = "{}", .last_revision = 6});
  EXPECT_EQ(again->version, 7u);
  EXPECT_EQ(again->previous_version, 0u);
  const auto odd =
      ApplyStamps(*type, {.document = "{}", .present = R"({"_ver":"two"})", .last_revision = 6});
  EXPECT_EQ(odd->previous_version, 7u);
  EXPECT_EQ(odd->version, 8u);
}

TEST(Stamps, AccessedOnceInAWhile) {
  const auto type = TypeOf(kUserType);
  const uint64_t hour = 3'600'000;
  const auto touched = Touch(*type, R"({"a":1})", 10 * hour + 5);
  EXPECT_EQ(touched, R"({"_accessed":36000000,"a":1})");
  EXPECT_FALSE(Touch(*type, *touched, 10 * hour + hour - 1));
  EXPECT_EQ(Touch(*type, *touched, 11 * hour), R"({"_accessed":39600000,"a":1})");
  EXPECT_FALSE(Touch(*TypeOf(kNested), "{}", hour));
}

TEST(Stamps, SchemaVersion) {
  const auto type = TypeOf(kUserType);
  EXPECT_EQ(SchemaVersion(*type, R"({"_schema":"1.0"})"), "1.0");
  EXPECT_EQ(SchemaVersion(*type, R"({"_schema":1.0})"), "1.0");
  EXPECT_EQ(SchemaVersion(*type, R"({"_schema":null})"), "");
  EXPECT_EQ(SchemaVersion(*type, "3"), "");
}

TEST(Limits, SayWhatIsTooMuch) {
  const auto type = TypeOf(kUserType);
  const auto id = [&](std::string_view document) {
    return CheckLimits(*type, document).ToString();
  };
  EXPECT_TRUE(CheckLimits(*type, R"({"phones":[1,2],"a":{"b":[["x"]]}})").ok());
  EXPECT_EQ(id(R"({"phones":[1,[2,3],{"a":4}]})"),
            "type.array_too_long: 'phones' has 3 elements, and a 'user' at most 2 of them");
  EXPECT_EQ(id(R"({"a":{"b":[[{"]]}}":1}]]}})"),
            "type.too_deep: the document has 5 levels, and a 'user' at most 4");
  EXPECT_EQ(id("{\"a\":\"" + std::string(2000, 'x') + "\"}"),
            "type.too_large: the document has 2008 bytes, and a 'user' at most 2000");
}

TEST(TypeSet, FindsByKeyAndProperty) {
  const TypeSet types(
      {TypeOf(kUserType), TypeOf("type: note\nkeyspace: app\nmatch: {property: kind}\n")});
  EXPECT_EQ(types.Find("user:1", "{}").type->name, "user");
  EXPECT_EQ(types.Find("n", R"({"kind":"note"})").type->name, "note");
  EXPECT_EQ(types.Find("n", R"({"kind":"memo"})").type, nullptr);
  EXPECT_EQ(types.Find("x", R"({"_type":"user"})").type, nullptr);
  const auto revision = types.Find("user:1:v:2", "{}");
  EXPECT_EQ(revision.type->name, "user");
  EXPECT_EQ(revision.revision->version, 2u);
  EXPECT_EQ(types.FindByKey("n").type, nullptr);
}

TEST(TypeSet, RevisionsBelongToTheTypeWithSuchKeys) {
  const TypeSet types({TypeOf("type: note\nkeyspace: app\nmatch: {property: kind}\n"
                              "properties: {version: v}\nrevisions: {keep: 1}\n"),
                       TypeOf(kUserType)});
  EXPECT_EQ(types.FindByKey("user:1:v:2").type->name, "user");
  EXPECT_EQ(types.FindByKey("other:v:2").type->name, "note");
}

TEST(TypeSet, WritesMustNotContradict) {
  const TypeSet types(
      {TypeOf(kUserType), TypeOf("type: note\nkeyspace: app\nmatch: {property: kind}\n")});
  const auto error = [&](std::string_view key, std::string_view document) {
    const auto match = types.FindForWrite(key, document);
    return match ? (match->type == nullptr ? "none" : match->type->name) : match.error().id();
  };
  EXPECT_EQ(error("user:1", "{}"), "user");
  EXPECT_EQ(error("user:1", R"({"_type":"user"})"), "user");
  EXPECT_EQ(error("user:1", R"({"_type":"note"})"), "type.mismatch");
  EXPECT_EQ(error("user:1", R"({"_type":null})"), "type.mismatch");
  EXPECT_EQ(error("other:1", R"({"_type":"user"})"), "type.key_mismatch");
  EXPECT_EQ(error("other:1", R"({"kind":"note"})"), "note");
  EXPECT_EQ(error("other:1", R"({"a":1})"), "none");
  EXPECT_EQ(error("user:1:v:3", "{}"), "type.revision_key");
}

TEST(TypeSet, ChecksTypesAgainstEachOther) {
  const auto of = [](const std::string& name, const std::string& key) {
    return TypeOf("type: " + name + "\nkeyspace: b\nmatch: {key: '" + key + "'}\n");
  };
  Problems problems;
  TypeSet::Check({of("user", "user:{id}"), of("order", "order_{id}"), of("note", "n:{id}"),
                  of("person", "user:{name}")},
                 &problems);
  EXPECT_THAT(Lines(problems.errors), HasSubstr("type.overlap: types 'user' and 'person'"));
  EXPECT_THAT(Lines(problems.warnings), HasSubstr("'user:{id}' and 'order_{id}'"));
  EXPECT_THAT(Lines(problems.warnings), HasSubstr("type 'note': keys like 'n:{id}'"));
}

}  // namespace
}  // namespace sluice::doctype
