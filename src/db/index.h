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
#include "storage/store.h"

namespace sluice::db {

class IndexCompiler;
class IndexProgram;

inline constexpr size_t kMaxIndexParts = 16;
inline constexpr size_t kMaxIndexEntryBytes = 8 << 10;
inline constexpr size_t kMaxIndexEntriesPerDocument = 10'000;
inline constexpr size_t kMaxIndexTextBytes = 64 << 10;  // of all expressions of a definition

// The name in SQL++ of an index without a name and without parts.
inline constexpr std::string_view kPrimaryIndexName = "#primary";

// Either a path, which this module reads itself, or an expression, which an IndexCompiler reads.
struct IndexPart {
  std::string path;           // as json::Path reads it; `META().id` is the document's key
  bool each_element = false;  // one row for each element of an array
  bool descending = false;
  std::string expression = {};   // SQL++; of an array part its whole text, `DISTINCT ARRAY ... END`
  bool distinct = true;          // of an array part: equal elements make one row (else one each)
  bool include_missing = false;  // of the first part: documents without it are indexed, too

  bool operator==(const IndexPart&) const = default;
};

struct IndexDefinition {
  std::string name;
  std::vector<IndexPart> parts;
  std::string where = {};   // SQL++ condition of the indexed documents; empty: all are indexed
  bool primary = false;     // without parts and rows: it stands for the documents in key order
  bool unique = false;      // no two documents have the same parts; of tables only
  bool many_nulls = false;  // of a unique one: entries with a NULL are never equal

  // Whether it is made of paths alone.
  bool PathsOnly() const;
  bool operator==(const IndexDefinition&) const = default;
};

// A document is indexed unless its first part is MISSING.
class Index {
 public:
  enum class State : uint8_t {
    kBuilding,  // writes maintain it, and older documents are being added
    kReady,
    kDeferred,  // made without rows; waits for Database::BuildIndex
    kInvalid,   // its text can't be compiled: writes do not maintain it
  };

  // Error index.unsupported for a definition with SQL++ text when there is no compiler.
  static Result<Index> Make(IndexId id, KeyspaceId keyspace, IndexDefinition definition,
                            State state, const IndexCompiler* compiler = nullptr);
  // An index that is stored and can't be compiled.
  static Index Invalid(IndexId id, KeyspaceId keyspace, IndexDefinition definition, Status problem);
  Index WithState(State state) const;

  IndexId id() const { return id_; }
  KeyspaceId keyspace() const { return keyspace_; }
  const IndexDefinition& definition() const { return definition_; }
  State state() const { return state_; }
  const Status& problem() const { return problem_; }  // of kInvalid
  // Whether writes maintain its rows.
  bool kept() const {
    return !definition_.primary && (state_ == State::kBuilding || state_ == State::kReady);
  }
  // OK when it can be read; else index.building (also for a deferred one), index.unusable.
  Status CheckReady() const;

  // The document's rows: encoded parts, sorted. Repeated only if the definition says so. Binary
  // documents have none.
  Result<std::vector<std::string>> Entries(std::string_view key,
                                           const DocumentView& document) const;

  // Whether no other document may have this entry.
  bool IsExclusive(std::string_view entry) const;

  // Keys of the index family.
  std::string RowKey(ShardId shard, std::string_view parts, std::string_view key) const;
  std::string Prefix(ShardId shard) const;

  // Adds the rows of a document's entries to the batch.
  void PutRows(ShardId shard, std::string_view key, const std::vector<std::string>& entries,
               uint64_t expiry_ms, storage::Batch* batch) const;

 private:
  Result<std::vector<std::string>> PathEntries(std::string_view key,
                                               const DocumentView& document) const;
  Result<std::vector<std::string>> ProgramEntries(std::string_view key,
                                                  const DocumentView& document) const;
  Status TooManyEntries(std::string_view key) const;

  IndexId id_ = 0;
  KeyspaceId keyspace_ = 0;
  IndexDefinition definition_;
  State state_ = State::kBuilding;
  Status problem_;
  bool repeats_ = false;  // equal elements make a row each
  // Reads the parts that are in the document, in their order; the other parts are the key.
  std::shared_ptr<const json::Extractor> extractor_;
  std::shared_ptr<const IndexProgram> program_;  // null: it has only paths
};

std::string_view IndexStateName(Index::State state);

// A row contains the time when its document expires, so that an index scan need not read the
// document, and how often the document has the row.
struct IndexRowValue {
  uint64_t expiry_ms = 0;
  uint64_t copies = 1;

  std::string Encode() const;
  static Result<IndexRowValue> Decode(std::string_view stored);
};

// The part of a row key after the prefix. It orders the rows of an index.
std::string IndexPlace(std::string_view parts, std::string_view key);
// Splits it into encoded parts and document key.
struct IndexRow {
  std::string_view parts;
  std::string_view key;
};
Result<IndexRow> DecodeIndexRow(std::string_view place);

}  // namespace sluice::db
