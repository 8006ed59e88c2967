#include "service/document_scan.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "db/test_database.h"

namespace sluice::service {
namespace {

// Keys with their values; takes so many at a time.
class Lines final : public ScanSink {
 public:
  explicit Lines(size_t room = SIZE_MAX) : room_(room) {}

  void OnDocument(std::string_view key, const db::DocumentView& document) override {
    text += std::string(key) + "=" + std::string(document.body) + " ";
    ++taken_;
  }
  void OnUnreadable(std::string_view key, const Status& why) override {
    text += std::string(key) + "!" + why.id() + " ";
  }
  bool full() const override { return taken_ >= room_; }

  std::string Take() {
    taken_ = 0;
    return std::exchange(text, {});
  }

  std::string text;

 private:
  const size_t room_;
  size_t taken_ = 0;
};

class DocumentScanTest : public db::DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    for (const char* const key : {"a1", "a2", "b1", "b2", "c1"}) Put(key, "1");
  }
  ScanRequest All() {
    ScanRequest request;
    request.keyspace = keyspace_;
    return request;
  }
  static std::string Read(DocumentScan& scan) {
    Lines lines;
    while (!scan.finished()) EXPECT_TRUE(scan.Next(lines).ok());
    return lines.text;
  }
  std::string Read(ScanRequest request) {
    DocumentScan scan(*database_, std::move(request));
    return Read(scan);
  }
};

TEST_F(DocumentScanTest, GivesDocumentsInKeyOrder) {
  EXPECT_EQ(Read(All()), "a1=1 a2=1 b1=1 b2=1 c1=1 ");
  ScanRequest part = All();
  part.range.prefix = "b";
  EXPECT_EQ(Read(part), "b1=1 b2=1 ");
  ScanRequest backwards = All();
  backwards.range.from = "a2";
  backwards.range.reverse = true;
  EXPECT_EQ(Read(backwards), "c1=1 b2=1 b1=1 a2=1 ");
}

TEST_F(DocumentScanTest, SaysWhereAnotherOneContinues) {
  ScanRequest request = All();
  request.limit = 2;
  DocumentScan scan(*database_, request);
  EXPECT_EQ(Read(scan), "a1=1 a2=1 ");
  EXPECT_EQ(scan.next(), "b1");
  request.range.from = scan.next();
  request.limit = 3;
  DocumentScan last(*database_, request);
  EXPECT_EQ(Read(last), "b1=1 b2=1 c1=1 ");
  EXPECT_EQ(last.next(), "");
}

TEST_F(DocumentScanTest, InReverseTheNextOneIsTheEnd) {
  ScanRequest request = All();
  request.range.reverse = true;
  request.limit = 2;
  DocumentScan scan(*database_, request);
  EXPECT_EQ(Read(scan), "c1=1 b2=1 ");
  request.range.to = scan.next();
  EXPECT_EQ(Read(request), "b1=1 a2=1 ");
}

// The parts are of one snapshot, whatever is written between them.
TEST_F(DocumentScanTest, PausesWhenTheSinkIsFull) {
  DocumentScan scan(*database_, All());
  Lines lines(2);
  ASSERT_TRUE(scan.Next(lines).ok());
  EXPECT_EQ(lines.Take(), "a1=1 a2=1 ");
  EXPECT_FALSE(scan.finished());
  Put("b1", "2");
  Delete("c1");
  ASSERT_TRUE(scan.Next(lines).ok());
  EXPECT_EQ(lines.Take(), "b1=1 b2=1 ");
  ASSERT_TRUE(scan.Next(lines).ok());
  EXPECT_EQ(lines.Take(), "c1=1 ");
  EXPECT_TRUE(scan.finished());
}

TEST_F(DocumentScanTest, LeavesOutWhatIsDeleted) {
  Delete("a2");
  ScanRequest stored = All();
  stored.stored = true;
  EXPECT_EQ(Read(stored), "a1=1 b1=1 b2=1 c1=1 ");
  EXPECT_EQ(Read(All()), "a1=1 b1=1 b2=1 c1=1 ");
}

TEST_F(DocumentScanTest, ASampleOfFewDocumentsHasAllOfThem) {
  ScanRequest sample = All();
  sample.sampled = true;
  const std::string text = Read(sample);
  for (const char* const key : {"a1", "a2", "b1", "b2", "c1"}) {
    EXPECT_NE(text.find(key), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sluice::service
