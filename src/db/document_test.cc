// The stored form of documents is fixed: docs/formats/documents.md.
#include "db/document.h"

#include "db/test_formats.h"

namespace sluice::db {
namespace {

Document Full() {
  Document document;
  document.body = "{}";
  document.flags = 0x81;
  document.expiry_ms = 1000;
  document.xattrs = R"({"x":1})";
  document.cas = 0x0102030405060708;
  document.sequence = 300;
  return document;
}

TEST(DocumentFormat, Golden) {
  Document plain;
  plain.body = "1";
  plain.cas = 5;
  plain.sequence = 7;
  EXPECT_EQ(ToHex(EncodeDocument(DocumentView::Of(plain))), "010207000000000000000531");
  plain.datatype = Datatype::kBinary;
  EXPECT_EQ(ToHex(EncodeDocument(DocumentView::Of(plain))), "010007000000000000000531");
  EXPECT_EQ(ToHex(EncodeDocument(DocumentView::Of(Full()))),
            "011eac020102030405060708e8078101077b2278223a317d7b7d");
}

TEST(DocumentFormat, GoldenTombstones) {
  DocumentView tombstone;
  tombstone.tombstone = true;
  tombstone.cas = 5;
  tombstone.sequence = 7;
  EXPECT_EQ(ToHex(EncodeDocument(tombstone)), "0103070000000000000005");
  tombstone.expired = true;
  EXPECT_EQ(ToHex(EncodeDocument(tombstone)), "0123070000000000000005");
  const DocumentView read = *DecodeDocument(EncodeDocument(tombstone));
  EXPECT_TRUE(read.tombstone && read.expired);
}

TEST(DocumentFormat, RoundTrip) {
  const std::string stored = EncodeDocument(DocumentView::Of(Full()));
  const Document read = DecodeDocument(stored)->Copy();
  EXPECT_EQ(read.body, "{}");
  EXPECT_EQ(read.datatype, Datatype::kJson);
  EXPECT_EQ(read.flags, 0x81u);
  EXPECT_EQ(read.expiry_ms, 1000u);
  EXPECT_EQ(read.xattrs, R"({"x":1})");
  EXPECT_EQ(read.cas, 0x0102030405060708u);
  EXPECT_EQ(read.sequence, 300u);
}

TEST(DocumentFormat, RefusesWhatItDoesNotKnow) {
  const auto decodes = [](std::string_view row) {
    const auto read = DecodeDocument(row);
    if (!read) {
      EXPECT_EQ(read.error().id(), "document.corrupt");
    }
    return read.has_value();
  };
  Document header_only = Full();
  header_only.body.clear();
  ExpectOnlyWhole(EncodeDocument(DocumentView::Of(header_only)), decodes);
  EXPECT_FALSE(decodes(std::string("\x01\x40\x01", 3) + std::string(8, '\0'))) << "an unknown bit";
  EXPECT_FALSE(
      decodes(std::string("\x01\x08\x01", 3) + std::string(8, '\0') + "\xff\xff\xff\xff\xff\x01"))
      << "flags of more than 32 bits";
}

TEST(DocumentFormat, Keys) {
  EXPECT_EQ(ToHex(DocumentKey(0x0102, 0x03040506, "k")), "0102030405066b");
  EXPECT_EQ(ToHex(KeyspacePrefix(0x0102, 0x03040506)), "010203040506");
}

TEST(Document, Liveness) {
  DocumentView document;
  EXPECT_TRUE(document.LiveAt(UINT64_MAX));
  document.expiry_ms = 100;
  EXPECT_TRUE(document.LiveAt(99));
  EXPECT_FALSE(document.LiveAt(100));
  document.expiry_ms = 0;
  document.tombstone = true;
  EXPECT_FALSE(document.LiveAt(0));
}

}  // namespace
}  // namespace sluice::db
