// Keys: owner, 0x00, then
//   'd', u64 due time in ms, u64 id           by due time
//   'n', callback, 0x00, reference            by name
// Values, version 1: by due time u8 1, string callback, string reference, context (the rest); by
// name u8 1, u64 due time, u64 id.
#include "timer/timer.h"

#include "base/bytes.h"

namespace sluice::timer {
namespace {

constexpr uint8_t kVersion = 1;
constexpr char kDueRows = 'd';
constexpr char kNameRows = 'n';
constexpr size_t kMomentBytes = 16;

void AppendMoment(std::string* out, const Moment& moment) {
  AppendU64(out, moment.due_ms);
  AppendU64(out, moment.id);
}

Moment ReadMoment(ByteReader* reader) {
  Moment moment;
  moment.due_ms = reader->U64();
  moment.id = reader->U64();
  return moment;
}

Status Corrupt() {
  return Error(Code::kCorruption, "timer.corrupt", "a stored timer is malformed");
}

}  // namespace

std::string OwnerPrefix(std::string_view owner) {
  std::string prefix(owner);
  prefix.push_back('\0');
  return prefix;
}

std::string DuePrefix(std::string_view owner) { return OwnerPrefix(owner) + kDueRows; }

std::string DueKey(std::string_view owner, const Moment& moment) {
  std::string key = DuePrefix(owner);
  AppendMoment(&key, moment);
  return key;
}

std::string NameKey(std::string_view owner, std::string_view callback, std::string_view reference) {
  std::string key = OwnerPrefix(owner) + kNameRows;
  key.append(callback).push_back('\0');
  key.append(reference);
  return key;
}

std::string EncodeDue(const Timer& timer) {
  std::string stored;
  AppendU8(&stored, kVersion);
  AppendString(&stored, timer.callback);
  AppendString(&stored, timer.reference);
  stored += timer.context;
  return stored;
}

std::string EncodeName(const Moment& moment) {
  std::string stored;
  AppendU8(&stored, kVersion);
  AppendMoment(&stored, moment);
  return stored;
}

Result<std::string_view> OwnerOf(std::string_view key) {
  const size_t end = key.find('\0');
  if (end == std::string_view::npos) return Unexpected(Corrupt());
  return key.substr(0, end);
}

Result<Timer> DecodeDue(std::string_view key, std::string_view stored) {
  if (key.size() < kMomentBytes) return Unexpected(Corrupt());
  ByteReader place(key.substr(key.size() - kMomentBytes));
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  Timer timer;
  timer.moment = ReadMoment(&place);
  timer.callback = reader.String();
  timer.reference = reader.String();
  if (version != kVersion || !reader.ok()) return Unexpected(Corrupt());
  timer.context = reader.Rest();
  return timer;
}

Result<Moment> DecodeName(std::string_view stored) {
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  const Moment moment = ReadMoment(&reader);
  if (version != kVersion || !reader.ok() || !reader.AtEnd()) return Unexpected(Corrupt());
  return moment;
}

}  // namespace sluice::timer
