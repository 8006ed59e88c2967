#include "db/row_watch.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread.h"
#include "db/row_refresher.h"
#include "db/test_database.h"

namespace sluice::db {
namespace {

RowWrite Row(std::string key, std::optional<std::string> value) {
  return {RowFamily::kMeta, kDefinitionsShard, std::move(key), std::move(value), std::nullopt};
}

class RowWatchTest : public DatabaseTest {
 protected:
  void Write(std::vector<RowWrite> rows) {
    Commit commit;
    commit.rows = std::move(rows);
    const Status written = database_->Apply(std::move(commit)).status;
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  RowWatch::Refresh Keep() {
    return [this](const std::string& name, const std::optional<std::string>& value) -> Status {
      if (value == "bad") return Error(Code::kCorruption, "row.corrupt", "a bad row");
      const auto kept = kept_.Lock();
      if (value) {
        (*kept)[name] = *value;
      } else {
        kept->erase(name);
      }
      return OkStatus();
    };
  }

  using Kept = std::map<std::string, std::string>;
  Locked<Kept> kept_;
};

TEST_F(RowWatchTest, LoadsRowsAndFollowsThem) {
  Write({Row("a/1", "x"), Row("a/2", "y"), Row("b/1", "other")});
  RowWatch watch(*database_, "a/", Keep());
  ASSERT_TRUE(watch.Load().ok());
  EXPECT_EQ(kept_.Copy(), (Kept{{"1", "x"}, {"2", "y"}}));
  // When the commit has returned, memory is as the rows are.
  Write({Row("a/1", std::nullopt), Row("a/2", "z"), Row("a/3", "new"), Row("b/2", "other")});
  EXPECT_EQ(kept_.Copy(), (Kept{{"2", "z"}, {"3", "new"}}));
}

TEST_F(RowWatchTest, ABadRowEndsLoadAndIsPassedOverLater) {
  Write({Row("a/1", "bad")});
  RowWatch refused(*database_, "a/", Keep());
  EXPECT_EQ(refused.Load().id(), "row.corrupt");
  Write({Row("a/1", "x")});
  RowWatch watch(*database_, "a/", Keep());
  ASSERT_TRUE(watch.Load().ok());
  Write({Row("a/1", "bad"), Row("a/2", "y")});
  EXPECT_EQ(kept_.Copy(), (Kept{{"1", "x"}, {"2", "y"}}));
}

TEST_F(RowWatchTest, RefusedCommitsAreNotSeen) {
  RowWatch watch(*database_, "a/", Keep());
  ASSERT_TRUE(watch.Load().ok());
  Commit commit;
  commit.rows = {Row("a/1", "x")};
  commit.rows.front().expected = std::optional<std::string>("something else");
  EXPECT_EQ(database_->Apply(std::move(commit)).status.id(), "row.changed");
  EXPECT_EQ(kept_.Copy(), Kept());
}

TEST_F(RowWatchTest, KeysOfCommitsAndOfTheCatalogAreSorted) {
  std::vector<std::string> seen;  // the committer's until the commits have returned
  const auto token = WatchMetaKeys(*database_, "", [&](std::span<const std::string> keys) {
    seen.insert(seen.end(), keys.begin(), keys.end());
  });
  Write({Row("z", "1"), Row("a", "1"), Row("m", std::nullopt), Row("a", "2")});
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "m", "z"}));
  seen.clear();
  ASSERT_TRUE(database_->admin().CreateBucket("c").ok());
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_NE(std::ranges::find(seen, "catalog/bucket/c"), seen.end());
  seen.clear();
  ASSERT_TRUE(Put("k", "1").status.ok());
  EXPECT_TRUE(seen.empty());
}

TEST_F(RowWatchTest, RefresherCallsOnItsThreadForChangesSinceItWasMade) {
  Signal called;
  Locked<std::vector<std::string>> names;
  RowRefresher refresher(*database_, "a/", "test", [&](const std::string& name) {
    names.Lock()->push_back(name);
    // A change by the refresh itself comes as another call; the commit does not wait for it.
    if (name == "first") Write({Row("a/second", "1")});
    called.Wake();
  });
  Write({Row("a/first", "1"), Row("b/other", "1")});
  EXPECT_TRUE(names.Copy().empty());
  refresher.Start();
  while (names.Copy().size() < 2)
    called.Wait(called.news(), MachineClock().Now() + std::chrono::milliseconds(5));
  EXPECT_EQ(names.Copy(), (std::vector<std::string>{"first", "second"}));
}

// Every change is refreshed to the end, while rows are written, loaded and watched at once.
TEST_F(RowWatchTest, LoadDuringChangesMissesNothing) {
  std::atomic<bool> done = false;
  Thread writer({"test"}, [&] {
    for (int i = 0; i < 200; ++i) Write({Row("a/" + std::to_string(i % 7), std::to_string(i))});
    done = true;
  });
  while (!done) {
    Locked<Kept> mine;
    RowWatch watch(*database_, "a/", [&](const std::string& name, const auto& value) {
      (*mine.Lock())[name] = *value;
      return OkStatus();
    });
    ASSERT_TRUE(watch.Load().ok());
    Write({Row("a/last", "x")});
    const Kept seen = mine.Copy();
    EXPECT_EQ(seen.at("last"), "x");
  }
  writer.join();
  RowWatch watch(*database_, "a/", Keep());
  ASSERT_TRUE(watch.Load().ok());
  EXPECT_EQ(kept_.Copy().at("3"), "199");
}

}  // namespace
}  // namespace sluice::db
