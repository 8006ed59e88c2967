// A batch is kept as the WriteBatch that RocksDB will write, so that a store writes it without
// another copy. RocksDB asks a column family's handle only for its number and its comparator when
// it fills a WriteBatch. The handles here know both without a database: Store::Open makes sure that
// the number of each column family is that of its Family plus one.
//
// RocksDB's batch methods fail only on inputs over 4 GiB; ours are far below that.
#include "storage/batch.h"

#include <array>
#include <utility>

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/slice.h>
#include <rocksdb/write_batch.h>

#include "base/bytes.h"
#include "base/check.h"
#include "storage/column_family.h"
#include "storage/crc32c.h"

namespace sluice::storage {
namespace {

constexpr uint8_t kBatchVersion = 1;
constexpr size_t kMaxBatchBytes = 1ull << 30;
enum class Record : uint8_t { kPut = 1, kDelete = 2, kDeleteRange = 3 };

constexpr std::array<std::string_view, kFamilyCount> kFamilyNames = {
    "meta", "docs", "log", "index", "cursor", "timer", "expiry", "failure", "run", "revision"};
static_assert(static_cast<size_t>(Family::kRevision) + 1 == kFamilyCount,
              "the last family has the highest number");

rocksdb::Slice AsSlice(std::string_view view) { return {view.data(), view.size()}; }
std::string_view AsView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class NumberedFamily final : public rocksdb::ColumnFamilyHandle {
 public:
  explicit NumberedFamily(Family family)
      : name_(FamilyName(family)), number_(ColumnFamilyNumber(family)) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return number_; }
  rocksdb::Status GetDescriptor(rocksdb::ColumnFamilyDescriptor*) override {
    return rocksdb::Status::NotSupported();
  }
  const rocksdb::Comparator* GetComparator() const override {
    return rocksdb::BytewiseComparator();
  }

 private:
  const std::string name_;
  const uint32_t number_;
};

rocksdb::ColumnFamilyHandle* NumberedHandle(Family family) {
  // They have no state that changes.
  static const auto handles = [] {
    std::array<std::unique_ptr<NumberedFamily>, kFamilyCount> made;
    for (size_t i = 0; i < kFamilyCount; ++i) {
      made[i] = std::make_unique<NumberedFamily>(static_cast<Family>(i));
    }
    return made;
  }();
  return handles[static_cast<size_t>(family)].get();
}

class Visiting final : public rocksdb::WriteBatch::Handler {
 public:
  explicit Visiting(BatchVisitor& visitor) : visitor_(visitor) {}
  rocksdb::Status PutCF(uint32_t number, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    visitor_.Put(FamilyOf(number), AsView(key), AsView(value));
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t number, const rocksdb::Slice& key) override {
    visitor_.Delete(FamilyOf(number), AsView(key));
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t number, const rocksdb::Slice& from,
                                const rocksdb::Slice& to) override {
    visitor_.DeleteRange(FamilyOf(number), AsView(from), AsView(to));
    return rocksdb::Status::OK();
  }

 private:
  static Family FamilyOf(uint32_t number) { return static_cast<Family>(number - 1); }
  BatchVisitor& visitor_;
};

class Serializing final : public BatchVisitor {
 public:
  explicit Serializing(std::string* out) : out_(out) {}
  void Put(Family family, std::string_view key, std::string_view value) override {
    Begin(Record::kPut, family, key);
    AppendString(out_, value);
  }
  void Delete(Family family, std::string_view key) override { Begin(Record::kDelete, family, key); }
  void DeleteRange(Family family, std::string_view from, std::string_view to) override {
    Begin(Record::kDeleteRange, family, from);
    AppendString(out_, to);
  }

