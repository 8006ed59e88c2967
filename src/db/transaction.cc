#include "db/transaction.h"

namespace sluice::db {

Transaction::Transaction(Database& database)
    : database_(database), snapshot_(database.NewSnapshot()) {}

Status Transaction::Join(KeyspaceId keyspace, std::string_view key) {
  RETURN_IF_ERROR(CheckKey(key));
  const ShardId shard = database_.ShardOf(keyspace, key);
  if (shard_.value_or(shard) != shard) {
    return Error(Code::kInvalidArgument, "transaction.cross_shard",
                 "document '{}' is in another shard than the rest of this transaction", key);
  }
  shard_ = shard;
  return OkStatus();
}

Result<std::optional<Document>> Transaction::Get(KeyspaceId keyspace, std::string_view key) {
  RETURN_IF_ERROR(Join(keyspace, key));
  const Where where(keyspace, key);
  if (const auto own = writes_.find(where); own != writes_.end()) return own->second;
  PinnedDocument document;
  ASSIGN_OR_RETURN(const bool found, database_.GetRow(keyspace, key, &document, snapshot_.get()));
  reads_[where] = found ? document->sequence : 0;
  if (!found || !document->LiveAt(database_.clock().WallMs())) return std::nullopt;
  return document->Copy();
}

Status Transaction::Scan(KeyspaceId keyspace, std::string_view from, std::string_view to,
                         const ScanVisitor& visitor) {
  if (database_.shard_count() != 1) {
    return Error(Code::kUnsupported, "transaction.cross_shard",
                 "a transaction can't scan a keyspace that is spread over several shards");
  }
  shard_ = 0;
  ranges_.push_back({keyspace, std::string(from), std::string(to), snapshot_->sequence(0)});
  auto own = writes_.lower_bound({keyspace, std::string(from)});
  const auto own_here = [&] {
    return own != writes_.end() && own->first.first == keyspace &&
           (to.empty() || own->first.second < to);
  };
  bool stopped = false;
  const auto give_own_before = [&](std::optional<std::string_view> limit) {
    for (; !stopped && own_here() && (!limit || own->first.second < *limit); ++own) {
      if (own->second && !visitor(own->first.second, DocumentView::Of(*own->second))) {
        stopped = true;
      }
    }
  };
  ScanOptions options;
  options.from = from;
  options.to = to;
  options.snapshot = snapshot_.get();
  const ScanVisitor merge = [&](std::string_view key, const DocumentView& document) {
    give_own_before(key);
    if (stopped) return false;
    if (own_here() && own->first.second == key) {
      const bool deleted = !own->second;
      stopped = !deleted && !visitor(key, DocumentView::Of(*own->second));
      ++own;
    } else {
      stopped = !visitor(key, document);
    }
    return !stopped;
  };
  RETURN_IF_ERROR(database_.Scan(keyspace, options, merge));
  if (!stopped) give_own_before(std::nullopt);
  return OkStatus();
}

void Transaction::Set(const Where& where, Pending pending) {
  const auto found = writes_.find(where);
  undo_.emplace_back(where,
                     found == writes_.end() ? std::nullopt : std::optional<Pending>(found->second));
  writes_.insert_or_assign(where, std::move(pending));
}

Result<Cas> Transaction::Put(KeyspaceId keyspace, std::string_view key, Document document) {
  RETURN_IF_ERROR(Join(keyspace, key));
  document.cas = database_.NewCas();
  const Cas cas = document.cas;
  Set({keyspace, std::string(key)}, std::move(document));
  return cas;
}

Result<Cas> Transaction::Insert(KeyspaceId keyspace, std::string_view key, Document document) {
  ASSIGN_OR_RETURN(const std::optional<Document> present, Get(keyspace, key));
  if (present) {
    return Fail(Code::kAlreadyExists, "document.exists", "document '{}' exists already", key);
  }
  return Put(keyspace, key, std::move(document));
}

Result<Cas> Transaction::Replace(KeyspaceId keyspace, std::string_view key, Document document) {
  ASSIGN_OR_RETURN(const std::optional<Document> present, Get(keyspace, key));
  if (!present) {
    return Fail(Code::kNotFound, "document.not_found", "there is no document '{}'", key);
  }
  return Put(keyspace, key, std::move(document));
}

Status Transaction::Delete(KeyspaceId keyspace, std::string_view key) {
  ASSIGN_OR_RETURN(const std::optional<Document> present, Get(keyspace, key));
  if (!present) {
    return Error(Code::kNotFound, "document.not_found", "there is no document '{}'", key);
  }
  Set({keyspace, std::string(key)}, std::nullopt);
  return OkStatus();
}

void Transaction::RollbackTo(size_t savepoint) {
  while (undo_.size() > savepoint) {
    auto& [where, replaced] = undo_.back();
    if (replaced) {
      writes_.insert_or_assign(where, std::move(*replaced));
    } else {
      writes_.erase(where);
    }
    undo_.pop_back();
  }
}

Commit Transaction::TakeCommit() {
  Commit commit;
  commit.shard = shard_.value_or(0);
  for (const auto& [where, sequence] : reads_) {
    commit.reads.push_back({where.first, where.second, sequence});
  }
  commit.ranges = std::move(ranges_);
  for (auto& [where, pending] : writes_) {
    commit.writes.push_back(pending ? PutWrite(where.first, where.second, std::move(*pending))
                                    : DeleteWrite(where.first, where.second));
  }
  reads_.clear();
  writes_.clear();
  undo_.clear();
  return commit;
}

CommitResult Transaction::Apply() { return database_.Apply(TakeCommit()); }

Result<CommitResult> RunTransaction(Database& database,
                                    const std::function<Status(Transaction&)>& body,
                                    TransactionOptions options) {
  Status last;
  for (int attempt = 0; attempt < options.max_attempts; ++attempt) {
    Transaction transaction(database);
    RETURN_IF_ERROR(body(transaction));
    CommitResult result = transaction.Apply();
    if (result.status.ok()) return result;
    if (result.status.code() != Code::kConflict) return Unexpected(result.status);
    last = result.status;
  }
  return Unexpected(
      last.Prefixed(fmt::format("the transaction met a conflict {} times", options.max_attempts)));
}

}  // namespace sluice::db
