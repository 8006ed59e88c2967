// The committer against a model (test_model.h): random commits of several writers at once, so that
// groups form, with restarts in between. A commit's callbacks come in commit order, so the model
// carries out each commit right then. SLUICE_SEED replays a run.
//
// Some runs have a journal that fails, refuses, and does not know (test_shared_log.h). In all of
// them a standby is fed with the groups of the database, and has the same rows.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "base/random.h"
#include "db/database_impl.h"
#include "db/index.h"
#include "db/test_database.h"
#include "db/test_follower.h"
#include "db/test_model.h"
#include "db/test_shared_log.h"
#include "db/test_standby.h"
#include "json/key_encoding.h"

namespace sluice::db {
namespace {

constexpr int kWriters = 3;
constexpr int kCommitsPerWriter = 25;
constexpr auto kTime = std::chrono::seconds(6);

class ModelTest : public DatabaseTest, public ::testing::WithParamInterface<uint16_t> {
 protected:
  ModelTest() {
    const char* seed = std::getenv("SLUICE_SEED");
    seed_ = seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device()();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
    options_.durability = Durability::kNone;
    options_.shards = GetParam();
    options_.journal = [this](storage::Store& store) {
      return std::make_unique<RecordingJournal>(store, log_);
    };
  }

  void SetUp() override {
    DatabaseTest::SetUp();
    ASSERT_TRUE(database_->admin().CreateIndex({.bucket = "b"}, {"by_n", {{.path = "n"}}}).ok());
    ASSERT_TRUE(database_->followers()
                    .Create({.name = "f", .keyspaces = {keyspace_}, .needs_before = true})
                    .ok());
    models_.resize(GetParam());
    seen_.resize(GetParam());
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      models_[shard].cursor = *database_->followers().ReadCursor({"f", shard, 0});
    }
    SyncSequences();
  }

  // After catalog changes and trims, which are commits that the model does not know.
  void SyncSequences() {
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      models_[shard].sequence = database_->followers().LastSequence(shard);
    }
  }

  // The journal's misfortune, not the commit's.
  static bool IsOfJournal(const Status& status) {
    return status.id() == "commit.not_stored" || status.id() == "storage.no_space" ||
           status.id() == "commit.shard_lost" || status.id() == "storage.io";
  }
  void Submit(PlannedCommit plan, bool* committed = nullptr) {
    Commit commit = ToCommit(plan, keyspace_);
    ++outstanding_;
    database_->Submit(std::move(commit),
                      [this, plan = std::move(plan), committed](CommitResult result) {
                        if (!IsOfJournal(result.status)) models_[plan.shard].Apply(plan, result);
                        if (committed != nullptr) *committed = result.status.ok();
                        --outstanding_;
                        outstanding_.notify_all();
                      });
  }
  void Wait() const {
    for (int left = outstanding_; left != 0; left = outstanding_) outstanding_.wait(left);
  }

  std::string RandomKey(Random& random) { return fmt::format("k{}", random.Below(12)); }
  std::string CounterKey(Random& random) { return fmt::format("n{}", random.Below(4)); }

  PlannedWrite RandomWrite(Random& random) {
    PlannedWrite write;
    write.key = RandomKey(random);
    const uint64_t kind = random.Below(10);
    write.kind = kind < 5   ? PlannedWrite::Kind::kPut
                 : kind < 7 ? PlannedWrite::Kind::kDelete
                 : kind < 9 ? PlannedWrite::Kind::kCount
                            : PlannedWrite::Kind::kAppend;
    if (write.kind == PlannedWrite::Kind::kCount) {
      write.key = CounterKey(random);
      return write;
    }
    if (write.kind == PlannedWrite::Kind::kPut) {
      write.body = fmt::format(R"({{"n":{},"v":{}}})", random.Below(5), random.Below(1000));
      if (random.OneIn(6)) write.stamp = database_->NewCas();
    } else if (write.kind == PlannedWrite::Kind::kAppend && !random.OneIn(4)) {
      write.body = "1";
    }
    const uint64_t condition = random.Below(8);
    if (condition == 0) write.precondition = Precondition::Absent();
    if (condition == 1) write.precondition = Precondition::Present();
    if (condition == 2) {
      const auto present = *database_->Get(keyspace_, write.key);
      write.precondition = Precondition::CasIs(present ? present->cas : 1);
    }
    return write;
  }

