#include <mutex>
#include <optional>
#include <utility>

#include "db/checked_indexes.h"
#include "db/failed_cursor.h"
#include "db/reader.h"
#include "db/stored_cursor.h"

namespace sluice::db {
namespace {

class SnapshotReader final : public Reader {
 public:
  SnapshotReader(const Database& database, std::shared_ptr<const DatabaseSnapshot> snapshot)
      : database_(database), snapshot_(std::move(snapshot)), checked_(database, *snapshot_) {}

  Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) override {
    return database_.Get(keyspace, key, document, snapshot_.get());
  }

  Status GetMany(KeyspaceId keyspace, std::span<const std::string_view> keys,
                 std::vector<PinnedDocument>* documents, std::vector<bool>* found) override {
    RETURN_IF_ERROR(database_.GetRows(keyspace, keys, documents, found, snapshot_.get()));
    const auto policy = database_.read_forms().PolicyOf(keyspace, snapshot_.get());
    for (size_t i = 0; i < keys.size(); ++i) {
      PinnedDocument& document = (*documents)[i];
      if ((*found)[i]) (*found)[i] = document->LiveAt(snapshot_->time_ms());
      if (policy == nullptr) continue;
      if ((*found)[i]) {
        RETURN_IF_ERROR(
            database_.read_forms().PutInReadForm(*policy, keyspace, keys[i], &document));
      } else {
        ASSIGN_OR_RETURN((*found)[i], database_.revisions().GetByKey(*policy, keyspace, keys[i],
                                                                     &document, snapshot_.get()));
      }
    }
    return OkStatus();
  }

  std::unique_ptr<DocumentCursor> Scan(KeyspaceId keyspace, const DocumentRange& range) override {
    return std::make_unique<StoredDocumentCursor>(database_, keyspace, range, snapshot_.get());
  }

  std::unique_ptr<IndexCursor> ScanIndex(const Index& index, const IndexRange& range) override {
    if (Status checked = checked_.Check(index); !checked.ok()) {
      return std::make_unique<FailedIndexCursor>(std::move(checked));
    }
    return std::make_unique<StoredIndexCursor>(database_, index, range, snapshot_.get());
  }

 private:
  const Database& database_;
  const std::shared_ptr<const DatabaseSnapshot> snapshot_;
  CheckedIndexes checked_;
};

class LateReader final : public Reader {
 public:
  explicit LateReader(const Database& database) : database_(database) {}

  Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) override {
    return Now().Get(keyspace, key, document);
  }
  Result<bool> GetOnly(KeyspaceId keyspace, std::string_view key,
                       PinnedDocument* document) override {
    return database_.Get(keyspace, key, document);
  }
  Status GetMany(KeyspaceId keyspace, std::span<const std::string_view> keys,
                 std::vector<PinnedDocument>* documents, std::vector<bool>* found) override {
    return Now().GetMany(keyspace, keys, documents, found);
  }
  std::unique_ptr<DocumentCursor> Scan(KeyspaceId keyspace, const DocumentRange& range) override {
    return Now().Scan(keyspace, range);
  }
  std::unique_ptr<IndexCursor> ScanIndex(const Index& index, const IndexRange& range) override {
    return Now().ScanIndex(index, range);
  }

 private:
  SnapshotReader& Now() {
    std::call_once(first_read_, [&] { reader_.emplace(database_, database_.NewSnapshot()); });
    return *reader_;
  }

  const Database& database_;
  std::once_flag first_read_;
  std::optional<SnapshotReader> reader_;
};

}  // namespace

std::unique_ptr<Reader> NewSnapshotReader(const Database& database) {
  return NewSnapshotReader(database, database.NewSnapshot());
}

std::unique_ptr<Reader> NewSnapshotReader(const Database& database,
                                          std::shared_ptr<const DatabaseSnapshot> snapshot) {
  return std::make_unique<SnapshotReader>(database, std::move(snapshot));
}

std::unique_ptr<Reader> NewLateReader(const Database& database) {
  return std::make_unique<LateReader>(database);
}

}  // namespace sluice::db
