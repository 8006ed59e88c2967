// The user of the guide in a database: documents of versions 1.0, 2.0 and 3.0 side by side, read as
// 3.0, written with stamps, their revisions kept within the limit.
#include "doctype_db/keyspace_policy.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/access_queue.h"
#include "db/feed.h"
#include "db/reader.h"
#include "db/test_database.h"
#include "db/traffic.h"
#include "db/transaction.h"
#include "doctype/test_types.h"
#include "doctype/type_json.h"
#include "doctype_db/policy_compiler.h"
#include "json/print.h"

namespace sluice::doctype_db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kType = R"(type: user
keyspace: b
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
  '3.0 -> 2.0'(doc) {
    const {phones, ...rest} = doc;
    return {...rest, _schema: '2.0', phone: phones[0].number};
  },
};
)";

constexpr std::string_view kSchema = R"({"type":"object","required":["userId","phones","_created"],
  "properties":{"phones":{"type":"array","items":{"type":"object","required":["type","number"],
  "properties":{"number":{"pattern":"^[0-9]{10}$"}}}}}})";

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

class KeyspacePolicyTest : public db::DatabaseTest {
 protected:
  KeyspacePolicyTest() { options_.policy_compiler = std::make_shared<PolicyCompiler>(clock_); }

  Status SetType(const std::string& text) {
    const auto type = doctype::TypeOf(
        text, {{"user-3.json", std::string(kSchema)}, {"user.migrations.js", std::string(kCode)}});
    return database_->admin().PutType({.bucket = "b"},
                                      {type->name, json::ToText(doctype::ToJson(*type))});
  }
  Status SetUser() { return SetType(std::string(kType)); }
  db::CommitResult PutBy(const std::string& actor, const std::string& key, std::string body) {
    db::Commit commit;
    commit.actor = actor;
    commit.writes.push_back(db::PutWrite(keyspace_, key, Json(std::move(body))));
    return database_->Apply(std::move(commit));
  }
  // Adds a field to the document as readers see it, as PATCH does.
  db::Write Adding(const std::string& key, const std::string& field) {
    db::Write write;
    write.kind = db::Write::Kind::kMutate;
    write.keyspace = keyspace_;
    write.key = key;
    write.mutation = [field](const db::DocumentView* present) -> Result<db::Mutated> {
      db::Mutated mutated;
      mutated.document = present->Copy();
      mutated.document.body.pop_back();
      mutated.document.body += "," + field + "}";
      return mutated;
    };
    return write;
  }
  // Each has its number as userId.
  void PutMany(size_t count, std::string_view body) {
    constexpr size_t kTogether = 500;
    for (size_t i = 0; i < count;) {
      db::Commit commit;
      for (; i < count && commit.writes.size() < kTogether; ++i) {
        const std::string own =
            Replaced(std::string(body), R"("userId":1)", fmt::format(R"("userId":{})", i));
        commit.writes.push_back(db::PutWrite(keyspace_, fmt::format("user:{}", i), Json(own)));
      }
      ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
    }
  }
  std::vector<uint64_t> Versions(const std::string& key) {
    std::vector<uint64_t> versions;
    const auto revisions = database_->revisions().List(keyspace_, key);
    EXPECT_TRUE(revisions);
    for (const db::Revision& revision : *revisions) {
      versions.push_back(revision.version);
      db::PinnedDocument document;
      EXPECT_TRUE(*database_->revisions().Get(keyspace_, key, revision.version, &document));
    }
    return versions;
  }
  std::vector<std::string> Scanned() {
    std::vector<std::string> keys;
    EXPECT_TRUE(database_
                    ->Scan(keyspace_, {},
                           [&](std::string_view key, const db::DocumentView&) {
                             keys.emplace_back(key);
                             return true;
                           })
                    .ok());
    return keys;
  }
  std::vector<std::string> Indexed(const std::string& name) {
    std::vector<std::string> keys;
    const auto catalog = database_->catalog();
    for (const auto& index : catalog->Find(keyspace_)->indexes) {
      if (index->definition().name != name) continue;
      const auto reader = db::NewSnapshotReader(*database_);
      const auto cursor = reader->ScanIndex(*index, {});
      while (cursor->Next()) keys.emplace_back(cursor->key());
      EXPECT_TRUE(cursor->status().ok()) << cursor->status().ToString();
    }
    return keys;
  }
};

constexpr std::string_view kFirst =
    R"({"_type":"user","_schema":"1.0","userId":1,"name":"Joe Smith","phone":"123-456-7890"})";