  void AddConditions(Random& random, PlannedCommit* plan) {
    if (random.OneIn(4)) {
      const std::string key = RandomKey(random);
      PinnedDocument row;
      if (database_->ShardOf(keyspace_, key) == plan->shard) {
        const bool found = *database_->GetRow(keyspace_, key, &row);
        plan->reads.push_back({keyspace_, key, found ? row->sequence : 0});
      }
    }
    if (GetParam() == 1 && random.OneIn(6)) {
      const Sequence snapshot = *database_->SequenceAt(*database_->NewSnapshot(), 0);
      plan->ranges.push_back({keyspace_, "k2", random.OneIn(2) ? "" : "k5", snapshot});
    }
    if (random.OneIn(4)) {
      RowWrite row{RowFamily::kRun,
                   plan->shard,
                   fmt::format("r{}", random.Below(3)),
                   std::to_string(random.Below(3)),
                   {}};
      if (random.OneIn(3)) row.shard.reset();
      if (random.OneIn(3)) row.value.reset();
      if (random.OneIn(2)) {
        row.expected = random.OneIn(3)
                           ? std::optional<std::string>()
                           : std::optional<std::string>(std::to_string(random.Below(3)));
      }
      plan->rows.push_back(std::move(row));
    }
  }

  PlannedCommit RandomCommit(Random& random) {
    PlannedCommit plan;
    plan.writes.push_back(RandomWrite(random));
    plan.shard = database_->ShardOf(keyspace_, plan.writes[0].key);
    for (uint64_t more = random.Below(4); more > 0; --more) {
      PlannedWrite write = RandomWrite(random);
      if (database_->ShardOf(keyspace_, write.key) == plan.shard) {
        plan.writes.push_back(std::move(write));
      }
    }
    AddConditions(random, &plan);
    return plan;
  }

  // Reads some changes and moves the cursor past them, now and then from a stale place.
  void Follow(Random& random, ShardId shard, size_t max) {
    const CursorState stored = *database_->followers().ReadCursor({"f", shard, 0});
    Feed feed(*database_, shard, {keyspace_}, stored);
    std::vector<std::string> given;
    ASSERT_TRUE(feed.Read(max, [&](const Change& change) {
      given.push_back(TextOf(change));
      return true;
    }));
    PlannedCommit plan;
    plan.shard = shard;
    plan.moves.push_back({{"f", shard, 0}, stored, feed.state()});
    if (random.OneIn(5)) ++plan.moves[0].expected.events;
    bool moved = false;
    Submit(std::move(plan), &moved);
    Wait();
    if (moved) seen_[shard].insert(seen_[shard].end(), given.begin(), given.end());
  }

