// A transaction's reads: its snapshot, with its own writes over it.
//
// Own writes are kept as sorted, immutable lists, made again when a scan is opened after a write:
// documents by key, and for each index the rows that they will have there. The merge returns a row
// of the snapshot only if the transaction did not write its document.
#include <algorithm>
#include <map>
#include <utility>

#include "db/checked_indexes.h"
#include "db/failed_cursor.h"
#include "db/reader.h"
#include "db/stored_cursor.h"
#include "db/transaction.h"

namespace sluice::db {
namespace {

struct OwnDocument {
  std::string key;
  std::shared_ptr<const Document> document;  // null: deleted, or expired by now
};
using OwnDocuments = std::vector<OwnDocument>;  // by key

struct OwnRow {
  std::string place;  // as StoredIndexCursor::place
  size_t parts_bytes = 0;
  size_t key_bytes = 0;

  std::string_view parts() const { return std::string_view(place).substr(0, parts_bytes); }
  std::string_view key() const { return std::string_view(place).substr(parts_bytes, key_bytes); }
};
using OwnRows = std::vector<OwnRow>;  // by place

// The part of a sorted list that lies in [from, to), walked in either direction.
template <typename Item>
class Walk {
 public:
  template <typename Range>
  Walk(const std::vector<Item>& list, std::string Item::*order, const Range& range)
      : list_(list), reverse_(range.reverse) {
    const auto position = [&](const std::string& bound) {
      return static_cast<size_t>(std::ranges::lower_bound(list, bound, {}, order) - list.begin());
    };
    begin_ = position(range.from);
    end_ = range.to.empty() ? list.size() : std::max(begin_, position(range.to));
  }
  bool Valid() const { return begin_ < end_; }
  const Item& operator*() const { return list_[reverse_ ? end_ - 1 : begin_]; }
  const Item* operator->() const { return &**this; }
  void Next() { reverse_ ? --end_ : ++begin_; }
  bool Before(std::string_view one, std::string_view other) const {
    return reverse_ ? one > other : one < other;
  }

 private:
  const std::vector<Item>& list_;
  const bool reverse_;
  size_t begin_;
  size_t end_;
};

// Documents that the transaction wrote are not read from the snapshot.
DocumentRange Below(DocumentRange range, std::shared_ptr<const OwnDocuments> own) {
  range.on_unreadable = [own = std::move(own), rest = std::move(range.on_unreadable)](
                            std::string_view key, const Status& why) {
    return std::ranges::binary_search(*own, key, {}, &OwnDocument::key) || (rest && rest(key, why));
  };
  return range;
}

class OverlaidDocumentCursor final : public DocumentCursor {
 public:
  OverlaidDocumentCursor(const Database& database, KeyspaceId keyspace, const DocumentRange& range,
                         const DatabaseSnapshot& snapshot, std::shared_ptr<const OwnDocuments> own)
      : stored_(database, keyspace, Below(range, own), &snapshot),
        own_(std::move(own)),
        walk_(*own_, &OwnDocument::key, range) {}

  bool Next() override {
    if (!current_own_) stored_valid_ = stored_.Next();
    current_own_ = nullptr;
    while (walk_.Valid()) {
      if (stored_valid_ && walk_.Before(stored_.key(), walk_->key)) return true;
      if (!stored_valid_ && !stored_.status().ok()) return false;
      const bool replaces = stored_valid_ && stored_.key() == walk_->key;
      const OwnDocument& own = *walk_;
      walk_.Next();
      if (replaces) stored_valid_ = stored_.Next();
      if (own.document == nullptr) continue;
      current_own_ = &own;
      own_view_ = DocumentView::Of(*own.document);
      return true;
    }
    return stored_valid_;
  }
  std::string_view key() const override {
    return current_own_ != nullptr ? std::string_view(current_own_->key) : stored_.key();
  }
  const DocumentView& document() const override {
    return current_own_ != nullptr ? own_view_ : stored_.document();
  }
  Status status() const override { return stored_.status(); }