constexpr std::string_view kFirstAsRead =
    R"({"_type":"user","_schema":"3.0","userId":1,"firstName":"Joe","lastName":"Smith",)"
    R"("phones":[{"type":"mobile","number":"1234567890"}]})";

TEST_F(KeyspacePolicyTest, AllVersionsAreReadAsTheCurrentOne) {
  ASSERT_TRUE(Put("user:1", std::string(kFirst)).status.ok());
  ASSERT_TRUE(Put("user:3", R"({"_type":"user","_schema":"3.0","phones":[]})").status.ok());
  ASSERT_TRUE(Put("other", R"({"_schema":"1.0"})").status.ok());
  ASSERT_TRUE(SetUser().ok());
  EXPECT_EQ(Get("user:1"), kFirstAsRead);
  EXPECT_EQ(Get("user:3"), R"({"_type":"user","_schema":"3.0","phones":[]})");
  EXPECT_EQ(Get("other"), R"({"_schema":"1.0"})");

  db::Transaction transaction(*database_);
  EXPECT_EQ((*transaction.Get(keyspace_, "user:1"))->body, kFirstAsRead);
  const auto reader = db::NewSnapshotReader(*database_);
  const auto cursor = reader->Scan(keyspace_, {});
  std::vector<std::string> bodies;
  while (cursor->Next()) bodies.emplace_back(cursor->document().body);
  EXPECT_THAT(bodies, ElementsAre(R"({"_schema":"1.0"})", kFirstAsRead,
                                  R"({"_type":"user","_schema":"3.0","phones":[]})"));

  db::PinnedDocument pinned;
  ASSERT_TRUE(*database_->read_forms().GetAtVersion(keyspace_, "user:1", "2.0", &pinned));
  EXPECT_EQ(pinned->body, R"({"_type":"user","_schema":"2.0","userId":1,"firstName":"Joe",)"
                          R"("lastName":"Smith","phone":"123-456-7890"})");
  ASSERT_TRUE(*database_->read_forms().GetStored(keyspace_, "user:1", &pinned));
  EXPECT_EQ(pinned->body, kFirst);
}

// What a script made is there for the next reader of the same text, and of the same type.
TEST_F(KeyspacePolicyTest, AScriptRunsOnceForADocument) {
  const auto set = [this](const std::string& code) {
    const auto type = doctype::TypeOf(
        "type: user\nkeyspace: b\nmatch: {key: 'user:{userId}'}\nproperties: {schema: _schema}\n"
        "schema: '2.0'\nmigrations: m.js\n",
        {{"m.js", "module.exports = {'1.0 -> 2.0'(doc) { return {...doc, _schema: '2.0', " + code +
                      "}; }};"}});
    return database_->admin().PutType({.bucket = "b"},
                                      {type->name, json::ToText(doctype::ToJson(*type))});
  };
  ASSERT_TRUE(Put("user:1", R"({"_schema":"1.0"})").status.ok());
  ASSERT_TRUE(Put("user:2", R"({"_schema":"1.0"})").status.ok());
  ASSERT_TRUE(set("chance: Math.random()").ok());
  const std::string first = Get("user:1");
  EXPECT_THAT(first, HasSubstr("chance"));
  EXPECT_EQ(Get("user:1"), first);
  EXPECT_NE(Get("user:2"), first);
  ASSERT_TRUE(set("again: Math.random()").ok());
  EXPECT_THAT(Get("user:1"), HasSubstr("again"));
}

TEST_F(KeyspacePolicyTest, WritesAreUpgradedStampedAndKeptAsRevisions) {
  ASSERT_TRUE(SetUser().ok());
  clock_.AdvanceMs(1000);
  ASSERT_TRUE(PutBy("joe", "user:1", std::string(kFirst)).status.ok());
  const std::string first = Get("user:1");
  EXPECT_EQ(first,
            R"({"_ver":1,"_created":1700000001,"_modified":1700000001,"_modifiedBy":"joe",)"
            R"("_type":"user","_schema":"3.0","userId":1,"firstName":"Joe","lastName":"Smith",)"
            R"("phones":[{"type":"mobile","number":"1234567890"}]})");
  clock_.AdvanceMs(5000);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(
        PutBy("ann", "user:1", R"({"_created":1,"_ver":99,"userId":1,"phones":[]})").status.ok());
    if (i == 0) {
      EXPECT_EQ(Get("user:1:v:1"), first);
    }
  }
  EXPECT_EQ(Get("user:1"),
            R"({"_type":"user","_schema":"3.0","_modified":1700000006,"_modifiedBy":"ann",)"
            R"("_created":1700000001,"_ver":6,"userId":1,"phones":[]})");
  EXPECT_THAT(Versions("user:1"), ElementsAre(3, 4, 5));
  EXPECT_THAT(Scanned(), ElementsAre("user:1"));
  EXPECT_EQ(Get("user:1:v:1"), "-");
  EXPECT_NE(Get("user:1:v:5"), "-");
  EXPECT_EQ(Put("user:1:v:5", "{}").status.id(), "type.revision_key");
  Reopen();
  EXPECT_THAT(Versions("user:1"), ElementsAre(3, 4, 5));
  EXPECT_TRUE(PutBy("ann", "user:1", R"({"userId":1,"phones":[]})").status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(4, 5, 6));
}

