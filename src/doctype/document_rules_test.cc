// The user of the guide, end to end: documents of versions 1.0, 2.0 and 3.0 side by side, read
// as 3.0, written with stamps, and their revisions kept within the limit.
#include "doctype/document_rules.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "doctype/test_types.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

constexpr std::string_view kType = R"(type: user
keyspace: app
match: { key: "user:{userId}", property: _type }
properties: { type: _type, schema: _schema, version: _ver, created: _created, modified: _modified,
              modifiedBy: _modifiedBy, precision: s }
schema: "3.0"
schemas: { "3.0": user-3.json }
validate: enforce
migrations:
  - from: "1.0"
    to: "2.0"
    steps:
      - split: { from: name, to: [firstName, lastName], by: " " }
  - user.migrations.js
revisions: { keep: 3 }
limits: { array: { phones: 2 } }
)";

constexpr std::string_view kCode = R"(module.exports = {
  '2.0 -> 3.0'(doc) {
    const {phone, ...rest} = doc;
    return {...rest, _schema: '3.0', phones: [{type: 'mobile', number: phone.replace(/\D/g, '')}]};
  },
};
)";

constexpr std::string_view kSchema = R"({"type":"object","required":["userId","phones"],
  "properties":{"phones":{"type":"array","items":{"type":"object","required":["type","number"],
  "properties":{"number":{"pattern":"^[0-9]{10}$"}}}}}})";

class DocumentRules : public testing::Test {
 protected:
  void SetUp() override { Load(std::string(kType)); }

  void Load(const std::string& text) {
    Problems problems;
    type_ = LoadedType::Load(TypeOf(text, {{"user-3.json", std::string(kSchema)},
                                           {"user.migrations.js", std::string(kCode)}}),
                             &problems);
    ASSERT_NE(type_, nullptr) << Lines(problems.errors);
    runner_ = std::make_unique<MigrationRunner>(type_->migrations(), kPatient, clock_);
  }

  std::string Read(const std::string& key) {
    const auto read = PrepareRead(*type_, key, store_.at(key), "", runner_.get());
    return read ? read->document : read.error().ToString();
  }

  // As one commit would.
  Status Write(const std::string& key, std::string_view document) {
    now_ms_ += 1000;
    std::vector<Revision> revisions;
    const RevisionKey& pattern = type_->type().revisions->key;
    for (const auto& [other, text] : store_) {
      const auto parts = pattern.Read(other);
      if (parts && parts->key == key) revisions.push_back({parts->version, now_ms_});
    }
    WriteInput input{.key = key,
                     .document = document,
                     .revisions = revisions,
                     .actor = "joe",
                     .now_ms = now_ms_};
    if (store_.contains(key)) input.present = store_.at(key);
    ASSIGN_OR_RETURN(const PreparedWrite write, PrepareWrite(*type_, input, runner_.get()));
    violation_ = write.violation;
    if (write.revisions.write) store_[write.revisions.write_key] = store_.at(key);
    for (const std::string& old : write.revisions.remove_keys) store_.erase(old);
    store_[key] = write.document;
    return OkStatus();
  }

  const SystemClock clock_;
  std::shared_ptr<const LoadedType> type_;
  std::unique_ptr<MigrationRunner> runner_;
  std::map<std::string, std::string> store_;
  Status violation_;
  uint64_t now_ms_ = 1'544'759'124'000;
};

