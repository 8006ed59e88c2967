#include "db/shared_rows.h"

#include "base/bytes.h"

namespace sluice::db {
namespace {

constexpr uint8_t kPreparedVersion = 1;
constexpr uint8_t kDecisionVersion = 1;

}  // namespace

std::string PreparedKey() { return "shared/prepared"; }

std::string PreparedGroup::Encode() const {
  std::string stored;
  AppendU8(&stored, kPreparedVersion);
  AppendU64(&stored, id);
  AppendU16(&stored, decided_in);
  AppendU64(&stored, after);
  AppendString(&stored, group);
  return stored;
}

Result<PreparedGroup> PreparedGroup::Decode(std::string_view stored) {
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  PreparedGroup row;
  row.id = reader.U64();
  row.decided_in = reader.U16();
  row.after = reader.U64();
  row.group = reader.String();
  if (version != kPreparedVersion || !reader.ok() || !reader.AtEnd()) {
    return Fail(Code::kCorruption, "shared.corrupt", "a prepared group's row is malformed");
  }
  return row;
}

std::string DecisionKey(SharedId id) {
  std::string key(kDecisionPrefix);
  AppendU64(&key, id);
  return key;
}

std::string Decision::Encode() const {
  std::string stored;
  AppendU8(&stored, kDecisionVersion);
  AppendU16(&stored, static_cast<uint16_t>(prepared.size()));
  for (const ShardId shard : prepared) AppendU16(&stored, shard);
  return stored;
}

Result<Decision> Decision::Decode(std::string_view stored) {
  ByteReader reader(stored);
  const uint8_t version = reader.U8();
  Decision decision;
  for (uint16_t left = reader.U16(); left > 0 && reader.ok(); --left) {
    decision.prepared.push_back(reader.U16());
  }
  if (version != kDecisionVersion || !reader.ok() || !reader.AtEnd()) {
    return Fail(Code::kCorruption, "shared.corrupt", "the row of a decision is malformed");
  }
  return decision;
}

}  // namespace sluice::db