constexpr std::string_view kUnversioned =
    R"({"userId":1,"name":"Joe Smith","phone":"123-456-7890"})";
constexpr std::string_view kUnversionedAsRead =
    R"({"_schema":"3.0","userId":1,"firstName":"Joe","lastName":"Smith",)"
    R"("phones":[{"type":"mobile","number":"1234567890"}]})";

// Data that was there before its type has no version: it is of the first one.
TEST_F(KeyspacePolicyTest, StoredDocumentsWithoutAVersion) {
  ASSERT_TRUE(Put("user:1", std::string(kUnversioned)).status.ok());
  ASSERT_TRUE(Put("user:2", R"({"_schema":null,"name":"A B","phone":"1234567890"})").status.ok());
  ASSERT_TRUE(database_->admin()
                  .CreateIndex({.bucket = "b"}, {.name = "i", .parts = {{.path = "lastName"}}})
                  .ok());
  ASSERT_TRUE(SetUser().ok());
  EXPECT_EQ(Get("user:1"), kUnversionedAsRead);
  EXPECT_THAT(Get("user:2"), HasSubstr(R"("firstName":"A")"));
  EXPECT_THAT(Indexed("i"), ElementsAre("user:2", "user:1"));

  // What is changed is the migrated form, and says its version.
  ASSERT_TRUE(Apply(Adding("user:1", R"("y":1)")).status.ok());
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("_schema":"3.0","userId":1,"firstName":"Joe")"));
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("y":1)"));
  EXPECT_THAT(Indexed("i"), ElementsAre("user:2", "user:1"));
  ASSERT_TRUE(Delete("user:2").status.ok());
  EXPECT_THAT(Indexed("i"), ElementsAre("user:1"));
}

// A whole document without a version is of the current one, unless the type says otherwise.
TEST_F(KeyspacePolicyTest, WrittenDocumentsWithoutAVersion) {
  const std::string type =
      Replaced(std::string(kType), "schema: \"3.0\"\n", "schema: \"3.0\"\nunversioned: \"1.0\"\n");
  ASSERT_TRUE(SetType(type).ok());
  ASSERT_TRUE(Put("user:1", std::string(kUnversioned)).status.ok());
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("_schema":"3.0","userId":1,"firstName":"Joe")"));
  ASSERT_TRUE(SetUser().ok());
  ASSERT_TRUE(Put("user:2", R"({"userId":2,"phones":[]})").status.ok());
  EXPECT_THAT(Get("user:2"), HasSubstr(R"("_schema":"3.0")"));
}

// Where readers get documents as they are stored, they write them back so, without a version.
TEST_F(KeyspacePolicyTest, WithoutAVersionAndNotMigratedOnRead) {
  const std::string off =
      Replaced(std::string(kType), "revisions:", "migrate: {read: off}\nrevisions:");
  ASSERT_TRUE(Put("user:1", std::string(kUnversioned)).status.ok());
  ASSERT_TRUE(SetType(off).ok());
  EXPECT_EQ(Get("user:1"), kUnversioned);
  ASSERT_TRUE(Apply(Adding("user:1", R"("y":1)")).status.ok());
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("firstName":"Joe")"));
  ASSERT_TRUE(Delete("user:1").status.ok());

  ASSERT_TRUE(database_->admin().DropType("user").ok());
  const std::string second = Replaced(std::string(kUnversioned), R"("userId":1)", R"("userId":2)");
  ASSERT_TRUE(Put("user:2", second).status.ok());
  ASSERT_TRUE(SetType(Replaced(off, "read: off", "read: off, write: off")).ok());
  ASSERT_TRUE(Put("user:2", second).status.ok());
  EXPECT_THAT(Get("user:2"), HasSubstr(R"("_schema":"1.0","userId":2,"name":"Joe Smith")"));
}

