#include "rest/keyspace_filter.h"

#include <gtest/gtest.h>

namespace sluice::rest {
namespace {

TEST(KeyspaceFilter, TakesByTheFirstNames) {
  const KeyspaceFilter all = KeyspaceFilter::Parse("", "").value();
  EXPECT_TRUE(all.Takes({"a", "b", "c"}));
  const KeyspaceFilter some = KeyspaceFilter::Parse(R"(a.b,x\.y)", "").value();
  EXPECT_TRUE(some.Takes({"a", "b", "c"}));
  EXPECT_TRUE(some.Takes({"x.y", "s", "c"}));
  EXPECT_FALSE(some.Takes({"a", "other", "c"}));
  const KeyspaceFilter others = KeyspaceFilter::Parse("", "a.b.c").value();
  EXPECT_FALSE(others.Takes({"a", "b", "c"}));
  EXPECT_TRUE(others.Takes({"a", "b", "d"}));
  EXPECT_FALSE(KeyspaceFilter::Parse("a", "b"));
  EXPECT_FALSE(KeyspaceFilter::Parse("a..b", ""));
  EXPECT_FALSE(KeyspaceFilter::Parse("a.b.c.d", ""));
}

TEST(KeyspaceRemap, RenamesTheFirstThatFits) {
  const KeyspaceRemap remap = KeyspaceRemap::Parse("a.b:c.d,a:z").value();
  db::KeyspaceName first{"a", "b", "k"};
  remap.Apply(&first);
  EXPECT_EQ(first, (db::KeyspaceName{"c", "d", "k"}));
  db::KeyspaceName second{"a", "x", "k"};
  remap.Apply(&second);
  EXPECT_EQ(second, (db::KeyspaceName{"z", "x", "k"}));
  EXPECT_FALSE(KeyspaceRemap::Parse("a.b:c"));
  EXPECT_FALSE(KeyspaceRemap::Parse("a"));
}

}  // namespace
}  // namespace sluice::rest