 private:
  void Begin(Record record, Family family, std::string_view key) {
    AppendU8(out_, static_cast<uint8_t>(record));
    AppendU8(out_, static_cast<uint8_t>(family));
    AppendString(out_, key);
  }
  std::string* const out_;
};

Status CorruptGroup(std::string_view what) {
  return Error(Code::kCorruption, "group.corrupt",
               "the bytes of a group of commits are damaged: {}", what);
}

// False for a record that Serialize does not make.
bool ReadRecord(ByteReader* reader, Batch* batch) {
  const auto record = static_cast<Record>(reader->U8());
  const uint8_t number = reader->U8();
  const std::string_view key = reader->String();
  if (!reader->ok() || number >= kFamilyCount) return false;
  const auto family = static_cast<Family>(number);
  if (record == Record::kDelete) {
    batch->Delete(family, key);
    return true;
  }
  const std::string_view value = reader->String();
  if (!reader->ok()) return false;
  if (record == Record::kPut) {
    batch->Put(family, key, value);
    return true;
  }
  // RocksDB refuses a range that ends before it begins.
  if (record != Record::kDeleteRange || family == Family::kMeta || value < key) return false;
  batch->DeleteRange(family, key, value);
  return true;
}

}  // namespace

std::string_view FamilyName(Family family) { return kFamilyNames[static_cast<size_t>(family)]; }

Batch::Batch() : batch_(std::make_unique<rocksdb::WriteBatch>()) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

void Batch::Put(Family family, std::string_view key, std::string_view value) {
  Note(family, key);
  CHECK(batch_->Put(NumberedHandle(family), AsSlice(key), AsSlice(value)).ok());
}

void Batch::PutParts(Family family, std::string_view key, std::span<const std::string_view> value) {
  constexpr size_t kMaxParts = 8;
  CHECK(value.size() <= kMaxParts);
  Note(family, key);
  const rocksdb::Slice key_slice = AsSlice(key);
  std::array<rocksdb::Slice, kMaxParts> slices;
  for (size_t i = 0; i < value.size(); ++i) slices[i] = AsSlice(value[i]);
  const rocksdb::SliceParts parts(slices.data(), static_cast<int>(value.size()));
  CHECK(batch_->Put(NumberedHandle(family), rocksdb::SliceParts(&key_slice, 1), parts).ok());
}

void Batch::Delete(Family family, std::string_view key) {
  Note(family, key);
  CHECK(batch_->Delete(NumberedHandle(family), AsSlice(key)).ok());
}

void Batch::DeleteRange(Family family, std::string_view from, std::string_view to) {
  CHECK(family != Family::kMeta);
  CHECK(batch_->DeleteRange(NumberedHandle(family), AsSlice(from), AsSlice(to)).ok());
}

void Batch::Clear() {
  batch_->Clear();
  meta_keys_.clear();
}

size_t Batch::bytes() const { return batch_->GetDataSize(); }
bool Batch::empty() const { return batch_->Count() == 0; }

void Batch::ForEach(BatchVisitor& visitor) const {
  Visiting handler(visitor);
  CHECK(batch_->Iterate(&handler).ok());
}

std::string Batch::Serialize() const {
  std::string body;
  body.reserve(bytes() + 16);
  AppendVarint(&body, batch_->Count());
  Serializing visitor(&body);
  ForEach(visitor);
  std::string bytes;
  bytes.reserve(body.size() + 8);
  AppendU8(&bytes, kBatchVersion);
  AppendU32(&bytes, Crc32c(body));
  bytes += body;
  return bytes;
}

Result<Batch> Batch::Parse(std::string_view bytes) {
  if (bytes.size() > kMaxBatchBytes) return Unexpected(CorruptGroup("there are too many"));
  ByteReader reader(bytes);
  const uint8_t version = reader.U8();
  const uint32_t checksum = reader.U32();
  if (!reader.ok()) return Unexpected(CorruptGroup("they end early"));
  if (version != kBatchVersion) {
    return Fail(Code::kUnsupported, "group.unknown_version",
                "a group of commits has version {}, this server knows {}", version, kBatchVersion);
  }
  const std::string_view body = bytes.substr(bytes.size() - reader.remaining());
  if (Crc32c(body) != checksum) return Unexpected(CorruptGroup("the checksum does not fit"));
  const uint64_t count = reader.Varint();
  Batch batch;
  for (uint64_t i = 0; i < count; ++i) {
    if (!ReadRecord(&reader, &batch)) return Unexpected(CorruptGroup("a record is malformed"));
  }
  if (!reader.ok() || !reader.AtEnd())
    return Unexpected(CorruptGroup("the number of records is wrong"));
  return batch;
}

}  // namespace sluice::storage