// A client of an older version gives what it knows; a step adds to what it does not know.
TEST_F(KeyspacePolicyTest, AStepOfAWriteSeesTheStoredDocument) {
  const auto type = doctype::TypeOf(
      "type: user\nkeyspace: b\nmatch: {key: 'user:{userId}'}\nproperties: {schema: _schema}\n"
      "schema: '2.0'\nmigrations: m.js\n",
      {{"m.js",
        "module.exports = {'1.0 -> 2.0'({n, ...doc}, {to, stored}) {\n"
        "  return {...doc, _schema: to, all: [...(stored?.all ?? []), n]}; }};"}});
  ASSERT_TRUE(database_->admin()
                  .PutType({.bucket = "b"}, {type->name, json::ToText(doctype::ToJson(*type))})
                  .ok());
  ASSERT_TRUE(Put("user:1", R"({"_schema":"1.0","n":1})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"_schema":"1.0","n":2})").status.ok());
  EXPECT_EQ(Get("user:1"), R"({"_schema":"2.0","all":[1,2]})");
  // Several in one commit see each other.
  db::Commit commit;
  for (const char* const body : {R"({"_schema":"1.0","n":3})", R"({"_schema":"1.0","n":4})"}) {
    commit.writes.push_back(db::PutWrite(keyspace_, "user:1", Json(body)));
  }
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_EQ(Get("user:1"), R"({"_schema":"2.0","all":[1,2,3,4]})");
  // So do writers at the same time: nothing that one of them added is lost.
  constexpr int kWriters = 4;
  constexpr int kWrites = 50;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kWrites; ++i) {
        const int n = 1000 + writer * kWrites + i;
        EXPECT_TRUE(Put("user:1", fmt::format(R"({{"_schema":"1.0","n":{}}})", n)).status.ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string all = Get("user:1");
  for (int n = 1000; n < 1000 + kWriters * kWrites; ++n) {
    EXPECT_THAT(all, HasSubstr(fmt::format("{}", n)));
  }
}

TEST_F(KeyspacePolicyTest, WhatDoesNotFitIsRefused) {
  ASSERT_TRUE(SetUser().ok());
  EXPECT_EQ(
      Put("user:1", R"({"userId":1,"phones":[{"type":"x","number":"12"}]})").status.ToString(),
      "schema.violated: document 'user:1' of type 'user': /phones/0/number: does not match "
      "'^[0-9]{10}$'");
  EXPECT_EQ(Put("user:1", R"({"userId":1,"phones":[1,2,3]})").status.id(), "type.array_too_long");
  EXPECT_EQ(Put("user:1", R"({"_schema":"7"})").status.id(), "migration.unknown_version");
  EXPECT_EQ(Put("user:1", R"({"_schema":"2.0"})").status.id(), "migration.threw");
  EXPECT_EQ(Put("user:1", "[]").status.id(), "type.not_object");
  EXPECT_EQ(Put("user:1", R"({"_type":"order"})").status.id(), "type.mismatch");
  EXPECT_EQ(Put("order:1", R"({"_type":"user"})").status.id(), "type.key_mismatch");
  db::Document binary = Json("x");
  binary.datatype = db::Datatype::kBinary;
  EXPECT_EQ(Apply(db::PutWrite(keyspace_, "user:1", binary)).status.id(), "type.not_object");
  EXPECT_THAT(Scanned(), IsEmpty());
}

TEST_F(KeyspacePolicyTest, WhatCannotBeReadCanBeCounted) {
  ASSERT_TRUE(Put("user:1", R"({"_type":"user","_schema":"2.0"})").status.ok());
  ASSERT_TRUE(SetUser().ok());
  EXPECT_EQ(database_->Get(keyspace_, "user:1").error().id(), "migration.threw");
  EXPECT_EQ(*database_->CountDocuments(keyspace_), 1u);
}

TEST_F(KeyspacePolicyTest, ScansGoOnWithoutWhatCannotBeRead) {
  ASSERT_TRUE(Put("user:1", R"({"_type":"user","_schema":"2.0"})").status.ok());
  ASSERT_TRUE(Put("user:2", std::string(kFirst)).status.ok());
  ASSERT_TRUE(SetUser().ok());
  std::vector<std::string> keys;
  const auto visit = [&](std::string_view key, const db::DocumentView&) {
    keys.emplace_back(key);
    return true;
  };
  EXPECT_EQ(database_->Scan(keyspace_, {}, visit).id(), "migration.threw");
  db::ScanOptions options;
  std::string told;
  options.on_unreadable = [&](std::string_view key, const Status& why) {
    told = fmt::format("{} {}", key, why.id());
    return true;
  };
  EXPECT_TRUE(database_->Scan(keyspace_, options, visit).ok());
  EXPECT_THAT(keys, ElementsAre("user:2"));
  EXPECT_EQ(told, "user:1 migration.threw");
  // A transaction that has replaced it does not ask for it.
  db::Transaction transaction(*database_);
  ASSERT_TRUE(transaction.Put(keyspace_, "user:1", Json(R"({"userId":1,"phones":[]})")));
  keys.clear();
  EXPECT_TRUE(transaction.Scan(keyspace_, "", "", visit).ok());
  EXPECT_THAT(keys, ElementsAre("user:1", "user:2"));
}

TEST_F(KeyspacePolicyTest, MutationsAndTouchesPassThrough) {
  ASSERT_TRUE(Put("user:1", std::string(kFirst)).status.ok());
  ASSERT_TRUE(SetUser().ok());
  ASSERT_TRUE(Apply(db::TouchWrite(keyspace_, "user:1", clock_.WallMs() + 1000)).status.ok());
  EXPECT_THAT(Versions("user:1"), IsEmpty());
  db::Write write;
  write.kind = db::Write::Kind::kMutate;
  write.keyspace = keyspace_;
  write.key = "user:1";
  std::string seen;
  write.mutation = [&](const db::DocumentView* present) -> Result<db::Mutated> {
    seen = present->body;
    db::Mutated mutated;
    mutated.document = present->Copy();
    mutated.reply = "done";
    return mutated;
  };
  const db::CommitResult result = Apply(std::move(write));
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(result.writes[0].reply, "done");
  EXPECT_EQ(seen, kFirstAsRead);
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("_ver":2)"));
  EXPECT_EQ(Get("user:1:v:1"), kFirst);
  EXPECT_EQ(Apply(db::CounterWrite(keyspace_, "user:9", {.initial = 1})).status.id(),
            "type.not_object");
}

TEST_F(KeyspacePolicyTest, DeletesKeepOrPurge) {
  ASSERT_TRUE(SetUser().ok());
  const std::string body = R"({"userId":1,"phones":[]})";
  ASSERT_TRUE(Put("user:1", body).status.ok());
  ASSERT_TRUE(Put("user:1", body).status.ok());
  ASSERT_TRUE(Delete("user:1").status.ok());
  ASSERT_TRUE(Delete("user:1").status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(1, 2));
  ASSERT_TRUE(Put("user:1", body).status.ok());
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("_ver":3)"));

  // One that expires, and one that was replaced before anybody noticed that it had.
  ASSERT_TRUE(Apply(db::TouchWrite(keyspace_, "user:1", clock_.WallMs() + 1000)).status.ok());
  clock_.AdvanceMs(2000);
  ASSERT_TRUE(Put("user:1", body).status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(1, 2, 3));
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("_ver":4)"));
  EXPECT_EQ(*database_->revisions().Erase(keyspace_, "user:1"), 3u);
  EXPECT_THAT(Versions("user:1"), IsEmpty());

  ASSERT_TRUE(Put("user:1", body).status.ok());
  ASSERT_TRUE(SetType(Replaced(std::string(kType), "keep: 3", "keep: 3, on_delete: purge")).ok());
  ASSERT_TRUE(Delete("user:1").status.ok());
  EXPECT_THAT(Versions("user:1"), IsEmpty());
}

TEST_F(KeyspacePolicyTest, SeveralWritesOfOneCommit) {
  ASSERT_TRUE(SetUser().ok());
  const std::string body = R"({"userId":1,"phones":[]})";
  ASSERT_TRUE(Put("user:1", body).status.ok());
  db::Commit commit;
  for (int i = 0; i < 3; ++i) {
    commit.writes.push_back(db::PutWrite(keyspace_, "user:1", Json(body)));
  }
  ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(1, 2, 3));
  EXPECT_THAT(Get("user:1:v:3"), HasSubstr(R"("_ver":3)"));
}

