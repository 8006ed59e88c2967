// A log is a sequence of blocks of 32 KiB, the last one shorter. A block holds fragments; less than
// seven bytes at its end are zeros. A fragment:
//
//   u32 LE  masked CRC-32C of type and payload
//   u16 LE  length of the payload
//   u8      type: 1 a whole record, 2 its first, 3 a middle, 4 its last fragment
//   bytes   payload
//
// A record is a write batch and begins with its sequence (u64 LE) and the number of its operations
// (u32 LE), each of which takes one sequence: a batch's sequence is the one before it plus its
// count, across logs.
#include "storage/wal_check.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>

#include "storage/crc32c.h"

namespace sluice::storage {
namespace {

constexpr size_t kBlockBytes = 32 << 10;
constexpr size_t kHeaderBytes = 7;
constexpr size_t kBatchHeaderBytes = 12;

enum FragmentType : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

bool AllZero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

struct Fragment {
  uint8_t type = 0;
  std::string_view payload;
};

// The fragment at the beginning of `bytes`, if it is complete and undamaged.
std::optional<Fragment> FragmentAt(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const size_t length = LittleEndian(bytes.substr(4, 2));
  const uint8_t type = static_cast<uint8_t>(bytes[6]);
  if (type < kWhole || type > kLast || kHeaderBytes + length > bytes.size()) return std::nullopt;
  const uint32_t crc = Crc32c(bytes.substr(6, 1 + length));
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
  if (masked != LittleEndian(bytes.substr(0, 4))) return std::nullopt;
  return Fragment{type, bytes.substr(kHeaderBytes, length)};
}

class LogFile {
 public:
  // `next_sequence` goes from log to log, 0 at first; null for a log of something else.
  LogFile(const std::string& path, uint64_t* next_sequence)
      : path_(path), file_(path, std::ios::binary), next_sequence_(next_sequence) {}

  Status Check() {
    std::string block(kBlockBytes, '\0');
    while (file_.read(block.data(), kBlockBytes), file_.gcount() > 0) {
      const auto size = static_cast<size_t>(file_.gcount());
      const bool last = file_.peek() == std::ifstream::traits_type::eof();
      bool ended = false;
      RETURN_IF_ERROR(CheckBlock(std::string_view(block).substr(0, size), last, &ended));
      if (ended) return CheckZeros();
      base_ += size;
    }
    if (file_.bad() || !file_.is_open()) {
      return Error(Code::kIo, "storage.io", "cannot read {}", path_);
    }
    return OkStatus();
  }

 private:
  Status Damaged(size_t at, std::string_view what) const {
    return Error(Code::kCorruption, "storage.corrupt",
                 "{} is damaged at byte {} and is not served: {}. Restore it from a backup", path_,
                 base_ + at, what);
  }

  // `ended`: the rest must be zeros.
  Status CheckBlock(std::string_view block, bool last, bool* ended) {
    size_t at = 0;
    while (block.size() - at >= kHeaderBytes) {
      const std::string_view rest = block.substr(at);
      const std::optional<Fragment> fragment = FragmentAt(rest);
      if (!fragment) return CheckEnd(rest, at, last, ended);
      if (next_sequence_ != nullptr) RETURN_IF_ERROR(CheckSequence(*fragment, at));
      at += kHeaderBytes + fragment->payload.size();
    }
    if (!last && !AllZero(block.substr(at))) return Damaged(at, "a block does not end with zeros");
    return OkStatus();
  }

  // Bytes that can't be read are the end of the log, or damage.
  Status CheckEnd(std::string_view rest, size_t at, bool last, bool* ended) {
    if (AllZero(rest)) {
      *ended = true;
      return OkStatus();
    }
    const size_t length = LittleEndian(rest.substr(4, 2));
    const bool incomplete =
        last && kHeaderBytes + length > rest.size() && kHeaderBytes + length <= kBlockBytes - at;
    if (!incomplete) return Damaged(at, "a record is damaged");
    for (size_t skip = 1; skip + kHeaderBytes <= rest.size(); ++skip) {
      const std::optional<Fragment> later = FragmentAt(rest.substr(skip));
      if (later && (later->type == kWhole || later->type == kFirst)) {
        return Damaged(at, "a record is damaged, and others come after it");
      }
    }
    return OkStatus();
  }

  Status CheckZeros() {
    std::string bytes(kBlockBytes, '\0');
    while (file_.read(bytes.data(), kBlockBytes), file_.gcount() > 0) {
      if (!AllZero(std::string_view(bytes).substr(0, static_cast<size_t>(file_.gcount())))) {
        return Damaged(0, "records come after bytes that are zero");
      }
    }
    return OkStatus();
  }

  Status CheckSequence(const Fragment& fragment, size_t at) {
    if (fragment.type == kWhole || fragment.type == kFirst) batch_header_.clear();
    const size_t missing = kBatchHeaderBytes - batch_header_.size();
    batch_header_.append(fragment.payload.substr(0, missing));
    const bool complete = fragment.type == kWhole || fragment.type == kLast;
    if (!complete || batch_header_.size() < kBatchHeaderBytes) return OkStatus();
    const std::string_view header = batch_header_;
    const uint64_t sequence = LittleEndian(header.substr(0, 8));
    if (*next_sequence_ != 0 && sequence > *next_sequence_) {
      return Damaged(at, "records that came before this one are missing");
    }
    *next_sequence_ = std::max(*next_sequence_, sequence + LittleEndian(header.substr(8, 4)));
    return OkStatus();
  }

  const std::string path_;
  std::ifstream file_;
  uint64_t base_ = 0;  // of the block that is looked at
  std::string batch_header_;
  uint64_t* const next_sequence_;
};

}  // namespace

Status CheckWals(const std::vector<std::string>& files) {
  uint64_t next_sequence = 0;
  for (const std::string& file : files) {
    RETURN_IF_ERROR(LogFile(file, &next_sequence).Check());
  }
  return OkStatus();
}

Status CheckManifest(const std::string& file) { return LogFile(file, nullptr).Check(); }

}  // namespace sluice::storage
