// Row key: u16 shard, u32 index, encoded parts (json/key_encoding.h), document key, u16 length of
// the document key. Row value: nothing, or a varint with the time at which the document expires (0
// for never); a second one says how often the document has the row, if it is more than once.
#include "db/index.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "db/index_compiler.h"
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

bool IndexDefinition::PathsOnly() const {
  return where.empty() &&
         std::ranges::all_of(parts, [](const IndexPart& part) { return part.expression.empty(); });
}

namespace {

Status Invalid(std::string_view what) {
  return Error(Code::kInvalidArgument, "index.invalid", "{}", what);
}

Status CheckPart(const IndexPart& part, bool first) {
  if (part.path.empty() && part.expression.empty()) {
    return Invalid("an index part's path can't be empty");
  }
  if (!part.path.empty() && !part.expression.empty()) {
    return Invalid("an index part is a path or an expression, not both");
  }
  if (part.include_missing && !first) {
    return Invalid("only the first part of an index can include missing values");
  }
  if (!part.distinct && !part.each_element) {
    return Invalid("only a part that stands for an array's elements can repeat them");
  }
  return OkStatus();
}

Status CheckDefinition(const IndexDefinition& definition) {
  if (definition.primary) {
    if (definition.parts.empty() && definition.where.empty()) return OkStatus();
    return Invalid("a primary index has neither parts nor a condition");
  }
  if (definition.parts.empty() || definition.parts.size() > kMaxIndexParts) {
    return Error(Code::kInvalidArgument, "index.invalid", "an index has 1 to {} parts, got {}",
                 kMaxIndexParts, definition.parts.size());
  }
  size_t each = 0;
  size_t text_bytes = definition.where.size();
  for (const IndexPart& part : definition.parts) {
    RETURN_IF_ERROR(CheckPart(part, &part == &definition.parts.front()));
    each += part.each_element ? 1 : 0;
    text_bytes += part.expression.size();
  }
  if (each > 1) {
    return Error(Code::kInvalidArgument, "index.invalid",
                 "one part of an index at most can stand for an array's elements, got {}", each);
  }
  if (text_bytes > kMaxIndexTextBytes) {
    return Error(Code::kInvalidArgument, "index.invalid",
                 "an index's expressions have at most {} bytes, got {}", kMaxIndexTextBytes,
                 text_bytes);
  }
  return OkStatus();
}

Result<std::shared_ptr<const json::Extractor>> ExtractorOf(const IndexDefinition& definition) {
  std::vector<json::Path> paths;
  for (const IndexPart& part : definition.parts) {
    if (part.path == kKeyPath) continue;
    ASSIGN_OR_RETURN(json::Path path, json::Path::Parse(part.path));
    if (path.empty()) return Unexpected(Invalid("an index part's path can't be empty"));
    paths.push_back(std::move(path));
  }
  return std::make_shared<const json::Extractor>(paths);
}

}  // namespace

Result<Index> Index::Make(IndexId id, KeyspaceId keyspace, IndexDefinition definition, State state,
                          const IndexCompiler* compiler) {
  RETURN_IF_ERROR(CheckDefinition(definition));
  Index index;
  if (definition.PathsOnly()) {
    ASSIGN_OR_RETURN(index.extractor_, ExtractorOf(definition));
  } else if (compiler == nullptr) {
    return Fail(Code::kUnsupported, "index.unsupported",
                "index '{}' has SQL++ expressions, which this server was started without",
                definition.name);
  } else {
    ASSIGN_OR_RETURN(index.program_, compiler->Compile(definition));
  }
  index.repeats_ =
      std::ranges::any_of(definition.parts, [](const IndexPart& part) { return !part.distinct; });
  index.id_ = id;
  index.keyspace_ = keyspace;
  index.definition_ = std::move(definition);
  index.state_ = state;
  return index;
}

Index Index::Invalid(IndexId id, KeyspaceId keyspace, IndexDefinition definition, Status problem) {
  Index index;
  index.id_ = id;
  index.keyspace_ = keyspace;
  index.definition_ = std::move(definition);
  index.state_ = State::kInvalid;
  index.problem_ = std::move(problem);
  return index;
}

Index Index::WithState(State state) const {
  Index changed = *this;
  changed.state_ = state;
  return changed;
}

Status Index::CheckReady() const {
  switch (state_) {
    case State::kReady:
      return OkStatus();
    case State::kBuilding:
      return Error(Code::kUnavailable, "index.building", "index '{}' is still being built",
                   definition_.name);
    case State::kDeferred:
      return Error(Code::kUnavailable, "index.building",
                   "index '{}' was made without rows and waits to be built", definition_.name);
    case State::kInvalid:
      return Error(Code::kUnavailable, "index.unusable", "index '{}' can't be used: {}",
                   definition_.name, problem_.message());
  }
  return OkStatus();
}