TEST_F(KeyspacePolicyTest, LimitsByAgeAndOfAChangedType) {
  ASSERT_TRUE(SetType(Replaced(std::string(kType), "keep: 3", "keep: 5, max_age: 1h")).ok());
  const std::string body = R"({"userId":1,"phones":[]})";
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Put("user:1", body).status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(1, 2, 3));
  clock_.AdvanceMs(3'600'001);
  EXPECT_THAT(Versions("user:1"), IsEmpty());
  ASSERT_TRUE(Put("user:1", body).status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(4));
  ASSERT_TRUE(Put("user:1", body).status.ok());
  ASSERT_TRUE(Put("user:1", body).status.ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(4, 5, 6));
  ASSERT_TRUE(SetType(Replaced(std::string(kType), "keep: 3", "keep: 1")).ok());
  EXPECT_THAT(Versions("user:1"), ElementsAre(6));
}

TEST_F(KeyspacePolicyTest, IndexesHaveTheFormThatIsRead) {
  ASSERT_TRUE(database_->admin()
                  .CreateIndex({.bucket = "b"}, {.name = "byLast", .parts = {{.path = "lastName"}}})
                  .ok());
  ASSERT_TRUE(database_->admin()
                  .CreateIndex({.bucket = "b"}, {.name = "byName", .parts = {{.path = "name"}}})
                  .ok());
  ASSERT_TRUE(Put("user:1", std::string(kFirst)).status.ok());
  ASSERT_TRUE(Put("user:2", std::string(kFirst)).status.ok());
  EXPECT_THAT(Indexed("byName"), ElementsAre("user:1", "user:2"));
  ASSERT_TRUE(SetUser().ok());
  EXPECT_THAT(Indexed("byName"), IsEmpty());
  EXPECT_THAT(Indexed("byLast"), ElementsAre("user:1", "user:2"));
  // The old rows of a document that is stored in its old form are found.
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[]})").status.ok());
  EXPECT_THAT(Indexed("byLast"), ElementsAre("user:2"));
  ASSERT_TRUE(Delete("user:2").status.ok());
  EXPECT_THAT(Indexed("byLast"), IsEmpty());
  Reopen();
  EXPECT_THAT(Indexed("byLast"), IsEmpty());
  ASSERT_TRUE(database_->admin().DropType("user").ok());
  EXPECT_EQ(database_->admin().DropType("user").id(), "type.not_found");
  EXPECT_THAT(Indexed("byName"), IsEmpty());
}