  void RunWriters(Random& random, bool wait) {
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([this, seed = random.Next()] {
        Random own(seed);
        for (int n = 0; n < kCommitsPerWriter; ++n) Submit(RandomCommit(own));
      });
    }
    if (random.OneIn(2)) {
      for (ShardId shard = 0; shard < GetParam(); ++shard) Follow(random, shard, 10);
    }
    for (std::thread& writer : writers) writer.join();
    if (wait) Wait();
  }

  void CompareContents() {
    std::map<std::string, ModelDocument> expected;
    for (const ShardModel& model : models_) {
      expected.insert(model.documents.begin(), model.documents.end());
    }
    std::map<std::string, ModelDocument> stored;
    ASSERT_TRUE(database_
                    ->Scan(keyspace_, {.with_tombstones = true},
                           [&](std::string_view key, const DocumentView& document) {
                             stored[std::string(key)] = {std::string(document.body),
                                                         !document.tombstone, document.cas,
                                                         document.sequence};
                             return true;
                           })
                    .ok());
    EXPECT_EQ(stored.size(), expected.size());
    EXPECT_TRUE(stored == expected);
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      EXPECT_EQ(database_->followers().LastSequence(shard), models_[shard].sequence);
      EXPECT_EQ(*database_->followers().ReadCursor({"f", shard, 0}), models_[shard].cursor);
      for (int i = 0; i < 3; ++i) {
        const std::string key = fmt::format("r{}", i);
        std::string value;
        const bool found = *database_->rows().Get(RowFamily::kRun, shard, key, &value);
        EXPECT_EQ(found, models_[shard].rows.contains(key));
        if (found) {
          EXPECT_EQ(value, models_[shard].rows.at(key));
        }
      }
    }
  }

  void CompareIndex() {
    const std::shared_ptr<const Catalog> catalog = database_->catalog();
    const Index& index = *catalog->Find(keyspace_)->indexes[0];
    std::set<std::pair<std::string, std::string>> expected;
    for (const ShardModel& model : models_) {
      for (const auto& [key, document] : model.documents) {
        if (!document.live || !document.body.starts_with("{\"n\":")) continue;
        std::string part;
        ASSERT_TRUE(json::AppendKeyPart(json::Value(document.body[5] - '0'),
                                        json::Direction::kAscending, &part)
                        .ok());
        expected.emplace(part, key);
      }
    }
    std::set<std::pair<std::string, std::string>> stored;
    ASSERT_TRUE(database_
                    ->ScanIndex(index, "", "",
                                [&](std::string_view parts, std::string_view key) {
                                  stored.emplace(parts, key);
                                  return true;
                                })
                    .ok());
    EXPECT_EQ(stored, expected);
  }

  // What was consumed is a beginning of what was committed, each change once and in order.
  void CompareFollower() {
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      const std::vector<std::string>& all = models_[shard].changes;
      ASSERT_LE(seen_[shard].size(), all.size());
      EXPECT_TRUE(std::equal(seen_[shard].begin(), seen_[shard].end(), all.begin()));
    }
  }

  // Changes of the catalog between rounds; they may fail with the journal.
  void ChangeCatalog(Random& random) {
    const KeyspaceName name{.bucket = "b", .collection = fmt::format("c{}", random.Below(3))};
    const std::string follower = fmt::format("g{}", random.Below(3));
    CatalogAdmin& admin = database_->admin();
    switch (random.Below(6)) {
      case 0:
        (void)admin.CreateCollection(name, random.Below(2) * 1000);
        break;
      case 1:
        (void)admin.DropCollection(name);
        break;
      case 2:
        (void)admin.CreateIndex(name, {"by_m", {{.path = "m"}}});
        break;
      case 3:
        (void)admin.SetMaxExpiry(name, 1000 * random.Below(10));
        break;
      case 4:
        (void)database_->followers().Create(
            {.name = follower, .keyspaces = {}, .pattern = KeyspaceName{"b", "_default", "*"}});
        break;
      default:
        (void)database_->followers().Drop(follower);
    }
    SyncSequences();
  }

  virtual void Misfortune(Random&) {}
  virtual void SetCalm(bool) {}
  virtual void AwaitHealth() {}
  virtual void AfterRestart() {}

  void RunRounds();
  void CompareStandby() { standby_->CatchUp(*database_); }

  // The journal writes log_ until the database is closed.
  void TearDown() override {
    standby_.reset();
    database_.reset();
  }

  uint64_t seed_ = 0;
  std::vector<ShardModel> models_;              // each on its committer's thread during a round
  std::vector<std::vector<std::string>> seen_;  // by shard
  std::atomic<int> outstanding_ = 0;
  SharedLog log_;
  std::unique_ptr<TestStandby> standby_;
};

