// Keys: owner, 0x00, then
//   'f', u64 id           what lists show
//   'p', u64 id           the event's data
// Values, version 1: u8 1, string key, string event, strings kind, type, message and stack, varints
// line, column, attempts, edits, first time, last time and size of the data; and u8 1, the data
// (the rest).
#include "failure/failure.h"

#include <charconv>

#include "base/bytes.h"

namespace sluice::failure {
namespace {

constexpr uint8_t kVersion = 1;
constexpr char kListRows = 'f';
constexpr char kPayloadRows = 'p';
constexpr size_t kIdBytes = 8;

Status Corrupt() {
  return Error(Code::kCorruption, "failure.corrupt", "a stored failure is malformed");
}

std::string KeyOf(std::string_view owner, char rows, uint64_t id) {
  std::string key = OwnerPrefix(owner) + rows;
  AppendU64(&key, id);
  return key;
}

// Cuts between characters.
void Shorten(std::string* text, size_t most) {
  if (text->size() <= most) return;
  while (most > 0 && (static_cast<uint8_t>((*text)[most]) & 0xc0) == 0x80) --most;
  text->resize(most);
  text->append("…");
}

}  // namespace

Problem Shortened(Problem problem) {
  Shorten(&problem.message, kMaxMessageBytes);
  Shorten(&problem.stack, kMaxStackBytes);
  Shorten(&problem.type, kMaxMessageBytes);
  return problem;
}

size_t StoredBytes(const Failure& failure) {
  constexpr size_t kRowBytes = 128;  // keys and numbers of both rows
  const Problem& problem = failure.problem;
  return kRowBytes + failure.key.size() + failure.event.size() + problem.message.size() +
         problem.stack.size() + failure.payload_bytes;
}

std::string OwnerPrefix(std::string_view owner) {
  std::string prefix(owner);
  prefix.push_back('\0');
  return prefix;
}

std::string ListPrefix(std::string_view owner) { return OwnerPrefix(owner) + kListRows; }
std::string FailureKey(std::string_view owner, uint64_t id) { return KeyOf(owner, kListRows, id); }
std::string PayloadKey(std::string_view owner, uint64_t id) {
  return KeyOf(owner, kPayloadRows, id);
}

Result<std::string_view> OwnerOf(std::string_view key) {
  const size_t end = key.find('\0');
  if (end == std::string_view::npos) return Unexpected(Corrupt());
  return key.substr(0, end);
}

std::string EncodeFailure(const Failure& failure) {
  std::string stored;
  AppendU8(&stored, kVersion);
  const Problem& problem = failure.problem;
  for (const std::string* text : {&failure.key, &failure.event, &problem.kind, &problem.type,
                                  &problem.message, &problem.stack}) {
    AppendString(&stored, *text);
  }
  for (const uint64_t number :
       {uint64_t{problem.line}, uint64_t{problem.column}, uint64_t{failure.attempts},
        uint64_t{failure.edits}, failure.first_ms, failure.last_ms, failure.payload_bytes}) {
    AppendVarint(&stored, number);
  }
  return stored;
}

std::string EncodePayload(std::string_view payload) {
  std::string stored;
  stored.reserve(payload.size() + 1);
  AppendU8(&stored, kVersion);
  stored.append(payload);
  return stored;
}

Result<Failure> DecodeFailure(std::string_view key, std::string_view stored) {
  if (key.size() < kIdBytes) return Unexpected(Corrupt());
  Failure failure;
  failure.id = ByteReader(key.substr(key.size() - kIdBytes)).U64();
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  Problem& problem = failure.problem;
  for (std::string* text : {&failure.key, &failure.event, &problem.kind, &problem.type,
                            &problem.message, &problem.stack}) {
    *text = reader.String();
  }
  for (uint32_t* number : {&problem.line, &problem.column, &failure.attempts, &failure.edits}) {
    *number = static_cast<uint32_t>(reader.Varint());
  }
  for (uint64_t* number : {&failure.first_ms, &failure.last_ms, &failure.payload_bytes}) {
    *number = reader.Varint();
  }
  if (version != kVersion || !reader.ok() || !reader.AtEnd()) return Unexpected(Corrupt());
  return failure;
}

Result<std::string> DecodePayload(std::string_view stored) {
  ByteReader reader(stored);
  if (reader.U8() != kVersion || !reader.ok()) return Unexpected(Corrupt());
  return std::string(reader.Rest());
}

std::string RetryOwner(std::string_view owner) { return std::string(kRetryPrefix).append(owner); }

std::string RetryReference(uint64_t id) { return std::to_string(id); }

Result<uint64_t> IdOfReference(std::string_view reference) {
  uint64_t id = 0;
  const char* const end = reference.data() + reference.size();
  const auto read = std::from_chars(reference.data(), end, id);
  if (read.ec != std::errc() || read.ptr != end) return Unexpected(Corrupt());
  return id;
}

}  // namespace sluice::failure