TEST_F(KeyspacePolicyTest, PersistStoresWhatWasRead) {
  ASSERT_TRUE(Put("user:1", std::string(kFirst)).status.ok());
  ASSERT_TRUE(SetType(std::string(kType) + "migrate: { read: persist }\n").ok());
  const auto before = *database_->Get(keyspace_, "user:1");
  EXPECT_EQ(before->body, kFirstAsRead);
  ASSERT_TRUE(Put("other", "{}").status.ok());  // after the write that the read made
  db::PinnedDocument stored;
  ASSERT_TRUE(*database_->read_forms().GetStored(keyspace_, "user:1", &stored));
  EXPECT_EQ(stored->body, kFirstAsRead);
  EXPECT_EQ(stored->cas, before->cas);
  EXPECT_THAT(Versions("user:1"), IsEmpty());
}

TEST_F(KeyspacePolicyTest, Quarantine) {
  ASSERT_TRUE(
      database_->admin()
          .CreateCollection({.bucket = "b", .scope = "_default", .collection = "quarantine"})
          .ok());
  ASSERT_TRUE(SetType(Replaced(std::string(kType), "enforce", "quarantine")).ok());
  const db::CommitResult result = Put("user:1", R"({"userId":1})");
  ASSERT_TRUE(result.status.ok()) << result.status.ToString();
  EXPECT_EQ(result.writes[0].violation.id(), "schema.violated");
  EXPECT_THAT(result.writes[0].diverted_to, HasSubstr("b._default.quarantine/user:1:"));
  EXPECT_EQ(Get("user:1"), "-");
  std::string record;
  ASSERT_TRUE(database_
                  ->Scan(*database_->Resolve({.bucket = "b", .collection = "quarantine"}), {},
                         [&](std::string_view, const db::DocumentView& document) {
                           record = document.body;
                           return true;
                         })
                  .ok());
  EXPECT_THAT(record, HasSubstr(R"("reason":{"id":"schema.violated")"));
  EXPECT_THAT(record, HasSubstr(R"("userId":1})"));

  ASSERT_TRUE(SetType(Replaced(std::string(kType), "enforce", "warn")).ok());
  const db::CommitResult warned = Put("user:1", R"({"userId":1})");
  EXPECT_EQ(warned.writes[0].violation.id(), "schema.violated");
  EXPECT_NE(Get("user:1"), "-");
}

TEST_F(KeyspacePolicyTest, TypesThatCannotBeUsedStopWrites) {
  ASSERT_TRUE(SetUser().ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[]})").status.ok());
  options_.policy_compiler = nullptr;
  Reopen();
  EXPECT_EQ(Put("user:1", R"({"userId":1,"phones":[]})").status.id(), "type.unusable");
  EXPECT_NE(Get("user:1"), "-");
  // Nobody knows which index rows and revisions it has.
  EXPECT_EQ(Delete("user:1").status.id(), "type.unusable");
  EXPECT_EQ(Apply(db::TouchWrite(keyspace_, "user:1", 1)).status.id(), "type.unusable");
  EXPECT_NE(Get("user:1"), "-");
}

