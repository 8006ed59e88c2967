// Reading and writing, and what happens to a store whose files are damaged while it is closed:
// whatever was acknowledged is there, or opening or reading says which file is broken.
#include "storage/store.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/check.h"
#include "storage/verify.h"

namespace sluice::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWalBlock = 32 << 10;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteAll(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string path = (fs::temp_directory_path() / "sluice_store_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    directory_ = path;
  }
  ~StoreTest() override {
    store_.reset();
    fs::remove_all(directory_);
  }
  void SetUp() override { ASSERT_TRUE(Open().ok()); }

  Status Open() {
    store_.reset();
    StoreOptions options;
    if (small_) options.write_buffer_bytes = 256 << 10;
    auto opened = Store::Open(directory_ / "store", options);
    if (!opened) return opened.error();
    store_ = std::move(*opened);
    return OkStatus();
  }
  void Close() { store_.reset(); }
  // As the end of the process leaves it: a copy of the files while the store is open, of a moment
  // at which nothing was at work on them.
  void CloseHard() {
    const auto sizes = [&] {
      std::map<std::string, uint64_t> found;
      for (const auto& entry : fs::directory_iterator(directory_ / "store")) {
        std::error_code gone;
        found[entry.path().filename()] = fs::file_size(entry.path(), gone);
      }
      return found;
    };
    std::map<std::string, uint64_t> before;
    std::error_code error;
    do {
      fs::remove_all(directory_ / "hard");
      before = sizes();
      fs::copy(directory_ / "store", directory_ / "hard", fs::copy_options::recursive, error);
    } while (error || sizes() != before);
    Close();
    fs::remove_all(directory_ / "store");
    fs::rename(directory_ / "hard", directory_ / "store");
  }

  // Rows "0000", "0001", ...: each its own acknowledged batch.
  void Write(int from, int to, Sync sync = Sync::kYes) {
    for (int i = from; i < to; ++i) {
      Batch batch;
      batch.Put(Family::kDocs, Key(i), Value(i));
      ASSERT_TRUE(store_->Write(&batch, sync).ok());
    }
  }
  static std::string Key(int i) { return fmt::format("{:04}", i); }
  static std::string Value(int i) { return fmt::format("value {} ", i) + std::string(500, 'v'); }

  // The rows that are there, which must be intact; an error if reading failed.
  Result<std::vector<int>> Rows() {
    std::vector<int> rows;
    const auto iterator = store_->NewIterator(Family::kDocs, {});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      rows.push_back(std::stoi(std::string(iterator->key())));
      EXPECT_EQ(iterator->value(), Value(rows.back()));
    }
    RETURN_IF_ERROR(iterator->status());
    return rows;
  }
  static std::vector<int> Range(int from, int to) {
    std::vector<int> range;
    for (int i = from; i < to; ++i) range.push_back(i);
    return range;
  }

  // Files with an extension, oldest first.
  std::vector<fs::path> Files(const std::string& extension) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(directory_ / "store")) {
      if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  fs::path Largest(const std::string& extension) {
    const std::vector<fs::path> files = Files(extension);
    return *std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) {
      return fs::file_size(a) < fs::file_size(b);
    });
  }
  // Where the log's record with row `i` begins.
  static size_t RecordStart(const std::string& bytes, int i) {
    // Record and batch header, then type, family, key with its length, length of the value.
    constexpr size_t kBefore = 7 + 12 + 1 + 1 + 1 + 4 + 2;
    return bytes.find(Value(i)) - kBefore;
  }
  // The file that holds `text`.
  fs::path FileWith(const std::string& extension, const std::string& text) {
    for (const fs::path& file : Files(extension)) {
      if (ReadAll(file).find(text) != std::string::npos) return file;
    }
    ADD_FAILURE() << "no " << extension << " file holds " << text;
    return {};
  }
  static void FlipByte(const fs::path& file, size_t offset) {
    std::string bytes = ReadAll(file);
    ASSERT_LT(offset, bytes.size());
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x40);
    WriteAll(file, bytes);
  }
  static void ExpectNames(const Status& status, const fs::path& file) {
    EXPECT_EQ(status.id(), "storage.corrupt") << status.ToString();
    EXPECT_NE(status.message().find(file.filename().string()), std::string::npos)
        << status.ToString() << " does not name " << file;
  }

  fs::path directory_;
  bool small_ = false;  // little is kept in memory, so that there are many files
  std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, BatchesSnapshotsAndIterators) {
  Write(0, 10);
  const auto snapshot = store_->NewSnapshot();
  Batch batch;
  EXPECT_TRUE(batch.empty());
  batch.DeleteRange(Family::kDocs, Key(2), Key(8));
  batch.Delete(Family::kDocs, Key(9));
  const std::vector<std::string_view> parts = {"value 20 ", std::string_view("vv")};
  batch.PutParts(Family::kMeta, "parts", parts);
  EXPECT_FALSE(batch.empty());
  ASSERT_TRUE(store_->Write(&batch, Sync::kNo).ok());
  EXPECT_EQ(*Rows(), (std::vector<int>{0, 1, 8}));
  std::string value;
  EXPECT_TRUE(*store_->Get(Family::kMeta, "parts", &value));
  EXPECT_EQ(value, "value 20 vv");
  EXPECT_FALSE(*store_->Get(Family::kDocs, "parts", &value)) << "families are apart";
  EXPECT_FALSE(*store_->Get(Family::kDocs, Key(5), &value));
  EXPECT_TRUE(*store_->Get(Family::kDocs, Key(5), &value, snapshot.get()));
  EXPECT_EQ(value, Value(5));
  const auto iterator = store_->NewIterator(
      Family::kDocs, {.snapshot = snapshot.get(), .lower = Key(3), .upper = Key(6)});
  std::string keys;
  for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev()) keys += iterator->key();
  EXPECT_EQ(keys, "000500040003");
}

