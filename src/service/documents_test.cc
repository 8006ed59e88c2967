// Reads and writes of single documents, without a protocol.
#include "service/documents.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "net/test_exchange.h"
#include "service/document_changes.h"
#include "service/test_principal.h"
#include "service/transform.h"

namespace sluice::service {
namespace {

class DocumentsTest : public db::DatabaseTest {
 protected:
  Caller Me() { return {exchange_, "ann"}; }
  Target At(std::string_view key) const { return {keyspace_, key}; }

  net::Task<db::CommitResult> WriteTask(db::Write write) {
    co_return co_await CommitAndWait(*database_, Me(), std::move(write));
  }
  db::CommitResult Write(db::Write write) { return exchange_.Await(WriteTask(std::move(write))); }
  db::CommitResult Change(std::string_view key, Transformation change,
                          db::Precondition condition = {}) {
    return exchange_.Await(Transform(*database_, Me(), At(key), condition,
                                     std::make_shared<const Transformation>(std::move(change))));
  }
  Transformation Specs(std::vector<json::MutateSpec> list) {
    SubdocSpecs specs;
    for (size_t i = 0; i < list.size(); ++i) specs.body_places.push_back(i);
    specs.body = std::move(list);
    return SubdocChange(*database_, keyspace_, std::move(specs));
  }
  static json::MutateSpec Counter(std::string path) {
    json::MutateSpec spec;
    spec.op = json::MutateSpec::Op::kCounter;
    spec.path = std::move(path);
    spec.delta = 1;
    return spec;
  }

  net::TestExchange exchange_;
};

TEST_F(DocumentsTest, KeyspacesAreFoundByName) {
  EXPECT_EQ(ResolveKeyspace(*database_, "b", Access::kWrite), keyspace_);
  EXPECT_EQ(ResolveKeyspace(*database_, "b._default._default", Access::kRead), keyspace_);
  EXPECT_FALSE(ResolveKeyspace(*database_, "none", Access::kRead));
  EXPECT_EQ(ResolveTarget(*database_, "b", "k", Access::kWrite)->key, "k");
  EXPECT_EQ(ResolveTarget(*database_, "b", "", Access::kRead).error().id(), "document.invalid_key");
}

TEST_F(DocumentsTest, PermissionsComeBeforeWhatIsThere) {
  const auto reader = Somebody("ann", {"reader:b"});
  EXPECT_EQ(ResolvePermitted(*database_, *reader, Access::kRead, "b"), keyspace_);
  EXPECT_EQ(ResolvePermitted(*database_, *reader, Access::kWrite, "b").error().id(),
            "auth.forbidden");
  EXPECT_EQ(ResolvePermitted(*database_, *reader, Access::kRead, "none").error().id(),
            "auth.forbidden");
}

TEST_F(DocumentsTest, WritesAndReads) {
  const db::CommitResult written = Write(db::PutWrite(keyspace_, "k", Json("1"), {}));
  ASSERT_TRUE(written.status.ok());
  db::PinnedDocument document;
  const auto found = GetNow(*database_, At("k"), &document);
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE(**found);
  EXPECT_EQ(document->body, "1");
  EXPECT_EQ(document->cas, written.writes.front().cas);
  EXPECT_FALSE(**GetNow(*database_, At("none"), &document));
  const auto refused = Write(db::PutWrite(keyspace_, "k", Json("2"), db::Precondition::Absent()));
  EXPECT_EQ(refused.status.id(), "document.exists");
  EXPECT_EQ(Get("k"), "1");
}

TEST_F(DocumentsTest, AClientThatLeavesEndsTheWaitNotTheCommit) {
  const auto result =
      exchange_.AwaitAfterLeaving(WriteTask(db::PutWrite(keyspace_, "k", Json("1"), {})));
  EXPECT_TRUE(result.status.ok() || result.status.id() == "http.cancelled");
  // The shard's commits are in order, so this one comes after it.
  EXPECT_EQ(Put("k", "2", db::Precondition::Absent()).status.id(), "document.exists");
  EXPECT_EQ(Get("k"), "1");
}

TEST_F(DocumentsTest, NewKeysDiffer) {
  const auto first = NewKeyOf(*database_, keyspace_, Json("1"));
  EXPECT_EQ(first->size(), 36u);
  EXPECT_NE(*first, *NewKeyOf(*database_, keyspace_, Json("1")));
}

TEST_F(DocumentsTest, ChangesPartsOfADocument) {
  Put("k", R"({"a":1,"n":{"x":1}})");
  const auto patched =
      Change("k", MergePatchChange(*database_, keyspace_, *json::Parse(R"({"a":null,"b":2})")));
  ASSERT_TRUE(patched.status.ok()) << patched.status.ToString();
  EXPECT_EQ(Get("k"), R"({"n":{"x":1},"b":2})");
  const auto counted = Change("k", Specs({Counter("n.x"), Counter("b")}));
  ASSERT_TRUE(counted.status.ok()) << counted.status.ToString();
  EXPECT_EQ(counted.writes.front().reply, "[2,3]");
  EXPECT_EQ(Get("k"), R"({"n":{"x":2},"b":3})");
}

TEST_F(DocumentsTest, ChangesAllPartsOrNone) {
  Put("k", R"({"a":1,"s":"text"})");
  const auto failed = Change("k", Specs({Counter("a"), Counter("s")}));
  EXPECT_EQ(failed.status.fields().at("spec"), "1");
  EXPECT_EQ(Get("k"), R"({"a":1,"s":"text"})");
}

TEST_F(DocumentsTest, WhatIsNotThereCanNotBeChanged) {
  EXPECT_EQ(Change("none", Specs({Counter("a")})).status.id(), "document.not_found");
}

TEST_F(DocumentsTest, AnExpiryCanComeWithAChange) {
  Put("k", R"({"a":1})");
  const uint64_t then_ms = clock_.WallMs() + 60'000;
  ASSERT_TRUE(Change("k", WithExpiry(Specs({Counter("a")}), then_ms)).status.ok());
  db::PinnedDocument document;
  ASSERT_TRUE(**GetNow(*database_, At("k"), &document));
  EXPECT_EQ(document->expiry_ms, then_ms);
}

// A large document is transformed on a worker, and again when another write came first.
TEST_F(DocumentsTest, ALargeDocumentIsTransformedAgainWhenOvertaken) {
  const std::string filler(100 << 10, 'x');
  Put("k", R"({"a":1,"f":")" + filler + R"("})");
  std::atomic<int> calls = 0;
  const auto count = Specs({Counter("a")});
  const auto changed = Change("k", [&](const db::DocumentView& present) {
    if (++calls == 1) Put("k", R"({"a":10,"f":")" + filler + R"("})");
    return count(present);
  });
  ASSERT_TRUE(changed.status.ok()) << changed.status.ToString();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(changed.writes.front().reply, "[11]");
}

TEST_F(DocumentsTest, ALargeDocumentOfAGivenVersionIsNotTransformedAgain) {
  const std::string body = R"({"a":1,"f":")" + std::string(100 << 10, 'x') + R"("})";
  const db::Cas cas = Put("k", body).writes.front().cas;
  const auto count = Specs({Counter("a")});
  const auto changed = Change(
      "k",
      [&](const db::DocumentView& present) {
        Put("k", body);
        return count(present);
      },
      db::Precondition::CasIs(cas));
  EXPECT_EQ(changed.status.id(), "document.cas_mismatch");
  EXPECT_EQ(Get("k"), body);
}

}  // namespace
}  // namespace sluice::service