TEST_F(KeyspacePolicyTest, WhatExpiresWhileTypesCannotBeUsedGoesLater) {
  ASSERT_TRUE(database_->admin().CreateBucket("other").ok());
  const db::KeyspaceId other = *database_->Resolve({.bucket = "other"});
  ASSERT_TRUE(SetUser().ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[]})").status.ok());
  ASSERT_TRUE(Apply(db::TouchWrite(keyspace_, "user:1", clock_.WallMs() + 1000)).status.ok());
  ASSERT_TRUE(Apply(db::PutWrite(other, "k", Json("{}", clock_.WallMs() + 1000))).status.ok());
  const auto compiler = std::exchange(options_.policy_compiler, nullptr);
  Reopen();
  clock_.AdvanceMs(2000);
  EXPECT_EQ(*database_->operations().ExpireNow(), 1u);
  EXPECT_EQ(Get("user:1"), "-");
  options_.policy_compiler = compiler;
  Reopen();
  EXPECT_THAT(Versions("user:1"), IsEmpty());
  EXPECT_EQ(*database_->operations().ExpireNow(), 1u);
  EXPECT_THAT(Versions("user:1"), ElementsAre(1));
}

class AccessTest : public KeyspacePolicyTest {
 protected:
  static constexpr uint64_t kHourMs = 3'600'000;

  Status SetAccessed() {
    return SetType(Replaced(std::string(kType), "precision: s",
                            "precision: s, accessed: { name: _accessed, precision: 1h }"));
  }
  uint64_t StampedAt() { return clock_.WallMs() / kHourMs * kHourMs / 1000; }
  std::string Stored(const std::string& key) {
    db::PinnedDocument document;
    EXPECT_TRUE(*database_->read_forms().GetStored(keyspace_, key, &document));
    return std::string(document->body);
  }
};

TEST_F(AccessTest, AReadIsNotedLaterAndSeldom) {
  ASSERT_TRUE(SetAccessed().ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[]})").status.ok());
  EXPECT_EQ(database_->operations().StampAccessesNow(), 0u);
  const auto before = *database_->Get(keyspace_, "user:1");
  EXPECT_EQ(database_->operations().StampAccessesNow(), 1u);
  const auto after = *database_->Get(keyspace_, "user:1");
  EXPECT_EQ(after->body, fmt::format(R"({{"_accessed":{},{})", StampedAt(),
                                     std::string_view(before->body).substr(1)));
  EXPECT_EQ(after->cas, before->cas);
  EXPECT_EQ(after->sequence, before->sequence);
  EXPECT_THAT(Versions("user:1"), IsEmpty());
  EXPECT_EQ(database_->operations().StampAccessesNow(), 0u);
  clock_.AdvanceMs(kHourMs);
  EXPECT_EQ(database_->operations().StampAccessesNow(), 0u);
  db::Transaction transaction(*database_);
  ASSERT_TRUE(*transaction.Get(keyspace_, "user:1"));
  EXPECT_EQ(database_->operations().StampAccessesNow(), 1u);
  EXPECT_THAT(Get("user:1"), HasSubstr(fmt::format(R"("_accessed":{})", StampedAt())));
  // A client can't forge it, and a write does not lose it.
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"_accessed":1})").status.ok());
  EXPECT_THAT(Get("user:1"), HasSubstr(fmt::format(R"("_accessed":{})", StampedAt())));
}

TEST_F(AccessTest, ScansAreNoReads) {
  ASSERT_TRUE(SetAccessed().ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[]})").status.ok());
  EXPECT_THAT(Scanned(), ElementsAre("user:1"));
  EXPECT_EQ(database_->operations().StampAccessesNow(), 0u);
}

TEST_F(AccessTest, NobodyIsTold) {
  ASSERT_TRUE(SetAccessed().ok());
  ASSERT_TRUE(database_->followers().Create({.name = "f", .keyspaces = {keyspace_}}).ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[]})").status.ok());
  const db::CursorState start = *database_->followers().ReadCursor({"f", 0, 0});
  const db::Sequence last = database_->followers().LastSequence(0);
  ASSERT_NE(Get("user:1"), "-");
  EXPECT_EQ(database_->operations().StampAccessesNow(), 1u);
  const auto feed = *db::Feed::OfFollower(*database_, 0, "f", start);
  EXPECT_EQ(*feed->Read(10, [](const db::Change&) { return true; }), 1u);
  EXPECT_GE(database_->followers().LastSequence(0), last);
}