TEST_F(StoreTest, OneAtATime) {
  EXPECT_EQ(Store::Open(directory_ / "store", {}).error().id(), "storage.in_use");
  Write(0, 3);
  EXPECT_EQ(*Rows(), Range(0, 3));
  Close();
  EXPECT_EQ(Store::Open(directory_ / "other", {.create_if_missing = false}).error().id(),
            "storage.missing");
}

TEST_F(StoreTest, SurvivesManyRestarts) {
  for (int i = 0; i < 5; ++i) {
    Write(10 * i, 10 * i + 10);
    if (i == 2) {
      ASSERT_TRUE(store_->Flush().ok());
    }
    const Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    EXPECT_EQ(*Rows(), Range(0, 10 * i + 10));
  }
}

TEST_F(StoreTest, SurvivesLogsThatComeAndGoWhileSeveralThreadsWrite) {
  Close();
  small_ = true;
  ASSERT_TRUE(Open().ok());
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&, t] { Write(t * 1000, t * 1000 + 1000, Sync::kNo); });
  }
  for (std::thread& writer : writers) writer.join();
  ASSERT_TRUE(store_->SyncLog().ok());
  CloseHard();
  const Status opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(Rows()->size(), 3000u);
}

TEST_F(StoreTest, ACheckpointIsAStore) {
  Write(0, 10);
  ASSERT_TRUE(store_->Checkpoint(directory_ / "copy").ok());
  Write(10, 20);
  Close();
  fs::remove_all(directory_ / "store");
  fs::rename(directory_ / "copy", directory_ / "store");
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(*Rows(), Range(0, 10));
  ASSERT_TRUE(store_->Verify().ok());
}

// --- damage -------------------------------------------------------------------------------------

// A log is torn in what was not synced yet.
TEST_F(StoreTest, ATornTailLosesOnlyWhatWasTorn) {
  Write(0, 9);
  Write(9, 10, Sync::kNo);
  CloseHard();
  const fs::path wal = FileWith(".log", Value(9));
  fs::resize_file(wal, fs::file_size(wal) - 7);
  for (int i = 9; i < 13; ++i) {
    const Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    EXPECT_EQ(*Rows(), Range(0, i));
    Write(i, i + 1);  // the torn log stays, others follow
  }
}

