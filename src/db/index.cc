// Row key: u16 shard, u32 index, encoded parts (json/key_encoding.h), document key, u16 length of
// the document key. Row value: empty, or a varint with the time at which the document expires.
#include "db/index.h"

#include <algorithm>

#include "base/bytes.h"
#include "json/key_encoding.h"

namespace sluice::db {
namespace {

constexpr std::string_view kKeyPath = "META().id";

json::Direction DirectionOf(const IndexPart& part) {
  return part.descending ? json::Direction::kDescending : json::Direction::kAscending;
}

void AppendPlace(std::string* row, std::string_view parts, std::string_view key) {
  row->append(parts);
  row->append(key);
  AppendU16(row, static_cast<uint16_t>(key.size()));
}

}  // namespace

Result<Index> Index::Make(IndexId id, KeyspaceId keyspace, IndexDefinition definition,
                          State state) {
  if (definition.parts.empty() || definition.parts.size() > kMaxIndexParts) {
    return Fail(Code::kInvalidArgument, "index.invalid", "an index has 1 to {} parts, got {}",
                kMaxIndexParts, definition.parts.size());
  }
  std::vector<json::Path> paths;
  size_t each = 0;
  for (const IndexPart& part : definition.parts) {
    each += part.each_element ? 1 : 0;
    if (part.path == kKeyPath) continue;
    ASSIGN_OR_RETURN(json::Path path, json::Path::Parse(part.path));
    if (path.empty()) {
      return Fail(Code::kInvalidArgument, "index.invalid", "an index part's path can't be empty");
    }
    paths.push_back(std::move(path));
  }
  if (each > 1) {
    return Fail(Code::kInvalidArgument, "index.invalid",
                "one part of an index at most can stand for an array's elements, got {}", each);
  }
  Index index;
  index.extractor_ = std::make_shared<const json::Extractor>(paths);
  index.id_ = id;
  index.keyspace_ = keyspace;
  index.definition_ = std::move(definition);
  index.state_ = state;
  return index;
}

Result<std::vector<std::string>> Index::Entries(std::string_view key,
                                                const DocumentView& document) const {
  std::vector<std::string> entries;
  if (document.datatype != Datatype::kJson) return entries;
  ASSIGN_OR_RETURN(const std::vector<json::Value> found, extractor_->Values(document.body));
  auto next = found.begin();
  entries.emplace_back();
  for (size_t i = 0; i < definition_.parts.size(); ++i) {
    const IndexPart& part = definition_.parts[i];
    const json::Value value = part.path == kKeyPath ? json::Value(key) : *next++;
    const bool each = part.each_element;
    const bool nothing = each ? value.size() == 0 || !value.is_array() : value.is_missing();
    if (i == 0 && nothing) return std::vector<std::string>();
    std::vector<std::string> longer;
    const size_t alternatives = each && value.is_array() ? std::max<size_t>(1, value.size()) : 1;
    for (const std::string& entry : entries) {
      for (size_t n = 0; n < alternatives; ++n) {
        const json::Value& one = each ? value[n] : value;
        std::string extended = entry;
        RETURN_IF_ERROR(json::AppendKeyPart(one, DirectionOf(part), &extended));
        longer.push_back(std::move(extended));
      }
    }
    entries = std::move(longer);
    if (entries.size() > kMaxIndexEntriesPerDocument) {
      return Fail(Code::kTooLarge, "index.too_many_entries",
                  "document '{}' has more than {} entries in index '{}'", key,
                  kMaxIndexEntriesPerDocument, definition_.name);
    }
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  for (const std::string& entry : entries) {
    if (entry.size() > kMaxIndexEntryBytes) {
      return Fail(Code::kTooLarge, "index.entry_too_large",
                  "document '{}' has an entry of {} bytes in index '{}'; at most {} are possible",
                  key, entry.size(), definition_.name, kMaxIndexEntryBytes);
    }
  }
  return entries;
}

std::string Index::Prefix(ShardId shard) const { return KeyspacePrefix(shard, id_); }

std::string Index::RowKey(ShardId shard, std::string_view parts, std::string_view key) const {
  std::string row = Prefix(shard);
  row.reserve(row.size() + parts.size() + key.size() + 2);
  AppendPlace(&row, parts, key);
  return row;
}

std::string IndexPlace(std::string_view parts, std::string_view key) {
  std::string place;
  AppendPlace(&place, parts, key);
  return place;
}

Result<IndexRow> DecodeIndexRow(std::string_view place) {
  if (place.size() >= 2) {
    ByteReader reader(place.substr(place.size() - 2));
    const size_t length = reader.U16();
    const std::string_view rest = place.substr(0, place.size() - 2);
    if (length <= rest.size()) {
      return IndexRow{rest.substr(0, rest.size() - length), rest.substr(rest.size() - length)};
    }
  }
  return Fail(Code::kCorruption, "index.corrupt", "a row of an index is malformed");
}

std::string IndexRowValue(uint64_t expiry_ms) {
  std::string value;
  if (expiry_ms != 0) AppendVarint(&value, expiry_ms);
  return value;
}

Result<uint64_t> DecodeIndexRowValue(std::string_view value) {
  if (value.empty()) return 0;
  ByteReader reader(value);
  const uint64_t expiry_ms = reader.Varint();
  if (!reader.ok() || !reader.AtEnd()) {
    return Fail(Code::kCorruption, "index.corrupt", "a row of an index is malformed");
  }
  return expiry_ms;
}

}  // namespace sluice::db
