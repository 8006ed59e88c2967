#include "db/types.h"

#include "base/utf8.h"
#include "db/table_schema.h"

namespace sluice::db {
namespace {

// FNV-1a.
uint64_t ShardHash(KeyspaceId keyspace, std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (int shift = 24; shift >= 0; shift -= 8) mix(static_cast<uint8_t>(keyspace >> shift));
  for (char byte : key) mix(static_cast<uint8_t>(byte));
  return hash ^ (hash >> 32);
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '%';
}

}  // namespace

ShardId ShardOf(KeyspaceId keyspace, std::string_view key, uint16_t shards) {
  if (shards == 1 || IsTableId(keyspace)) return 0;
  return static_cast<ShardId>(ShardHash(keyspace, key) % shards);
}

Result<KeyspaceName> KeyspaceName::Parse(std::string_view text) {
  KeyspaceName name;
  const size_t first = text.find('.');
  name.bucket = text.substr(0, first);
  RETURN_IF_ERROR(CheckName("bucket", name.bucket));
  if (first == std::string_view::npos) return name;
  const size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos) {
    return Fail(Code::kInvalidArgument, "keyspace.invalid_name",
                "expected a keyspace as 'bucket' or 'bucket.scope.collection', got '{}'", text);
  }
  name.scope = text.substr(first + 1, second - first - 1);
  name.collection = text.substr(second + 1);
  RETURN_IF_ERROR(CheckName("scope", name.scope));
  RETURN_IF_ERROR(CheckName("collection", name.collection));
  return name;
}

std::string KeyspaceName::ToString() const {
  if (scope == kDefaultName && collection == kDefaultName) return bucket;
  return bucket + "." + scope + "." + collection;
}

bool KeyspaceName::Overlaps(const KeyspaceName& other) const {
  const auto meet = [](const std::string& a, const std::string& b) {
    return a == b || a == "*" || b == "*";
  };
  return bucket == other.bucket && meet(scope, other.scope) && meet(collection, other.collection);
}

Status CheckName(std::string_view what, std::string_view name) {
  bool valid = !name.empty() && name.size() <= kMaxNameBytes;
  for (char c : name) valid = valid && IsNameCharacter(c);
  if (valid) return OkStatus();
  return Error(Code::kInvalidArgument, "keyspace.invalid_name",
               "expected a {} name of 1 to {} letters, digits, '_', '-' or '%', got '{}'", what,
               kMaxNameBytes, name.substr(0, 2 * kMaxNameBytes));
}

Status CheckKey(std::string_view key) {
  if (key.empty()) {
    return Error(Code::kInvalidArgument, "document.invalid_key", "a document key can't be empty");
  }
  if (key.size() > kMaxKeyBytes) {
    return Error(Code::kInvalidArgument, "document.key_too_long",
                 "a document key has at most {} bytes, got {}", kMaxKeyBytes, key.size());
  }
  if (!IsValidUtf8(key)) {
    return Error(Code::kInvalidArgument, "document.invalid_key",
                 "a document key must be valid UTF-8");
  }
  return OkStatus();
}

}  // namespace sluice::db