 private:
  StoredDocumentCursor stored_;
  const std::shared_ptr<const OwnDocuments> own_;
  Walk<OwnDocument> walk_;
  bool stored_valid_ = false;  // stored_ is on a document that was not given yet
  const OwnDocument* current_own_ = nullptr;
  DocumentView own_view_;
};

class OverlaidIndexCursor final : public IndexCursor {
 public:
  OverlaidIndexCursor(const Database& database, const Index& index, const IndexRange& range,
                      const DatabaseSnapshot& snapshot, std::shared_ptr<const OwnDocuments> written,
                      std::shared_ptr<const OwnRows> own)
      : stored_(database, index, range, &snapshot),
        written_(std::move(written)),
        own_(std::move(own)),
        walk_(*own_, &OwnRow::place, range) {}

  bool Next() override {
    if (current_own_ == nullptr) NextStored();
    current_own_ = nullptr;
    if (!walk_.Valid() || (!stored_valid_ && !stored_.status().ok()) ||
        (stored_valid_ && !walk_.Before(walk_->place, stored_.place()))) {
      return stored_valid_;
    }
    current_own_ = &*walk_;
    walk_.Next();
    return true;
  }
  std::string_view parts() const override {
    return current_own_ != nullptr ? current_own_->parts() : stored_.parts();
  }
  std::string_view key() const override {
    return current_own_ != nullptr ? current_own_->key() : stored_.key();
  }
  Status status() const override { return stored_.status(); }

 private:
  void NextStored() {
    do {
      stored_valid_ = stored_.Next();
    } while (stored_valid_ && !written_->empty() &&
             std::ranges::binary_search(*written_, stored_.key(), {}, &OwnDocument::key));
  }

  StoredIndexCursor stored_;
  const std::shared_ptr<const OwnDocuments> written_;
  const std::shared_ptr<const OwnRows> own_;
  Walk<OwnRow> walk_;
  bool stored_valid_ = false;  // stored_ is on a row that was not given yet
  const OwnRow* current_own_ = nullptr;
};

}  // namespace

class TransactionReader final : public Reader {
 public:
  explicit TransactionReader(Transaction& transaction)
      : transaction_(transaction), checked_(transaction.database_, transaction.snapshot()) {}

  Result<bool> Get(KeyspaceId keyspace, std::string_view key, PinnedDocument* document) override {
    return transaction_.Get(keyspace, key, document);
  }
  Status GetMany(KeyspaceId keyspace, std::span<const std::string_view> keys,
                 std::vector<PinnedDocument>* documents, std::vector<bool>* found) override;
  std::unique_ptr<DocumentCursor> Scan(KeyspaceId keyspace, const DocumentRange& range) override;
  std::unique_ptr<IndexCursor> ScanIndex(const Index& index, const IndexRange& range) override;

 private:
  void Refresh();
  std::shared_ptr<const OwnDocuments> Documents(KeyspaceId keyspace);
  Result<std::shared_ptr<const OwnRows>> Rows(const Index& index);

