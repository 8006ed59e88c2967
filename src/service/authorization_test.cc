#include "service/authorization.h"

#include <gtest/gtest.h>

#include "db/test_database.h"
#include "query/engine.h"
#include "query/error.h"
#include "service/test_principal.h"

namespace sluice::service {
namespace {

using auth::Permission;

TEST(Require, AsksForThePermissionOnTheBucket) {
  const auto reader = Somebody("ann", {"reader:shop"});
  EXPECT_TRUE(Require(*reader, Permission::kRead, "shop").ok());
  const Status write = Require(*reader, Permission::kWrite, "shop");
  EXPECT_EQ(write.id(), "auth.forbidden");
  EXPECT_EQ(write.message(), "user 'ann' lacks the permission write on bucket shop");
  EXPECT_EQ(Require(*reader, Permission::kRead, "other").id(), "auth.forbidden");
  EXPECT_EQ(Require(*reader, Permission::kAdmin, "*").message(), "user 'ann' is not an admin");
  EXPECT_TRUE(Require(*Somebody("root", {"admin"}), Permission::kAdmin, "*").ok());
}

TEST(MaySeeRequest, OfOthersForAdminsOnly) {
  EXPECT_TRUE(MaySeeRequest(*Somebody("ann", {}), "ann"));
  EXPECT_FALSE(MaySeeRequest(*Somebody("ann", {"query:*"}), "bob"));
  EXPECT_TRUE(MaySeeRequest(*Somebody("root", {"admin"}), "bob"));
}

class AuthorizeStatementTest : public db::DatabaseTest {
 protected:
  Status Authorize(std::initializer_list<std::string_view> grants, const std::string& statement) {
    query::QueryEngine engine(*database_, {});
    const auto plan = engine.Prepare(statement, {});
    EXPECT_TRUE(plan) << plan.error().ToString();
    return AuthorizeStatement(*Somebody("ann", grants), **plan);
  }
  static bool IsForbidden(const Status& status) {
    return !status.ok() && query::CodeOf(status) == query::QueryCode::kForbidden;
  }
};

TEST_F(AuthorizeStatementTest, AsksForWhatTheStatementDoes) {
  const std::string read = "SELECT b.a FROM b";
  const std::string write = "UPSERT INTO b (KEY, VALUE) VALUES ('k', 1)";
  EXPECT_TRUE(Authorize({"query:b", "reader:b"}, read).ok());
  EXPECT_TRUE(IsForbidden(Authorize({"reader:b"}, read)));
  EXPECT_TRUE(IsForbidden(Authorize({"query:b", "reader:other"}, read)));
  EXPECT_TRUE(IsForbidden(Authorize({"query:b", "reader:b"}, write)));
  EXPECT_TRUE(Authorize({"query:b", "writer:b"}, write).ok());
}

TEST_F(AuthorizeStatementTest, WithoutAKeyspaceWhoMayQuerySomething) {
  EXPECT_TRUE(Authorize({"query:b"}, "SELECT 1").ok());
  EXPECT_TRUE(IsForbidden(Authorize({"reader:b"}, "SELECT 1")));
}

TEST_F(AuthorizeStatementTest, AdminsChangeTheCatalog) {
  EXPECT_TRUE(IsForbidden(Authorize({"query:*", "writer:*"}, "CREATE INDEX i ON b(a)")));
  EXPECT_TRUE(Authorize({"admin"}, "CREATE INDEX i ON b(a)").ok());
}

}  // namespace
}  // namespace sluice::service