std::string_view IndexStateName(Index::State state) {
  switch (state) {
    case Index::State::kBuilding:
      return "building";
    case Index::State::kReady:
      return "ready";
    case Index::State::kDeferred:
      return "deferred";
    case Index::State::kInvalid:
      return "invalid";
  }
  return "";
}

// --- entries ------------------------------------------------------------------------------------

Result<std::vector<std::string>> Index::Entries(std::string_view key,
                                                const DocumentView& document) const {
  if (document.datatype != Datatype::kJson || definition_.primary || state_ == State::kInvalid) {
    return std::vector<std::string>();
  }
  ASSIGN_OR_RETURN(std::vector<std::string> entries, program_ == nullptr
                                                         ? PathEntries(key, document)
                                                         : ProgramEntries(key, document));
  std::sort(entries.begin(), entries.end());
  if (!repeats_) entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  for (const std::string& entry : entries) {
    if (entry.size() > kMaxIndexEntryBytes) {
      return Fail(Code::kTooLarge, "index.entry_too_large",
                  "document '{}' has an entry of {} bytes in index '{}'; at most {} are possible",
                  key, entry.size(), definition_.name, kMaxIndexEntryBytes);
    }
  }
  return entries;
}

Status Index::TooManyEntries(std::string_view key) const {
  return Error(Code::kTooLarge, "index.too_many_entries",
               "document '{}' has more than {} entries in index '{}'", key,
               kMaxIndexEntriesPerDocument, definition_.name);
}

Result<std::vector<std::string>> Index::PathEntries(std::string_view key,
                                                    const DocumentView& document) const {
  ASSIGN_OR_RETURN(const std::vector<json::Value> found, extractor_->Values(document.body));
  std::vector<std::string> entries(1);
  auto next = found.begin();
  for (size_t i = 0; i < definition_.parts.size(); ++i) {
    const IndexPart& part = definition_.parts[i];
    const json::Value value = part.path == kKeyPath ? json::Value(key) : *next++;
    const bool each = part.each_element;
    const bool nothing = each ? value.size() == 0 || !value.is_array() : value.is_missing();
    if (i == 0 && nothing && !part.include_missing) return std::vector<std::string>();
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
    if (entries.size() > kMaxIndexEntriesPerDocument) return Unexpected(TooManyEntries(key));
  }
  return entries;
}

Result<std::vector<std::string>> Index::ProgramEntries(std::string_view key,
                                                       const DocumentView& document) const {
  ASSIGN_OR_RETURN(const auto rows, program_->Rows(key, document));
  if (rows.size() > kMaxIndexEntriesPerDocument) return Unexpected(TooManyEntries(key));
  std::vector<std::string> entries;
  entries.reserve(rows.size());
  for (const std::vector<json::Value>& row : rows) {
    CHECK(row.size() == definition_.parts.size());
    std::string& entry = entries.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      RETURN_IF_ERROR(json::AppendKeyPart(row[i], DirectionOf(definition_.parts[i]), &entry));
    }
  }
  return entries;
}

void Index::PutRows(ShardId shard, std::string_view key, const std::vector<std::string>& entries,
                    uint64_t expiry_ms, storage::Batch* batch) const {
  for (size_t i = 0; i < entries.size();) {
    IndexRowValue value{expiry_ms, 0};
    const size_t first = i;
    for (; i < entries.size() && entries[i] == entries[first]; ++i) ++value.copies;
    batch->Put(storage::Family::kIndex, RowKey(shard, entries[first], key), value.Encode());
  }
}

// --- rows ---------------------------------------------------------------------------------------

bool Index::IsExclusive(std::string_view entry) const {
  if (!definition_.unique || !definition_.many_nulls) return definition_.unique;
  for (const IndexPart& part : definition_.parts) {
    const auto value = json::TakeKeyPart(&entry, DirectionOf(part));
    if (!value || value->is_null() || value->is_missing()) return false;
  }
  return true;
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

std::string IndexRowValue::Encode() const {
  std::string stored;
  if (expiry_ms != 0 || copies != 1) AppendVarint(&stored, expiry_ms);
  if (copies != 1) AppendVarint(&stored, copies);
  return stored;
}

Result<IndexRowValue> IndexRowValue::Decode(std::string_view stored) {
  IndexRowValue value;
  if (stored.empty()) return value;
  ByteReader reader(stored);
  value.expiry_ms = reader.Varint();
  if (reader.ok() && !reader.AtEnd()) {
    value.copies = reader.Varint();
    if (value.copies < 2 || value.copies > kMaxIndexEntriesPerDocument) value.copies = 0;
  }
  if (!reader.ok() || !reader.AtEnd() || value.copies == 0) {
    return Fail(Code::kCorruption, "index.corrupt", "a row of an index is malformed");
  }
  return value;
}

}  // namespace sluice::db
