#include "db/types.h"

#include "base/crc32.h"
#include "base/utf8.h"
#include "db/table_schema.h"

namespace sluice::db {
namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '%';
}

}  // namespace

uint16_t VBucketOf(std::string_view key) {
  return static_cast<uint16_t>(((Crc32(key) >> 16) & 0x7fff) % kVBuckets);
}

ShardId ShardOfKey(std::string_view key, uint16_t shards) {
  if (shards == 1) return 0;
  return static_cast<ShardId>(uint32_t{VBucketOf(key)} * shards / kVBuckets);
}

ShardId ShardOf(KeyspaceId keyspace, std::string_view key, uint16_t shards) {
  return IsTableId(keyspace) ? kTablesShard : ShardOfKey(key, shards);
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
