#include "auth/authenticator.h"

#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "auth/directory.h"
#include "base/base64.h"
#include "base/random.h"

namespace sluice::auth {
namespace {

constexpr PasswordCost kCheap = {.memory_kib = 64, .passes = 1};
constexpr std::string_view kHere = "10.0.0.1";

std::string Basic(std::string_view user, std::string_view password) {
  return "Basic " + ToBase64(std::string(user) + ":" + std::string(password));
}

class AuthenticatorTest : public testing::Test {
 protected:
  AuthenticatorTest()
      : path_(std::filesystem::temp_directory_path() / ("sluice-auth-" + NewUuid())) {
    Open();
  }
  ~AuthenticatorTest() override {
    Close();
    std::filesystem::remove_all(path_);
  }

  void Open() {
    auto database = db::Database::Open(path_, {}, clock_);
    ASSERT_TRUE(database) << database.error().ToString();
    database_ = std::move(*database);
    if (!database_->catalog()->buckets().contains("shop")) {
      ASSERT_TRUE(database_->admin().CreateBucket("shop").ok());
    }
    auto directory = Directory::Open(*database_, hasher_);
    ASSERT_TRUE(directory) << directory.error().ToString();
    directory_ = std::move(*directory);
    authenticator_ = std::make_unique<Authenticator>(*directory_, hasher_, clock_);
  }
  void Close() {
    authenticator_.reset();
    directory_.reset();
    database_.reset();
  }

  void AddUser(const std::string& name, std::string_view role) {
    const auto put =
        directory_->PutUser({name, "password of " + name, Grants{*Grant::Parse(role)}});
    ASSERT_TRUE(put) << put.error().ToString();
  }
  std::string IdOf(const std::string& header) {
    const auto found = authenticator_->AuthenticateAndWait(header, kHere);
    return found ? (*found)->user : found.error().id();
  }
  std::string BasicOf(const std::string& name) { return Basic(name, "password of " + name); }