TEST_F(StoreTest, EveryTornTailIsAccepted) {
  Write(0, 2);
  Write(2, 3, Sync::kNo);
  CloseHard();
  const fs::path wal = FileWith(".log", Value(2));
  const std::string bytes = ReadAll(wal);
  const size_t last = RecordStart(bytes, 2);
  for (size_t size : {last, last + 1, last + 6, last + 7, last + 100, bytes.size() - 1}) {
    fs::copy(directory_ / "store", directory_ / "copy", fs::copy_options::recursive);
    fs::resize_file(directory_ / "copy" / wal.filename(), size);
    const auto opened = Store::Open(directory_ / "copy", {});
    EXPECT_TRUE(opened) << size << ": " << opened.error().ToString();
    fs::remove_all(directory_ / "copy");
  }
  WriteAll(wal, bytes.substr(0, last) + std::string(100'000, '\0'));
  ASSERT_TRUE(Open().ok()) << "zeros at the end";
  EXPECT_EQ(*Rows(), Range(0, 2));
}

TEST_F(StoreTest, AnyFlippedByteOfALogIsReported) {
  Write(0, 4);
  Close();
  const fs::path wal = FileWith(".log", Value(2));
  const std::string bytes = ReadAll(wal);
  const size_t start = RecordStart(bytes, 1);
  // Checksum, length, type, sequence, payload.
  for (size_t offset : {0, 3, 4, 5, 6, 8, 20, 300}) {
    WriteAll(wal, bytes);
    FlipByte(wal, start + offset);
    SCOPED_TRACE(offset);
    ExpectNames(Open(), wal);
  }
  WriteAll(wal, bytes);
  FlipByte(wal, bytes.size() - 5);
  ExpectNames(Open(), wal);
}

TEST_F(StoreTest, BytesOfALogThatBecameZeroAreReported) {
  Write(0, 200);
  Close();
  const fs::path wal = FileWith(".log", Value(2));
  const std::string bytes = ReadAll(wal);
  ASSERT_GT(bytes.size(), 3 * kWalBlock);
  const size_t start = RecordStart(bytes, 5);
  for (const size_t end : {start + 1024, kWalBlock, 2 * kWalBlock, bytes.size() - 2000}) {
    std::string damaged = bytes;
    std::fill(damaged.begin() + start, damaged.begin() + end, '\0');
    WriteAll(wal, damaged);
    SCOPED_TRACE(end);
    ExpectNames(Open(), wal);
  }
}

TEST_F(StoreTest, ALogThatLostItsEndBeforeAnotherIsReported) {
  Write(0, 10);
  ASSERT_TRUE(Open().ok());
  Write(10, 20);
  Close();
  const fs::path older = FileWith(".log", Value(5));
  const fs::path newer = FileWith(".log", Value(15));
  ASSERT_NE(older, newer);
  fs::resize_file(older, fs::file_size(older) - 7);
  ExpectNames(Open(), older);
  WriteAll(directory_ / "store" / "SYNCED", "");
  ExpectNames(Open(), newer);
}

TEST_F(StoreTest, AStoreWithoutItsNotesIsReported) {
  Write(0, 10);
  ASSERT_TRUE(store_->Flush().ok());
  Write(10, 20);
  CloseHard();
  const fs::path store = directory_ / "store";
  const std::string wal = ReadAll(FileWith(".log", Value(15)));
  const fs::path wal_path = FileWith(".log", Value(15));
  for (const char* const note : {"WALS", "SYNCED"}) {
    fs::rename(store / note, directory_ / "aside");
    ExpectNames(Open(), store / note);
    EXPECT_EQ(VerifyClosedStore(store).id(), "storage.corrupt");
    fs::rename(directory_ / "aside", store / note);
  }
  fs::rename(store / "WALS", directory_ / "wals");
  fs::rename(store / "SYNCED", directory_ / "synced");
  fs::remove(wal_path);
  ExpectNames(Open(), store / "WALS");
  EXPECT_EQ(VerifyClosedStore(store).id(), "storage.corrupt");
  fs::rename(directory_ / "wals", store / "WALS");
  fs::rename(directory_ / "synced", store / "SYNCED");
  WriteAll(wal_path, wal);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(*Rows(), Range(0, 20));
}

TEST_F(StoreTest, ALogThatWasCutShortIsReported) {
  Write(0, 10);
  CloseHard();
  const fs::path wal = FileWith(".log", Value(9));
  const std::string bytes = ReadAll(wal);
  for (const size_t size : {size_t{0}, RecordStart(bytes, 5), RecordStart(bytes, 9)}) {
    fs::resize_file(wal, size);
    SCOPED_TRACE(size);
    ExpectNames(Open(), wal);
    WriteAll(wal, bytes);
  }
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(*Rows(), Range(0, 10));
}

TEST_F(StoreTest, AManifestThatWasCutShortIsReported) {
  for (int i = 0; i < 10; ++i) {
    Write(10 * i, 10 * i + 10);
    ASSERT_TRUE(store_->Flush().ok());
  }
  Close();
  std::string name = ReadAll(directory_ / "store" / "CURRENT");
  name.pop_back();
  const fs::path manifest = directory_ / "store" / name;
  const std::string bytes = ReadAll(manifest);
  for (size_t size = 0; size < bytes.size(); size += 97) {
    WriteAll(manifest, bytes.substr(0, size));
    SCOPED_TRACE(size);
    ExpectNames(Open(), manifest);
  }
  WriteAll(manifest, bytes);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(*Rows(), Range(0, 100));
}

TEST_F(StoreTest, AClosedStoreIsVerifiedWithoutChangingIt) {
  Write(0, 100);
  ASSERT_TRUE(store_->Flush().ok());
  Write(100, 110);
  ASSERT_TRUE(store_->Checkpoint(directory_ / "copy").ok());
  const auto files = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(directory_ / "copy")) {
      files[entry.path().filename()] = ReadAll(entry.path());
    }
    return files;
  };
  const std::map<std::string, std::string> before = files();
  const Status verified = VerifyClosedStore(directory_ / "copy");
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  EXPECT_EQ(files(), before);
  // Every file but the options and the lock: gone, cut short, damaged.
  for (const auto& [name, bytes] : before) {
    const bool counts = name.ends_with(".sst") || name.starts_with("MANIFEST") || name == "CURRENT";
    if (!counts && !(name.ends_with(".log") && !bytes.empty())) continue;
    const fs::path file = directory_ / "copy" / name;
    SCOPED_TRACE(name);
    fs::remove(file);
    EXPECT_FALSE(VerifyClosedStore(directory_ / "copy").ok());
    WriteAll(file, bytes.substr(0, bytes.size() * 7 / 10));
    EXPECT_FALSE(VerifyClosedStore(directory_ / "copy").ok());
    WriteAll(file, bytes);
    FlipByte(file, bytes.size() / 2);
    EXPECT_FALSE(VerifyClosedStore(directory_ / "copy").ok());
    WriteAll(file, bytes);
  }
  EXPECT_TRUE(VerifyClosedStore(directory_ / "copy").ok());
}

