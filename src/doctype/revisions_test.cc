#include "doctype/revisions.h"

#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctype/stamps.h"
#include "doctype/test_types.h"

namespace sluice::doctype {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kDayMs = 86'400'000;

TEST(Revisions, UpdateKeepsThePreviousAndTrims) {
  const auto type = TypeOf(kUserType);  // keep 3
  const Revision existing[] = {{3, kDayMs}, {1, kDayMs}, {2, kDayMs}};
  const RevisionPlan plan = PlanUpdate(*type, "user:1", 4, existing, 2 * kDayMs);
  EXPECT_EQ(plan.write, 4u);
  EXPECT_EQ(plan.write_key, "user:1:v:4");
  EXPECT_THAT(plan.remove, ElementsAre(1u));
  EXPECT_THAT(plan.remove_keys, ElementsAre("user:1:v:1"));
  const RevisionPlan first = PlanUpdate(*type, "user:1", 0, {}, kDayMs);
  EXPECT_FALSE(first.write);
  EXPECT_THAT(first.remove, IsEmpty());
}

TEST(Revisions, AgeCounts) {
  const auto type = TypeOf(kUserType);
  const Revision existing[] = {{5, 100 * kDayMs}, {6, 101 * kDayMs}};
  EXPECT_THAT(PlanTrim(*type, "user:1", existing, 465 * kDayMs).remove, IsEmpty());
  EXPECT_THAT(PlanTrim(*type, "user:1", existing, 465 * kDayMs + 1).remove, ElementsAre(5u));
}

TEST(Revisions, DeleteKeepsOrPurges) {
  const auto keep = TypeOf(kUserType);
  const Revision existing[] = {{2, 1}, {1, 1}};
  const RevisionPlan kept = PlanDelete(*keep, "user:1", R"({"_ver":3})", existing, 10);
  EXPECT_EQ(kept.write_key, "user:1:v:3");
  EXPECT_THAT(kept.remove, IsEmpty());
  std::string text(kUserType);
  text.replace(text.find("on_delete: keep"), 15, "on_delete: purge");
  const RevisionPlan purged = PlanDelete(*TypeOf(text), "user:1", R"({"_ver":3})", existing, 10);
  EXPECT_FALSE(purged.write);
  EXPECT_THAT(purged.remove_keys, ElementsAre("user:1:v:1", "user:1:v:2"));
}

// Random updates, deletes, changes of the limit and of the time: never two revisions under one key,
// and what is kept is exactly the newest that the policy allows.
TEST(Revisions, PropertyTest) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Type type = *TypeOf(kUserType);
    std::map<uint64_t, uint64_t> stored;  // version to time
    std::vector<std::pair<uint64_t, uint64_t>> ever;
    std::string document;
    uint64_t now = 1000 * kDayMs;
    for (int step = 0; step < 60; ++step) {
      now += random() % (40 * kDayMs);
      if (random() % 8 == 0) type.revisions->keep = random() % 5;
      std::vector<Revision> existing;
      for (const auto& [version, made] : stored) existing.push_back({version, made});
      RevisionPlan plan;
      if (!document.empty() && random() % 5 == 0) {
        plan = PlanDelete(type, "user:1", document, existing, now);
        document.clear();
      } else {
        StampInput input{.document = "{}", .last_revision = LastRevision(existing), .now_ms = now};
        if (!document.empty()) input.present = document;
        const auto stamped = ApplyStamps(type, input);
        ASSERT_TRUE(stamped);
        plan = PlanUpdate(type, "user:1", stamped->previous_version, existing, now);
        document = stamped->document;
      }
      if (plan.write) {
        ASSERT_TRUE(stored.emplace(*plan.write, now).second);
        ever.emplace_back(*plan.write, now);
      }
      for (const uint64_t version : plan.remove) ASSERT_EQ(stored.erase(version), 1u);
      if (type.revisions->keep > 0) {
        ASSERT_LE(stored.size(), type.revisions->keep);
      }
      for (const auto& [version, made] : stored) {
        ASSERT_LE(now - made, type.revisions->max_age_ms);
      }
      if (plan.write) {
        ASSERT_EQ(stored.rbegin()->first, *plan.write);
      }
    }
    for (size_t i = 1; i < ever.size(); ++i) {
      if (stored.contains(ever[i - 1].first)) {
        EXPECT_LT(ever[i - 1].first, ever[i].first);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::doctype
