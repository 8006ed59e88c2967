#include "auth/roles.h"

#include <gtest/gtest.h>

namespace sluice::auth {
namespace {

Grants Of(std::initializer_list<std::string_view> texts) {
  Grants grants;
  for (const std::string_view text : texts) grants.push_back(*Grant::Parse(text));
  return grants;
}

TEST(RolesTest, GrantsReadBackAsWritten) {
  for (const std::string_view text :
       {"admin", "reader:shop", "writer:*", "function_manager:a-b", "query:shop"}) {
    const Result<Grant> grant = Grant::Parse(text);
    ASSERT_TRUE(grant) << text;
    EXPECT_EQ(grant->ToString(), text);
  }
}

TEST(RolesTest, MalformedGrantsAreRefused) {
  for (const std::string_view text :
       {"", "reader", "admin:shop", "boss", "reader:", "reader:a b", "Reader:shop", ":shop"}) {
    EXPECT_FALSE(Grant::Parse(text)) << text;
  }
}

TEST(RolesTest, EachRoleAllowsWhatItSays) {
  using P = Permission;
  const Grants reader = Of({"reader:shop"});
  EXPECT_TRUE(Allows(reader, P::kRead, "shop"));
  EXPECT_FALSE(Allows(reader, P::kRead, "bank"));
  EXPECT_FALSE(Allows(reader, P::kRead, "*"));
  EXPECT_FALSE(Allows(reader, P::kWrite, "shop"));
  EXPECT_FALSE(Allows(reader, P::kQuery, "shop"));
  EXPECT_TRUE(Allows(reader, P::kNone, ""));
  const Grants writer = Of({"writer:*"});
  EXPECT_TRUE(Allows(writer, P::kRead, "shop"));
  EXPECT_TRUE(Allows(writer, P::kWrite, "bank"));
  EXPECT_FALSE(Allows(writer, P::kManageFunctions, "bank"));
  EXPECT_FALSE(Allows(writer, P::kAdmin, "*"));
  EXPECT_TRUE(Allows(Of({"function_manager:shop"}), P::kManageFunctions, "shop"));
  EXPECT_FALSE(Allows(Of({"function_manager:shop"}), P::kWrite, "shop"));
  EXPECT_TRUE(Allows(Of({"query:shop"}), P::kQuery, "shop"));
  EXPECT_FALSE(Allows(Of({"query:shop"}), P::kRead, "shop"));
  const Grants admin = Of({"admin"});
  for (const P permission :
       {P::kNone, P::kRead, P::kWrite, P::kManageFunctions, P::kQuery, P::kAdmin}) {
    EXPECT_TRUE(Allows(admin, permission, "shop"));
    EXPECT_EQ(Allows({}, permission, "shop"), permission == P::kNone);
  }
}

TEST(RolesTest, Covers) {
  EXPECT_TRUE(Covers(Of({"writer:*"}), *Grant::Parse("reader:shop")));
  EXPECT_FALSE(Covers(Of({"writer:shop"}), *Grant::Parse("reader:*")));
  EXPECT_FALSE(Covers(Of({"reader:shop"}), *Grant::Parse("writer:shop")));
  EXPECT_FALSE(Covers(Of({"reader:*", "writer:*"}), *Grant::Parse("admin")));
  EXPECT_TRUE(Covers(Of({"admin"}), *Grant::Parse("admin")));
  EXPECT_TRUE(Covers(Of({"admin"}), *Grant::Parse("query:x")));
}

}  // namespace
}  // namespace sluice::auth