  Transaction& transaction_;
  CheckedIndexes checked_;
  uint64_t changes_ = 0;  // of the transaction, when the lists were made
  std::map<KeyspaceId, std::shared_ptr<const OwnDocuments>> documents_;
  std::map<IndexId, std::shared_ptr<const OwnRows>> rows_;
};

Status TransactionReader::GetMany(KeyspaceId keyspace, std::span<const std::string_view> keys,
                                  std::vector<PinnedDocument>* documents,
                                  std::vector<bool>* found) {
  Transaction& in = transaction_;
  for (std::string_view key : keys) RETURN_IF_ERROR(in.Join(keyspace, key));
  RETURN_IF_ERROR(in.database_.GetRows(keyspace, keys, documents, found, &in.snapshot()));
  const auto policy = in.database_.read_forms().PolicyOf(keyspace, &in.snapshot());
  for (size_t i = 0; i < keys.size(); ++i) {
    PinnedDocument& document = (*documents)[i];
    Transaction::Where where(keyspace, keys[i]);
    if (const auto own = in.writes_.find(where); own != in.writes_.end()) {
      (*found)[i] = in.Live(own->second);
      if (!(*found)[i]) continue;
      in.Stamp(own->second);
      document.Hold(own->second);
      continue;
    }
    in.reads_[std::move(where)] = (*found)[i] ? document->sequence : 0;
    if ((*found)[i]) (*found)[i] = document->LiveAt(in.snapshot().time_ms());
    if (policy == nullptr) continue;
    if ((*found)[i]) {
      RETURN_IF_ERROR(
          in.database_.read_forms().PutInReadForm(*policy, keyspace, keys[i], &document));
    } else {
      ASSIGN_OR_RETURN((*found)[i], in.database_.revisions().GetByKey(*policy, keyspace, keys[i],
                                                                      &document, &in.snapshot()));
    }
  }
  return OkStatus();
}

std::unique_ptr<DocumentCursor> TransactionReader::Scan(KeyspaceId keyspace,
                                                        const DocumentRange& range) {
  if (Status joined = transaction_.JoinRange(keyspace, range.from, range.to); !joined.ok()) {
    return std::make_unique<FailedDocumentCursor>(std::move(joined));
  }
  return std::make_unique<OverlaidDocumentCursor>(transaction_.database_, keyspace, range,
                                                  transaction_.snapshot(), Documents(keyspace));
}

std::unique_ptr<IndexCursor> TransactionReader::ScanIndex(const Index& index,
                                                          const IndexRange& range) {
  Status ready = checked_.Check(index);
  if (ready.ok()) ready = transaction_.JoinRange(index.keyspace(), {}, {});
  if (!ready.ok()) return std::make_unique<FailedIndexCursor>(std::move(ready));
  Result<std::shared_ptr<const OwnRows>> own = Rows(index);
  if (!own) return std::make_unique<FailedIndexCursor>(std::move(own).error());
  return std::make_unique<OverlaidIndexCursor>(transaction_.database_, index, range,
                                               transaction_.snapshot(), Documents(index.keyspace()),
                                               std::move(*own));
}

void TransactionReader::Refresh() {
  if (changes_ == transaction_.changes_) return;
  changes_ = transaction_.changes_;
  documents_.clear();
  rows_.clear();
}

std::shared_ptr<const OwnDocuments> TransactionReader::Documents(KeyspaceId keyspace) {
  Refresh();
  std::shared_ptr<const OwnDocuments>& known = documents_[keyspace];
  if (known != nullptr) return known;
  transaction_.StampAll();
  auto made = std::make_shared<OwnDocuments>();
  const auto& writes = transaction_.writes_;
  for (auto own = writes.lower_bound({keyspace, ""});
       own != writes.end() && own->first.first == keyspace; ++own) {
    made->push_back({own->first.second, transaction_.Live(own->second) ? own->second : nullptr});
  }
  known = std::move(made);
  return known;
}

Result<std::shared_ptr<const OwnRows>> TransactionReader::Rows(const Index& index) {
  const std::shared_ptr<const OwnDocuments> documents = Documents(index.keyspace());
  std::shared_ptr<const OwnRows>& known = rows_[index.id()];
  if (known != nullptr) return known;
  auto made = std::make_shared<OwnRows>();
  for (const OwnDocument& own : *documents) {
    if (own.document == nullptr) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> entries,
                     index.Entries(own.key, DocumentView::Of(*own.document)));
    for (const std::string& parts : entries) {
      made->push_back({IndexPlace(parts, own.key), parts.size(), own.key.size()});
    }
  }
  std::ranges::sort(*made, {}, &OwnRow::place);
  known = std::move(made);
  return known;
}

std::unique_ptr<Reader> NewTransactionReader(Transaction& transaction) {
  return std::make_unique<TransactionReader>(transaction);
}

}  // namespace sluice::db
