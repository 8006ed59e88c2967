#include "service/advice.h"

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "json/print.h"
#include "service/whole_reads.h"

namespace sluice::service {
namespace {

class AdviceServiceTest : public db::DatabaseTest {
 protected:
  AdviceSources Sources() {
    return {*database_, clock_.WallMs() - 5000,
            [](const auto& visit) { visit("function OnUpdate(doc) { log(doc.total); }"); }};
  }
  std::shared_ptr<const db::KeyspaceInfo> Keyspace() {
    return *database_->catalog()->Resolve({.bucket = "b"});
  }
};

TEST_F(AdviceServiceTest, ObservesUse) {
  NoteWholeRead(*database_, keyspace_);
  NoteWholeRead(*database_, keyspace_);
  const doctype::Observed observed = Observe(Sources(), *Keyspace());
  EXPECT_EQ(observed.seconds, 5u);
  EXPECT_EQ(observed.sources, 1u);
  EXPECT_TRUE(observed.names.contains("total"));
  EXPECT_EQ(observed.whole, 2u);
}

TEST_F(AdviceServiceTest, LooksAtTheDocuments) {
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(i), R"({"a":1,"b":"text"})");
  const auto all = Advise(Sources(), *Keyspace(), {.full = true});
  ASSERT_TRUE(all) << all.error().ToString();
  EXPECT_TRUE((*all)["findings"].is_array()) << json::ToText(*all);
  EXPECT_EQ((*all)["observed"]["seconds"].AsInt(), 5);
}

}  // namespace
}  // namespace sluice::service
