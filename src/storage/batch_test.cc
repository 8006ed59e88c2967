// Batches as bytes: the golden form, what is refused, and that a store sees the same batch.
#include "storage/batch.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "storage/crc32c.h"

namespace sluice::storage {
namespace {

class Printing final : public BatchVisitor {
 public:
  void Put(Family family, std::string_view key, std::string_view value) override {
    text += fmt::format("put {} {}={};", FamilyName(family), key, value);
  }
  void Delete(Family family, std::string_view key) override {
    text += fmt::format("delete {} {};", FamilyName(family), key);
  }
  void DeleteRange(Family family, std::string_view from, std::string_view to) override {
    text += fmt::format("range {} {}-{};", FamilyName(family), from, to);
  }
  std::string text;
};

std::string Print(const Batch& batch) {
  Printing visitor;
  batch.ForEach(visitor);
  return visitor.text;
}

Batch OneOfEach() {
  Batch batch;
  batch.Put(Family::kMeta, "m", "vw");
  const std::vector<std::string_view> parts = {""};
  batch.PutParts(Family::kRevision, "r", parts);
  batch.Delete(Family::kTimer, "t");
  batch.DeleteRange(Family::kLog, "a", "c");
  return batch;
}

std::string WithChecksum(const std::string& body) {
  std::string bytes = "\x01";
  AppendU32(&bytes, Crc32c(body));
  return bytes + body;
}

std::string Refusal(const std::string& bytes) {
  const auto parsed = Batch::Parse(bytes);
  return parsed ? "" : parsed.error().id();
}

TEST(BatchFormat, Golden) {
  EXPECT_EQ(ToHex(OneOfEach().Serialize()),
            "0140124b2f040100016d027677010901720002050174030201610163");
}

// A number that is given to another family makes every stored group unreadable.
TEST(BatchFormat, NumbersOfFamilies) {
  const std::vector<std::pair<Family, std::string>> families = {
      {Family::kMeta, "meta"},        {Family::kDocs, "docs"},       {Family::kLog, "log"},
      {Family::kIndex, "index"},      {Family::kCursor, "cursor"},   {Family::kTimer, "timer"},
      {Family::kExpiry, "expiry"},    {Family::kFailure, "failure"}, {Family::kRun, "run"},
      {Family::kRevision, "revision"}};
  ASSERT_GE(kFamilyCount, families.size());
  for (size_t i = 0; i < families.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(families[i].first), i);
    EXPECT_EQ(FamilyName(families[i].first), families[i].second);
  }
}

TEST(BatchFormat, ReadsWhatItWrote) {
  const Batch batch = OneOfEach();
  const std::string expected = "put meta m=vw;put revision r=;delete timer t;range log a-c;";
  EXPECT_EQ(Print(batch), expected);
  const auto parsed = Batch::Parse(batch.Serialize());
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  EXPECT_EQ(Print(*parsed), expected);
  EXPECT_EQ(parsed->bytes(), batch.bytes());
  EXPECT_EQ(parsed->meta_keys(), std::vector<std::string>{"m"});
  const auto empty = Batch::Parse(Batch().Serialize());
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->empty());
}

TEST(BatchFormat, RefusesDamage) {
  const std::string bytes = OneOfEach().Serialize();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Refusal(bytes.substr(0, size)), "group.corrupt") << size << " bytes";
  }
  EXPECT_EQ(Refusal(bytes + "x"), "group.corrupt");
  for (size_t i = 1; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    EXPECT_EQ(Refusal(flipped), "group.corrupt") << "byte " << i;
  }
  std::string newer = bytes;
  newer[0] = 2;
  EXPECT_EQ(Refusal(newer), "group.unknown_version");
}

TEST(BatchFormat, RefusesMalformedRecords) {
  using namespace std::string_literals;
  EXPECT_EQ(Refusal(WithChecksum("\x01\x02\x01\x01k"s)), "");
  EXPECT_EQ(Refusal(WithChecksum("\x02\x02\x01\x01k"s)), "group.corrupt") << "count too high";
  EXPECT_EQ(Refusal(WithChecksum("\x00\x02\x01\x01k"s)), "group.corrupt") << "count too low";
  EXPECT_EQ(Refusal(WithChecksum("\x01\x04\x01\x01k\x00"s)), "group.corrupt") << "operation";
  EXPECT_EQ(Refusal(WithChecksum("\x01\x02\x0a\x01k"s)), "group.corrupt") << "family";
  EXPECT_EQ(Refusal(WithChecksum("\x01\x03\x01\x01k\x01j"s)), "group.corrupt") << "backwards";
  EXPECT_EQ(Refusal(WithChecksum("\x01\x03\x00\x01k\x01l"s)), "group.corrupt") << "of meta";
  EXPECT_EQ(Refusal(WithChecksum("\x01\x01\x01\x01k\xff\xff\xff\xff\x0f"s)), "group.corrupt")
      << "a length past the end";
}

TEST(Batch, NotesTheKeysOfMeta) {
  Batch batch = OneOfEach();
  batch.Delete(Family::kMeta, "n");
  EXPECT_EQ(batch.meta_keys(), (std::vector<std::string>{"m", "n"}));
  batch.Clear();
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(batch.meta_keys().empty());
}

}  // namespace
}  // namespace sluice::storage
