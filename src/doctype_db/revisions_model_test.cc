// Random updates, deletions, restores, changes of the limits, time and restarts: after each step
// the revisions are exactly those that a simple model says.
#include <cstdlib>
#include <map>
#include <optional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "db/test_database.h"
#include "doctype/test_types.h"
#include "doctype/type_json.h"
#include "doctype_db/policy_compiler.h"
#include "json/print.h"

namespace sluice::doctype_db {
namespace {

struct Limits {
  uint64_t keep = 3;
  uint64_t max_age_ms = 0;
  bool purge = false;
};

struct Model {
  std::optional<uint64_t> version;  // of the document, if there is one
  std::vector<db::Revision> revisions;

  uint64_t last() const { return revisions.empty() ? 0 : revisions.back().version; }
  void Keep(uint64_t now_ms) { revisions.push_back({*version, now_ms}); }
  void Trim(const Limits& limits, uint64_t now_ms) {
    std::erase_if(revisions, [&](const db::Revision& each) {
      return limits.max_age_ms != 0 && each.made_ms + limits.max_age_ms < now_ms;
    });
    while (revisions.size() > limits.keep) revisions.erase(revisions.begin());
  }
};

class RevisionsModelTest : public db::DatabaseTest, public testing::WithParamInterface<uint16_t> {
 protected:
  RevisionsModelTest() {
    options_.policy_compiler = std::make_shared<PolicyCompiler>(clock_);
    options_.durability = db::Durability::kNone;
    options_.shards = GetParam();
  }

  void SetLimits() {
    std::string text =
        "type: user\nkeyspace: b\nmatch: { key: \"user:{id}\" }\nproperties: { version: _ver }\n";
    text += fmt::format("revisions: {{ keep: {}, on_delete: {}", limits_.keep,
                        limits_.purge ? "purge" : "keep");
    if (limits_.max_age_ms != 0) text += fmt::format(", max_age: {}ms", limits_.max_age_ms);
    text += " }\n";
    const auto type = doctype::TypeOf(text);
    ASSERT_TRUE(database_->admin()
                    .PutType({.bucket = "b"}, {"user", json::ToText(doctype::ToJson(*type))})
                    .ok());
  }

  void Write(const std::string& key, std::string body) {
    Model& model = models_[key];
    ASSERT_TRUE(Put(key, std::move(body)).status.ok());
    if (model.version) {
      model.Keep(clock_.WallMs());
      ++*model.version;
    } else {
      model.version = model.last() + 1;
    }
    model.Trim(limits_, clock_.WallMs());
  }

  void Remove(const std::string& key) {
    Model& model = models_[key];
    ASSERT_TRUE(Delete(key).status.ok());
    if (!model.version) return;
    if (limits_.purge) {
      model.revisions.clear();
    } else {
      model.Keep(clock_.WallMs());
      model.Trim(limits_, clock_.WallMs());
    }
    model.version.reset();
  }

  void Restore(const std::string& key) {
    const auto revisions = database_->revisions().List(keyspace_, key);
    ASSERT_TRUE(revisions);
    if (revisions->empty()) return;
    db::PinnedDocument old;
    ASSERT_TRUE(*database_->revisions().Get(keyspace_, key, revisions->front().version, &old));
    Write(key, std::string(old->body));
  }

  void Check(const std::string& key) {
    Model visible = models_[key];
    visible.Trim(limits_, clock_.WallMs());
    const auto revisions = database_->revisions().List(keyspace_, key);
    ASSERT_TRUE(revisions);
    EXPECT_EQ(*revisions, visible.revisions) << key;
    for (const db::Revision& revision : visible.revisions) {
      const std::string body = Get(fmt::format("{}:v:{}", key, revision.version));
      EXPECT_THAT(body, testing::HasSubstr(fmt::format(R"("_ver":{})", revision.version)));
    }
    const std::string body = Get(key);
    EXPECT_EQ(body != "-", visible.version.has_value());
    if (visible.version) {
      EXPECT_THAT(body, testing::HasSubstr(fmt::format(R"("_ver":{})", *visible.version)));
    }
  }

  Limits limits_;
  std::map<std::string, Model> models_;
};

TEST_P(RevisionsModelTest, ExactlyAsThePolicySays) {
  const char* const given = std::getenv("SLUICE_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  SetLimits();
  for (int step = 0; step < 1500 && !HasFailure(); ++step) {
    const std::string key = fmt::format("user:{}", random.Below(4));
    const uint64_t what = random.Below(100);
    if (what < 60) {
      Write(key, fmt::format(R"({{"n":{}}})", step));
    } else if (what < 72) {
      Remove(key);
    } else if (what < 80) {
      Restore(key);
    } else if (what < 82) {
      ASSERT_TRUE(database_->revisions().Erase(keyspace_, key));
      models_[key].revisions.clear();
    } else if (what < 90) {
      clock_.AdvanceMs(random.Below(2000));
    } else if (what < 97) {
      limits_ = {1 + random.Below(6), random.Below(2) * (500 + random.Below(3000)),
                 random.Below(2) == 1};
      SetLimits();
    } else {
      Reopen();
    }
    for (int user = 0; user < 4; ++user) Check(fmt::format("user:{}", user));
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RevisionsModelTest, testing::Values(1, 3));

}  // namespace
}  // namespace sluice::doctype_db