TEST_F(DocumentRules, AllVersionsAreReadAsTheCurrentOne) {
  store_["user:1"] = R"({"_type":"user","_schema":"1.0","_created":1544759124,"userId":1,)"
                     R"("name":"Joe Smith","phone":"123-456-7890"})";
  store_["user:2"] = R"({"_type":"user","_schema":"2.0","userId":2,"firstName":"Ann",)"
                     R"("lastName":"Lee","phone":"1234567890"})";
  store_["user:3"] = R"({"_type":"user","_schema":"3.0","userId":3,"phones":[]})";
  EXPECT_EQ(Read("user:1"), R"({"_type":"user","_schema":"3.0","_created":1544759124,"userId":1,)"
                            R"("firstName":"Joe","lastName":"Smith",)"
                            R"("phones":[{"type":"mobile","number":"1234567890"}]})");
  EXPECT_EQ(Read("user:2"),
            R"({"_type":"user","_schema":"3.0","userId":2,"firstName":"Ann",)"
            R"("lastName":"Lee","phones":[{"type":"mobile","number":"1234567890"}]})");
  EXPECT_EQ(Read("user:3"), store_["user:3"]);
}

TEST_F(DocumentRules, WritesAreUpgradedStampedAndKeptAsRevisions) {
  ASSERT_TRUE(
      Write("user:1", R"({"_schema":"1.0","userId":1,"name":"Joe Smith","phone":"1234567890"})")
          .ok());
  EXPECT_EQ(
      store_["user:1"],
      R"({"_type":"user","_ver":1,"_created":1544759125,"_modified":1544759125,)"
      R"("_modifiedBy":"joe","_schema":"3.0","userId":1,"firstName":"Joe","lastName":"Smith",)"
      R"("phones":[{"type":"mobile","number":"1234567890"}]})");
  const std::string first = store_["user:1"];
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Write("user:1", R"({"userId":1,"phones":[]})").ok());
    if (i == 0) {
      EXPECT_EQ(store_["user:1:v:1"], first);
    }
  }
  EXPECT_THAT(store_,
              ElementsAre(Key("user:1"), Key("user:1:v:3"), Key("user:1:v:4"), Key("user:1:v:5")));
  EXPECT_EQ(
      store_["user:1"],
      R"({"_type":"user","_schema":"3.0","_ver":6,"_created":1544759125,"_modified":1544759130,)"
      R"("_modifiedBy":"joe","userId":1,"phones":[]})");
}

TEST_F(DocumentRules, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(Write("user:1", R"({"userId":1,"phones":[{"type":"x","number":"12"}]})").ToString(),
            "schema.violated: /phones/0/number: does not match '^[0-9]{10}$'");
  EXPECT_EQ(Write("user:1", R"({"userId":1,"phones":[1,2,3]})").id(), "type.array_too_long");
  EXPECT_EQ(Write("user:1", R"({"_schema":"7"})").id(), "migration.unknown_version");
  EXPECT_EQ(Write("user:1", R"({"_schema":"2.0"})").id(), "migration.threw");
  EXPECT_EQ(Write("user:1", "[]").id(), "type.not_object");
  EXPECT_TRUE(store_.empty());
}

TEST_F(DocumentRules, WarnAndQuarantineAreTold) {
  std::string text(kType);
  text.replace(text.find("enforce"), 7, "warn");
  Load(text);
  EXPECT_TRUE(Write("user:1", "{}").ok());
  EXPECT_EQ(violation_.id(), "schema.violated");
  EXPECT_TRUE(Write("user:1", R"({"userId":1,"phones":[]})").ok());
  EXPECT_TRUE(violation_.ok());
}

TEST_F(DocumentRules, ProblemsOfEverythingThatATypeNames) {
  Problems problems;
  const auto type = TypeOf(
      "type: a\nkeyspace: b\nmatch: {property: t}\nproperties: {schema: s}\n"
      "schema: '2'\nschemas: {'2': s.json}\nmigrations: m.js\n",
      {{"s.json", "{\n \"type\": \"strang\"}"}, {"m.js", "x +"}});
  EXPECT_EQ(LoadedType::Load(type, &problems), nullptr);
  EXPECT_THAT(Lines(problems.errors), HasSubstr("there is no type \"strang\" (s.json:2:2)"));
  EXPECT_THAT(Lines(problems.errors), HasSubstr("migration.bad_file: SyntaxError"));
}

}  // namespace
}  // namespace sluice::doctype