TEST_F(StoreTest, MissingLogsAreReported) {
  Write(0, 10);
  ASSERT_TRUE(Open().ok());
  Write(10, 20);
  Close();
  for (const int row : {5, 15}) {
    const fs::path wal = FileWith(".log", Value(row));
    const fs::path aside = directory_ / "aside";
    fs::rename(wal, aside);
    ExpectNames(Open(), wal);
    fs::rename(aside, wal);
  }
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(*Rows(), Range(0, 20));
}

TEST_F(StoreTest, LogsThatAreNotNeededMayGo) {
  Write(0, 10);
  ASSERT_TRUE(store_->Flush().ok());
  const Status opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  Close();
  WriteAll(directory_ / "store" / "WALS", ReadAll(directory_ / "store" / "WALS") + "+99");
  ASSERT_TRUE(Open().ok()) << "a line that was not finished";
  Close();
  WriteAll(directory_ / "store" / "WALS", "what\n");
  ExpectNames(Open(), directory_ / "store" / "WALS");
}

TEST_F(StoreTest, ADamagedTableIsReportedAndNotServed) {
  Write(0, 200);
  ASSERT_TRUE(store_->Flush().ok());
  Close();
  const fs::path table = Largest(".sst");
  const std::string bytes = ReadAll(table);
  FlipByte(table, bytes.size() / 3);
  ASSERT_TRUE(Open().ok()) << "found when it is read";
  ExpectNames(Rows().error(), table);
  ExpectNames(store_->Verify(), table);
  int failed = 0;
  for (int i = 0; i < 200; ++i) {
    std::string value;
    const Result<bool> found = store_->Get(Family::kDocs, Key(i), &value);
    if (!found) {
      ++failed;
      ExpectNames(found.error(), table);
    } else {
      EXPECT_TRUE(*found);
      EXPECT_EQ(value, Value(i));
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 200);
  Close();
  fs::resize_file(table, bytes.size() - 100);
  ExpectNames(Open(), table);
  fs::remove(table);
  ExpectNames(Open(), table);
}

TEST_F(StoreTest, ADamagedManifestIsReported) {
  Write(0, 20);
  ASSERT_TRUE(store_->Flush().ok());
  Close();
  fs::path manifest;
  for (const auto& entry : fs::directory_iterator(directory_ / "store")) {
    if (entry.path().filename().string().starts_with("MANIFEST")) manifest = entry.path();
  }
  const std::string bytes = ReadAll(manifest);
  // Checksum, length, type and payload of the first record, and some more.
  for (size_t at : {size_t{0}, size_t{4}, size_t{5}, size_t{6}, size_t{20}, bytes.size() / 2,
                    bytes.size() - 3}) {
    WriteAll(manifest, bytes);
    FlipByte(manifest, at);
    SCOPED_TRACE(at);
    ExpectNames(Open(), manifest);
  }
  fs::remove(manifest);
  ExpectNames(Open(), manifest);
  WriteAll(manifest, bytes);
  fs::remove(directory_ / "store" / "CURRENT");
  EXPECT_EQ(Store::Open(directory_ / "store", {.create_if_missing = false}).error().id(),
            "storage.missing");
}

}  // namespace
}  // namespace sluice::storage
