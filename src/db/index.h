// Secondary indexes: sorted rows (index id, encoded parts, document key) kept in the same commit as
// the document (docs/formats/indexes.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/document.h"
#include "db/types.h"
#include "json/extract.h"

namespace sluice::db {

inline constexpr size_t kMaxIndexParts = 16;
inline constexpr size_t kMaxIndexEntryBytes = 8 << 10;
inline constexpr size_t kMaxIndexEntriesPerDocument = 10'000;

struct IndexPart {
  std::string path;           // as json::Path reads it; `META().id` is the document's key
  bool each_element = false;  // one entry for each element of the array found at the path
  bool descending = false;

  bool operator==(const IndexPart&) const = default;
};

struct IndexDefinition {
  std::string name;
  std::vector<IndexPart> parts;
};

// A document is indexed unless its first part is MISSING.
class Index {
 public:
  enum class State : uint8_t { kBuilding, kReady };

  static Result<Index> Make(IndexId id, KeyspaceId keyspace, IndexDefinition definition,
                            State state);

  IndexId id() const { return id_; }
  KeyspaceId keyspace() const { return keyspace_; }
  const IndexDefinition& definition() const { return definition_; }
  State state() const { return state_; }

  // The document's rows: encoded parts, sorted, without repetitions. Binary documents have none.
  Result<std::vector<std::string>> Entries(std::string_view key,
                                           const DocumentView& document) const;

  // Keys of the index family.
  std::string RowKey(ShardId shard, std::string_view parts, std::string_view key) const;
  std::string Prefix(ShardId shard) const;

 private:
  IndexId id_ = 0;
  KeyspaceId keyspace_ = 0;
  IndexDefinition definition_;
  State state_ = State::kBuilding;
  // Finds the parts that lie in the document, in their order; the others are the key.
  std::shared_ptr<const json::Extractor> extractor_;
};

// A row says when its document expires, so that an index scan need not read the document.
std::string IndexRowValue(uint64_t expiry_ms);
Result<uint64_t> DecodeIndexRowValue(std::string_view value);

// What follows the prefix of a row key: it orders the rows of an index.
std::string IndexPlace(std::string_view parts, std::string_view key);
// Splits it into encoded parts and document key.
struct IndexRow {
  std::string_view parts;
  std::string_view key;
};
Result<IndexRow> DecodeIndexRow(std::string_view place);

}  // namespace sluice::db