// Stored in an old version it stays so, and the rows of indexes follow the stamp.
TEST_F(AccessTest, OldVersionsAndIndexes) {
  ASSERT_TRUE(Put("user:1", std::string(kFirst)).status.ok());
  ASSERT_TRUE(
      database_->admin()
          .CreateIndex({.bucket = "b"}, {.name = "byAccess", .parts = {{.path = "_accessed"}}})
          .ok());
  ASSERT_TRUE(SetAccessed().ok());
  EXPECT_EQ(Get("user:1"), kFirstAsRead);
  EXPECT_EQ(database_->operations().StampAccessesNow(), 1u);
  EXPECT_EQ(Stored("user:1"), fmt::format(R"({{"_accessed":{},{})", StampedAt(), kFirst.substr(1)));
  EXPECT_THAT(Get("user:1"), HasSubstr(R"("_schema":"3.0")"));
  EXPECT_THAT(Indexed("byAccess"), ElementsAre("user:1"));
  clock_.AdvanceMs(2 * kHourMs);
  EXPECT_NE(Get("user:1"), "-");
  EXPECT_EQ(database_->operations().StampAccessesNow(), 1u);
  EXPECT_THAT(Indexed("byAccess"), ElementsAre("user:1"));
  ASSERT_TRUE(Delete("user:1").status.ok());
  EXPECT_THAT(Indexed("byAccess"), IsEmpty());
}

TEST_F(AccessTest, WhatIsReadTooOftenIsDropped) {
  ASSERT_TRUE(SetAccessed().ok());
  constexpr int kMore = 10;
  PutMany(db::AccessQueue::kMaxQueued + kMore, R"({"userId":1,"phones":[]})");
  for (size_t i = 0; i < db::AccessQueue::kMaxQueued + kMore; ++i) {
    ASSERT_NE(Get(fmt::format("user:{}", i)), "-");
  }
  EXPECT_EQ(database_->operations().StampAccessesNow(), db::AccessQueue::kMaxQueued);
  for (size_t i = 0; i < db::AccessQueue::kMaxQueued + kMore; ++i) {
    ASSERT_NE(Get(fmt::format("user:{}", i)), "-");
  }
  EXPECT_EQ(database_->operations().StampAccessesNow(), static_cast<uint64_t>(kMore));
}

TEST_F(AccessTest, OfUpdatesItIsSeenWhatTheyChange) {
  ASSERT_TRUE(SetAccessed().ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"a":1,"b":2})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"a":2,"b":2})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"a":3,"b":2})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"a":4})").status.ok());
  const db::KeyspaceTraffic traffic = database_->operations().TrafficOf(keyspace_);
  EXPECT_EQ(traffic.updates, 3u);
  EXPECT_THAT(traffic.alone, ElementsAre(testing::Pair("a", 2)));
  EXPECT_THAT(traffic.changed, ElementsAre(testing::Pair("a", 3), testing::Pair("b", 1)));
  EXPECT_TRUE(traffic.longer.empty());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"tags":[1],"a":4})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"tags":[1,2],"a":4})").status.ok());
  ASSERT_TRUE(Put("user:1", R"({"userId":1,"phones":[],"tags":[],"a":4})").status.ok());
  EXPECT_THAT(database_->operations().TrafficOf(keyspace_).longer,
              ElementsAre(testing::Pair("tags", 1)));
}

// A change of types waits for indexes, but nobody waits for it.
TEST_F(KeyspacePolicyTest, OtherChangesPassWhileIndexesAreBuilt) {
  PutMany(3000, kFirst);
  ASSERT_TRUE(database_->admin()
                  .CreateIndex({.bucket = "b"}, {.name = "byLast", .parts = {{.path = "lastName"}}})
                  .ok());
  std::atomic<bool> set = false;
  std::thread setting([&] {
    EXPECT_TRUE(SetUser().ok());
    set = true;
  });
  uint64_t during = 0;
  for (int i = 0; !set; ++i) {
    ASSERT_TRUE(database_->admin().CreateBucket(fmt::format("made{}", i)).ok());
    const bool building = std::ranges::any_of(
        database_->catalog()->Find(keyspace_)->indexes,
        [](const auto& index) { return index->state() == db::Index::State::kBuilding; });
    if (building) ++during;
  }
  setting.join();
  EXPECT_GT(during, 0u);
  EXPECT_EQ(Indexed("byLast").size(), 3000u);
}

}  // namespace
}  // namespace sluice::doctype_db
