#include "auth/account.h"

#include <gtest/gtest.h>

namespace sluice::auth {
namespace {

TEST(AccountTest, StoredFormOfAUser) {
  User user;
  user.name = "ann";
  user.password_hash = "$argon2id$x";
  user.grants = {Grant{Role::kReader, "shop"}, Grant{Role::kWriter, "*"}};
  user.created_ms = 1'700'000'000'000;
  const std::string stored = EncodeUser(user);
  EXPECT_EQ(stored,
            "\x01"
            R"({"password":"$argon2id$x","roles":["reader:shop","writer:*"],)"
            R"("created_ms":1700000000000})");
  const Result<User> read = DecodeUser("ann", stored);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "ann");
  EXPECT_EQ(read->password_hash, user.password_hash);
  EXPECT_EQ(read->grants, user.grants);
  EXPECT_EQ(read->created_ms, user.created_ms);
}

TEST(AccountTest, StoredFormOfAToken) {
  Token token;
  token.digest = "00ff";
  token.user = "ann";
  token.name = "laptop";
  token.created_ms = 1;
  token.expires_ms = 2;
  EXPECT_EQ(EncodeToken(token),
            "\x01"
            R"({"user":"ann","name":"laptop","created_ms":1,"expires_ms":2})");
  EXPECT_FALSE(DecodeToken("00ff", EncodeToken(token))->grants.has_value());
  token.grants = Grants{Grant{Role::kQuery, "shop"}};
  const Result<Token> read = DecodeToken("00ff", EncodeToken(token));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->digest, "00ff");
  EXPECT_EQ(read->user, "ann");
  EXPECT_EQ(read->name, "laptop");
  EXPECT_EQ(read->expires_ms, 2u);
  EXPECT_EQ(*read->grants, *token.grants);
}

TEST(AccountTest, DamagedRowsAreReported) {
  for (const std::string_view stored :
       {"", "\x02{}", "\x01", "\x01{}", "\x01{\"password\":1,\"roles\":[],\"created_ms\":1}"}) {
    EXPECT_EQ(DecodeUser("ann", stored).error().code(), Code::kCorruption) << stored;
    EXPECT_EQ(DecodeToken("00", stored).error().code(), Code::kCorruption) << stored;
  }
}

TEST(AccountTest, Names) {
  EXPECT_TRUE(CheckUserName("ann.b@example-x.org").ok());
  EXPECT_FALSE(CheckUserName("").ok());
  EXPECT_FALSE(CheckUserName("a/b").ok());
  EXPECT_FALSE(CheckUserName("a:b").ok());
  EXPECT_FALSE(CheckUserName(std::string(101, 'a')).ok());
  EXPECT_FALSE(CheckTokenName("").ok());
  EXPECT_TRUE(CheckTokenName("my laptop").ok());
}

TEST(AccountTest, TokenSecretsAreLongAndDifferent) {
  const std::string secret = NewTokenSecret();
  EXPECT_EQ(secret.size(), 4u + 64u);
  EXPECT_NE(secret, NewTokenSecret());
  EXPECT_EQ(TokenDigest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sluice::auth
