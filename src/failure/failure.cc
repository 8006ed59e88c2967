// Keys within the shard: owner, 0x00, then
//   'f', u64 stamp        what lists show
//   'p', u64 stamp        the event's data
// Values, version 1: u8 1, string key, string event, strings kind, type, message and stack, varints
// line, column, attempts, edits, first time, last time and size of the data; and u8 1, the data
// (the rest).
#include "failure/failure.h"

#include <algorithm>
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

std::string KeyOf(std::string_view owner, char rows, uint64_t stamp) {
  std::string key = OwnerPrefix(owner) + rows;
  AppendU64(&key, stamp);
  return key;
}

// How many characters of the text are the number; 0 if it does not begin with one.
template <typename Number>
size_t ReadNumber(std::string_view text, Number* number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), *number);
  return read.ec == std::errc() ? static_cast<size_t>(read.ptr - text.data()) : 0;
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
std::string FailureKey(std::string_view owner, uint64_t stamp) {
  return KeyOf(owner, kListRows, stamp);
}
std::string PayloadKey(std::string_view owner, uint64_t stamp) {
  return KeyOf(owner, kPayloadRows, stamp);
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
  failure.id.stamp = ByteReader(key.substr(key.size() - kIdBytes)).U64();
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

std::string RetryReference(uint64_t stamp) { return std::to_string(stamp); }

Result<uint64_t> StampOfReference(std::string_view reference) {
  uint64_t stamp = 0;
  if (reference.empty() || ReadNumber(reference, &stamp) != reference.size())
    return Unexpected(Corrupt());
  return stamp;
}

std::string ToText(const FailureId& id) {
  return id.shard == 0 ? std::to_string(id.stamp) : fmt::format("{}-{}", id.stamp, id.shard);
}

Result<FailureId> ParseFailureId(std::string_view text) {
  FailureId id;
  const size_t stamp = ReadNumber(text, &id.stamp);
  if (stamp > 0 && stamp == text.size()) return id;
  const std::string_view shard = text.substr(std::min(stamp + 1, text.size()));
  const bool whole = stamp > 0 && text[stamp] == '-' && !shard.empty();
  if (whole && ReadNumber(shard, &id.shard) == shard.size()) return id;
  return Fail(Code::kInvalidArgument, "failure.bad_id",
              "expected a failure's id as a list shows it, got '{}'", text.substr(0, 80));
}

}  // namespace sluice::failure