void ModelTest::RunRounds() {
  Random random(seed_);
  standby_ = std::make_unique<TestStandby>(directory_ / "standby", options_, clock_, log_);
  const auto end = std::chrono::steady_clock::now() + kTime;
  int rounds = 0;
  for (; std::chrono::steady_clock::now() < end && !HasFailure(); ++rounds) {
    SCOPED_TRACE(fmt::format("seed {} round {}", seed_, rounds));
    const bool restart = random.OneIn(6);
    SetCalm(false);
    RunWriters(random, !restart);
    if (restart) Misfortune(random);
    if (!restart && random.OneIn(3)) ChangeCatalog(random);
    SetCalm(true);
    if (restart) {
      Reopen();  // with commits on their way
    } else {
      AwaitHealth();
    }
    ASSERT_EQ(outstanding_, 0) << "closing completes what was submitted";
    if (restart) AfterRestart();
    CompareContents();
    CompareIndex();
    for (ShardId shard = 0; shard < GetParam(); ++shard) Follow(random, shard, random.Below(60));
    if (random.OneIn(5)) {
      ASSERT_TRUE(database_->operations().TrimNow().ok());
      SyncSequences();
    }
    CompareFollower();
    if (random.OneIn(4)) CompareStandby();
    if (random.OneIn(8)) standby_->Reopen();
  }
  for (ShardId shard = 0; shard < GetParam(); ++shard) {
    while (seen_[shard].size() < models_[shard].changes.size()) Follow(random, shard, 1000);
  }
  CompareFollower();
  CompareStandby();
  EXPECT_GT(rounds, 3);
}

TEST_P(ModelTest, RandomCommitsAndRestarts) { RunRounds(); }

class ShakyModelTest : public ModelTest {
 protected:
  ShakyModelTest() {
    options_.answer_within_ms = 0;
    options_.journal = [this](storage::Store& store) {
      for (ShardId shard = 0; shard < GetParam(); ++shard) {
        EXPECT_EQ(ShardState::Load(store, shard)->sequence, log_.Last(shard));
      }
      auto journal = std::make_unique<ShakyJournal>(log_, clock_, calm_, seed_ + ++opened_);
      journal_ = journal.get();
      return journal;
    };
  }
  // The committer tries again at intervals of the clock.
  void SetUp() override {
    ticker_ = Thread({"ticker"}, [this] {
      while (ended_.Wait(0, MachineClock().Now() + std::chrono::microseconds(200)) !=
             Signal::Waited::kClosed) {
        clock_.AdvanceMs(50);
      }
    });
    ModelTest::SetUp();
  }
  void TearDown() override {
    NoteJournal();
    std::printf("asked %d times for outcomes, at most %zu groups on their way\n", asked_, most_);
    EXPECT_GT(asked_, 0);
    EXPECT_GT(most_, 1u);
    ModelTest::TearDown();
    ended_.Close();
  }
  void NoteJournal() {
    asked_ += journal_->asked;
    most_ = std::max(most_, journal_->most_waiting.load());
  }
  void Misfortune(Random& random) override {
    if (random.OneIn(2)) journal_->Lose(static_cast<ShardId>(random.Below(GetParam())));
    NoteJournal();
  }
  void SetCalm(bool calm) override { calm_ = calm; }
  // Until all committers have recovered.
  void AwaitHealth() override {
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      for (bool works = false; !works;) {
        Commit nothing;
        nothing.shard = shard;
        works = database_->Apply(std::move(nothing)).status.ok();
      }
    }
    SyncSequences();
  }
  // Opening has dropped followers that a failure has left without cursors.
  void AfterRestart() override {
    for (ShardId shard = 0; shard < GetParam(); ++shard) {
      EXPECT_GE(database_->followers().LastSequence(shard), models_[shard].sequence);
    }
    // It also goes on to build indexes, in the background.
    while (IsBuilding(*database_->catalog())) std::this_thread::yield();
    EXPECT_FALSE(database_->admin().DropCollection({.bucket = "none"}).ok());  // behind the builder
    SyncSequences();
  }
  static bool IsBuilding(const Catalog& catalog) {
    return std::ranges::any_of(catalog.keyspaces(), [](const auto& keyspace) {
      return std::ranges::any_of(keyspace.second->indexes, [](const auto& index) {
        return index->state() == Index::State::kBuilding;
      });
    });
  }

  std::atomic<bool> calm_ = true;
  ShakyJournal* journal_ = nullptr;
  uint64_t opened_ = 0;
  int asked_ = 0;
  size_t most_ = 0;
  Signal ended_;
  Thread ticker_;
};

TEST_P(ShakyModelTest, RandomCommitsAndRestarts) { RunRounds(); }

INSTANTIATE_TEST_SUITE_P(Shards, ModelTest, ::testing::Values(1, 4));
INSTANTIATE_TEST_SUITE_P(Shards, ShakyModelTest, ::testing::Values(1, 4));

}  // namespace
}  // namespace sluice::db