  FakeClock clock_;
  std::filesystem::path path_;
  PasswordHasher hasher_{kCheap};
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<Authenticator> authenticator_;
};

TEST_F(AuthenticatorTest, FirstStartMakesAnAdminOnce) {
  const auto admin = directory_->EnsureAdmin();
  ASSERT_TRUE(admin);
  ASSERT_TRUE(admin->has_value());
  EXPECT_EQ((*admin)->name, "admin");
  const auto found = authenticator_->AuthenticateAndWait(Basic("admin", (*admin)->password), kHere);
  ASSERT_TRUE(found);
  EXPECT_TRUE((*found)->Allows(Permission::kAdmin, ""));
  EXPECT_FALSE(directory_->EnsureAdmin()->has_value());
}

TEST_F(AuthenticatorTest, AccountsSurviveARestart) {
  AddUser("root", "admin");
  AddUser("ann", "reader:shop");
  const auto token = directory_->CreateToken({"ann", "laptop", 0, std::nullopt});
  ASSERT_TRUE(token);
  Close();
  Open();
  EXPECT_EQ(IdOf(BasicOf("ann")), "ann");
  const auto found = authenticator_->AuthenticateAndWait("Bearer " + token->secret, kHere);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->token_id, token->token.id());
  EXPECT_TRUE((*found)->Allows(Permission::kRead, "shop"));
  EXPECT_FALSE((*found)->Allows(Permission::kWrite, "shop"));
}

TEST_F(AuthenticatorTest, MalformedHeaders) {
  EXPECT_EQ(IdOf(""), "auth.required");
  EXPECT_EQ(IdOf("Digest x"), "auth.bad_header");
  EXPECT_EQ(IdOf("Basic !!"), "auth.bad_header");
  EXPECT_EQ(IdOf("Basic " + ToBase64("nocolon")), "auth.bad_header");
  EXPECT_EQ(IdOf("Basic " + std::string(5000, 'A')), "auth.bad_header");
  EXPECT_EQ(IdOf("Bearer slt_00"), "auth.bad_credentials");
}

TEST_F(AuthenticatorTest, SchemeNamesHaveNoCase) {
  AddUser("ann", "reader:shop");
  EXPECT_EQ(IdOf("bAsIc  " + ToBase64("ann:password of ann")), "ann");
}

TEST_F(AuthenticatorTest, RightPasswordsAreRememberedUntilTheyChange) {
  AddUser("ann", "reader:shop");
  EXPECT_FALSE(authenticator_->TryNow(BasicOf("ann")).has_value());
  EXPECT_EQ(IdOf(BasicOf("ann")), "ann");
  ASSERT_TRUE(authenticator_->TryNow(BasicOf("ann")).has_value());

  ASSERT_TRUE(directory_->PutUser({"ann", std::nullopt, Grants{*Grant::Parse("writer:shop")}}));
  const auto now = authenticator_->TryNow(BasicOf("ann"));
  ASSERT_TRUE(now.has_value());
  EXPECT_TRUE((**now)->Allows(Permission::kWrite, "shop"));

  ASSERT_TRUE(directory_->PutUser({"ann", "another password", std::nullopt}));
  EXPECT_FALSE(authenticator_->TryNow(BasicOf("ann")).has_value());
  EXPECT_EQ(IdOf(BasicOf("ann")), "auth.bad_credentials");
  EXPECT_EQ(IdOf(Basic("ann", "another password")), "ann");
}

TEST_F(AuthenticatorTest, GuessingIsSlowedDown) {
  AddUser("ann", "reader:shop");
  for (uint32_t i = 0; i < FailureTable::kFreeFailures; ++i) {
    EXPECT_EQ(IdOf(Basic("ann", "wrong")), "auth.bad_credentials");
  }
  EXPECT_EQ(IdOf(Basic("ann", "wrong")), "auth.blocked");
  EXPECT_EQ(IdOf(BasicOf("ann")), "auth.blocked");
  EXPECT_TRUE(authenticator_->AuthenticateAndWait(BasicOf("ann"), "10.0.0.2"));
  clock_.AdvanceMs(FailureTable::kFirstDelayMs);
  EXPECT_EQ(IdOf(BasicOf("ann")), "ann");
}

TEST_F(AuthenticatorTest, UnknownUsersAreBlockedLikeKnownOnes) {
  for (uint32_t i = 0; i < FailureTable::kFreeFailures; ++i) {
    EXPECT_EQ(IdOf(Basic("nobody", "wrong")), "auth.bad_credentials");
  }
  EXPECT_EQ(IdOf(Basic("nobody", "wrong")), "auth.blocked");
}

TEST_F(AuthenticatorTest, TokensExpireAndCanBeRemoved) {
  AddUser("ann", "reader:shop");
  const auto brief = directory_->CreateToken({"ann", "brief", clock_.WallMs() + 1000, {}});
  const auto lasting = directory_->CreateToken({"ann", "lasting", 0, {}});
  EXPECT_EQ(IdOf("Bearer " + brief->secret), "ann");
  clock_.AdvanceMs(1000);
  EXPECT_EQ(IdOf("Bearer " + brief->secret), "auth.token_expired");
  EXPECT_EQ(IdOf("Bearer " + lasting->secret), "ann");
  ASSERT_TRUE(directory_->RemoveToken(lasting->token.digest).ok());
  EXPECT_EQ(IdOf("Bearer " + lasting->secret), "auth.bad_credentials");
  EXPECT_EQ(directory_->RemoveToken(lasting->token.digest).id(), "auth.token_not_found");
}

TEST_F(AuthenticatorTest, ATokenHasAtMostItsUsersRoles) {
  AddUser("ann", "writer:shop");
  EXPECT_EQ(directory_->CreateToken({"ann", "x", 0, Grants{Grant{Role::kAdmin}}}).error().id(),
            "auth.forbidden");
  const auto token = directory_->CreateToken({"ann", "x", 0, Grants{*Grant::Parse("reader:shop")}});
  ASSERT_TRUE(token);
  auto found = authenticator_->AuthenticateAndWait("Bearer " + token->secret, kHere);
  EXPECT_TRUE((*found)->Allows(Permission::kRead, "shop"));
  EXPECT_FALSE((*found)->Allows(Permission::kWrite, "shop"));
  ASSERT_TRUE(directory_->PutUser({"ann", std::nullopt, Grants{*Grant::Parse("query:shop")}}));
  found = authenticator_->AuthenticateAndWait("Bearer " + token->secret, kHere);
  EXPECT_FALSE((*found)->Allows(Permission::kRead, "shop"));
}

TEST_F(AuthenticatorTest, WhatWasRecognisedHoldsAsLongAsTheSecretAndTheRights) {
  AddUser("ann", "writer:shop");
  const auto recognise = [&](const std::string& header) {
    return *authenticator_->AuthenticateAndWait(header, kHere);
  };
  const auto brief = directory_->CreateToken({"ann", "brief", clock_.WallMs() + 1000, {}});
  const auto by_password = recognise(BasicOf("ann"));
  const auto by_token = recognise("Bearer " + brief->secret);
  EXPECT_TRUE(authenticator_->Holds(*by_password));
  EXPECT_TRUE(authenticator_->Holds(*by_token));
  EXPECT_TRUE(authenticator_->Holds(Principal{"local", "", {Grant{Role::kAdmin}}}));
  // A token ends by itself, and is no matter of the password.
  clock_.AdvanceMs(1000);
  EXPECT_FALSE(authenticator_->Holds(*by_token));
  const auto lasting = directory_->CreateToken({"ann", "lasting", 0, {}});
  const auto by_lasting = recognise("Bearer " + lasting->secret);
  ASSERT_TRUE(directory_->PutUser({"ann", "another password", std::nullopt}));
  EXPECT_FALSE(authenticator_->Holds(*by_password));
  EXPECT_TRUE(authenticator_->Holds(*by_lasting));
  // More rights do no harm, fewer end what was begun with them.
  ASSERT_TRUE(directory_->PutUser(
      {"ann", std::nullopt, Grants{*Grant::Parse("writer:shop"), *Grant::Parse("query:*")}}));
  EXPECT_TRUE(authenticator_->Holds(*by_lasting));
  ASSERT_TRUE(directory_->PutUser({"ann", std::nullopt, Grants{*Grant::Parse("reader:shop")}}));
  EXPECT_FALSE(authenticator_->Holds(*by_lasting));
  ASSERT_TRUE(directory_->RemoveUser("ann").ok());
  EXPECT_FALSE(authenticator_->Holds(*by_lasting));
}

TEST_F(AuthenticatorTest, RolesAreOfBucketsThatExist) {
  AddUser("ann", "reader:shop");
  const auto put = [&](std::string_view role) {
    return directory_->PutUser({"ann", std::nullopt, Grants{*Grant::Parse(role)}});
  };
  EXPECT_EQ(put("reader:shopp").error().id(), "auth.no_such_bucket");
  EXPECT_TRUE(put("reader:*"));
  EXPECT_TRUE(put("reader:_tables"));
  EXPECT_TRUE(put("reader:shop"));
  // What a user has may stay when the bucket goes.
  ASSERT_TRUE(database_->admin().DropBucket("shop").ok());
  EXPECT_TRUE(put("reader:shop"));
  EXPECT_EQ(put("writer:shop").error().id(), "auth.no_such_bucket");
}

TEST_F(AuthenticatorTest, TheLastAdminStays) {
  AddUser("root", "admin");
  AddUser("ann", "reader:shop");
  EXPECT_EQ(directory_->RemoveUser("root").id(), "auth.last_admin");
  EXPECT_EQ(directory_->PutUser({"root", std::nullopt, Grants{}}).error().id(), "auth.last_admin");
  AddUser("boss", "admin");
  EXPECT_TRUE(directory_->RemoveUser("root").ok());
  EXPECT_EQ(directory_->RemoveUser("boss").id(), "auth.last_admin");
  EXPECT_EQ(directory_->RemoveUser("root").id(), "auth.user_not_found");
}

TEST_F(AuthenticatorTest, RemovingAUserRemovesItsTokens) {
  AddUser("root", "admin");
  AddUser("ann", "reader:shop");
  const auto token = directory_->CreateToken({"ann", "x", 0, {}});
  ASSERT_TRUE(directory_->RemoveUser("ann").ok());
  EXPECT_EQ(IdOf("Bearer " + token->secret), "auth.bad_credentials");
  EXPECT_TRUE(directory_->accounts().tokens.empty());
  EXPECT_EQ(IdOf(BasicOf("ann")), "auth.bad_credentials");
}

// The rows are changed by another directory over the same database, as by another server that
// writes to it.
TEST_F(AuthenticatorTest, FollowsRowsThatAnotherDirectoryWrites) {
  const auto opened = Directory::Open(*database_, hasher_);
  ASSERT_TRUE(opened);
  Directory& other = **opened;
  ASSERT_TRUE(other.PutUser({"root", "password of root", Grants{*Grant::Parse("admin")}}));
  ASSERT_TRUE(other.PutUser({"ann", "password of ann", Grants{*Grant::Parse("reader:shop")}}));
  EXPECT_EQ(IdOf(BasicOf("ann")), "ann");
  // It is remembered now. A change of the roles is seen nevertheless.
  ASSERT_TRUE(other.PutUser({"ann", std::nullopt, Grants{*Grant::Parse("writer:shop")}}));
  const auto ann = authenticator_->TryNow(BasicOf("ann"));
  ASSERT_TRUE(ann && *ann);
  EXPECT_TRUE((**ann)->Allows(Permission::kWrite, "shop"));

  const auto token = other.CreateToken({"ann", "x", 0, {}});
  ASSERT_TRUE(token);
  EXPECT_EQ(IdOf("Bearer " + token->secret), "ann");
  ASSERT_TRUE(other.RemoveToken(token->token.digest).ok());
  EXPECT_EQ(IdOf("Bearer " + token->secret), "auth.bad_credentials");

  ASSERT_TRUE(other.PutUser({"ann", "another password", std::nullopt}));
  EXPECT_FALSE(authenticator_->Holds(***ann));
  EXPECT_EQ(IdOf(BasicOf("ann")), "auth.bad_credentials");
  EXPECT_EQ(IdOf(Basic("ann", "another password")), "ann");

  const auto last = other.CreateToken({"ann", "y", 0, {}});
  ASSERT_TRUE(other.RemoveUser("ann").ok());
  EXPECT_EQ(IdOf(Basic("ann", "another password")), "auth.bad_credentials");
  EXPECT_EQ(IdOf("Bearer " + last->secret), "auth.bad_credentials");
  EXPECT_TRUE(directory_->accounts().tokens.empty());
  // The rules of a change look at the same accounts.
  EXPECT_EQ(directory_->RemoveUser("root").id(), "auth.last_admin");
}

TEST_F(AuthenticatorTest, BadUsersAreRefused) {
  EXPECT_EQ(directory_->PutUser({"ann", std::nullopt, Grants{}}).error().id(), "auth.bad_password");
  EXPECT_EQ(directory_->PutUser({"ann", "short", Grants{}}).error().id(), "auth.bad_password");
  EXPECT_EQ(directory_->PutUser({"a b", "long enough", Grants{}}).error().id(), "auth.bad_name");
  EXPECT_EQ(directory_->CreateToken({"ann", "x", 0, {}}).error().id(), "auth.user_not_found");
}

TEST_F(AuthenticatorTest, ManyAtOnceWithOnePasswordHashOnce) {
  AddUser("ann", "reader:shop");
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 100; ++i) {
    auto promise = std::make_shared<std::promise<std::string>>();
    answers.push_back(promise->get_future());
    authenticator_->Authenticate(BasicOf("ann"), kHere, [promise](auto found) {
      promise->set_value(found ? (*found)->user : found.error().id());
    });
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get(), "ann");
}

TEST(PasswordHasherTest, HashesAreSaltedAndCarryTheirParameters) {
  PasswordHasher hasher(kCheap);
  const std::string hash = hasher.Hash("secret");
  EXPECT_TRUE(hash.starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
  EXPECT_NE(hash, hasher.Hash("secret"));
  EXPECT_TRUE(hasher.Verify(hash, "secret"));
  EXPECT_FALSE(hasher.Verify(hash, "Secret"));
  EXPECT_FALSE(hasher.Verify("nonsense", "secret"));
  PasswordHasher costlier({.memory_kib = 128, .passes = 2});
  EXPECT_TRUE(costlier.Verify(hash, "secret"));
}

}  // namespace
}  // namespace sluice::auth
