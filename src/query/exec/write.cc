// Rows are collected into a batch, written together, and then passed on one by one. A batch ends at
// a number of rows or bytes. The input is read from a snapshot (or from the transaction's writes at
// the time its cursor was made), so a statement never sees its own writes.
#include <deque>
#include <set>
#include <utility>

#include "db/conflict_retry.h"
#include "query/exec/mutator.h"
#include "query/exec/writes.h"

namespace sluice::query {
namespace {

constexpr size_t kBatchRows = 1000;
constexpr size_t kBatchBytes = 8 << 20;

// A row that waits to be written.
// Memory of a key in a set, about, besides its bytes.
constexpr size_t kKeyBytes = 64;

struct Pending {
  db::Write write;
  std::vector<Value> row;  // as RowKeeper keeps it
  int attempts = 0;
};

class Write final : public PlanNode {
 public:
  explicit Write(WriteOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    return Explained(options_.program->name(),
                     {{"keyspace", Value(options_.target.name)},
                      {"returning", options_.returning != nullptr ? Value(true) : Value()}},
                     options_.input.get());
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const WriteOptions& options)
        : options_(options),
          input_(options.input->Start()),
          keeper_(*options.layout, options.variables) {}

    void Open(Context& context) override {
      input_->Open(context);
      at_end_ = false;
    }

    bool Next(Context& context) override {
      while (results_.empty()) {
        if (at_end_ || context.failed()) return false;
        std::vector<Pending> batch = ReadBatch(context);
        WriteBatch(context, std::move(batch));
      }
      context.slot(options_.slot) = std::move(results_.front());
      results_.pop_front();
      return true;
    }

   private:
    std::vector<Pending> ReadBatch(Context& context) {
      std::vector<Pending> batch;
      size_t bytes = 0;
      while (batch.size() < kBatchRows && bytes < kBatchBytes) {
        if (!input_->Next(context)) {
          at_end_ = true;
          break;
        }
        Pending pending;
        if (!MakeWrite(context, &pending)) continue;
        pending.row.resize(keeper_.width());
        keeper_.Save(context, pending.row.data());
        bytes += pending.write.document.body.size() + pending.row.size() * sizeof(Value);
        batch.push_back(std::move(pending));
      }
      // After a failure the collected rows are not written.
      if (context.failed()) batch.clear();
      return batch;
    }

    bool MakeWrite(Context& context, Pending* pending) {
      std::optional<db::Write> write = options_.program->Make(context);
      if (!write || context.failed()) return false;
      if (options_.each_once && !CheckOnce(context, *write)) return false;
      if (!MeetsChecks(context, options_.target, options_.checks, *write)) return false;
      pending->write = std::move(*write);
      return true;
    }

    bool CheckOnce(Context& context, const db::Write& write) {
      if (written_.insert(write.key).second) return context.Charge(kKeyBytes + write.key.size());
      const bool insert = write.precondition.kind == db::Precondition::Kind::kAbsent;
      context.Fail(QueryError(insert ? QueryCode::kMergeTwiceInsert : QueryCode::kMergeTwiceUpdate,
                              "MERGE would {} the document '{}' twice",
                              insert ? "insert" : "update or delete", write.key));
      return false;
    }

    void WriteBatch(Context& context, std::vector<Pending> batch) {
      Mutator& mutator = *context.options().mutator;
      while (!batch.empty() && !context.failed()) {
        std::vector<db::Write> writes;
        for (Pending& pending : batch) writes.push_back(CopyOf(pending.write));
        const std::vector<WriteOutcome> outcomes = mutator.Apply(std::move(writes));
        if (!FitsMemory(context)) return;
        std::vector<Pending> again;
        for (size_t i = 0; i < batch.size(); ++i) {
          if (outcomes[i].status.ok()) {
            Written(context, batch[i], outcomes[i]);
          } else if (outcomes[i].status.id() == "commit.too_large") {
            return context.Fail(TableError(outcomes[i].status));
          } else if (CanRetry(mutator, outcomes[i].status, batch[i])) {
            if (ReadAgain(context, &batch[i])) again.push_back(std::move(batch[i]));
          } else {
            Report(mutator, batch[i].write, outcomes[i].status);
          }
        }
        batch = std::move(again);
      }
    }

    void Written(Context& context, Pending& pending, const WriteOutcome& outcome) {
      if (!outcome.violation.ok()) {
        const std::string why(outcome.violation.message());
        context.Warn(QueryCode::kDmlFailed,
                     outcome.diverted_to.empty()
                         ? "stored all the same: " + why
                         : fmt::format("stored as {} instead: {}", outcome.diverted_to, why));
      }
      if (!outcome.diverted_to.empty()) return;
      context.options().mutator->Count();
      Return(context, pending, outcome.cas);
    }

    bool CanRetry(const Mutator& mutator, const Status& status, Pending& pending) const {
      return !mutator.in_transaction() && options_.recheck != nullptr &&
             pending.write.precondition.kind == db::Precondition::Kind::kCas &&
             (status.code() == Code::kConflict || status.code() == Code::kNotFound) &&
             ++pending.attempts < db::ConflictRetry::kMostAttempts;
    }

    // Somebody changed the document: is it still one that the statement is about?
    bool ReadAgain(Context& context, Pending* pending) {
      keeper_.Restore(context, pending->row.data());
      const std::string key = pending->write.key;
      db::Database& database = context.options().mutator->database();
      auto fresh = database.Get(options_.target.keyspace, key);
      if (!fresh) {
        context.Fail(fresh.error());
        return false;
      }
      if (!fresh->has_value()) return false;
      const db::Document& document = **fresh;
      context.SetDocument(options_.target.source, key, db::DocumentView::Of(document));
      for (const SlotAssignment& let : options_.lets) {
        context.slot(let.slot) = let.value->Get(context);
      }
      if (!options_.recheck->IsTrue(context)) return false;
      written_.erase(key);
      if (!MakeWrite(context, pending)) return false;
      keeper_.Save(context, pending->row.data());
      return true;
    }

    void Return(Context& context, Pending& pending, db::Cas cas) {
      if (options_.returning == nullptr) return;
      keeper_.Restore(context, pending.row.data());
      if (pending.write.precondition.kind == db::Precondition::Kind::kAbsent) {
        options_.not_of_inserted.Clear(context);
      }
      // For a delete the kept row has the old document.
      if (pending.write.kind != db::Write::Kind::kDelete) {
        db::Document& document = pending.write.document;
        document.cas = cas;
        Mutator& mutator = *context.options().mutator;
        // Its type may have changed the document, and it may have kept its expiry; if somebody else
        // has changed it since, it is not known how.
        if (!mutator.in_transaction() &&
            (pending.write.keep_expiry || mutator.database().read_forms().PolicyOf(
                                              pending.write.keyspace, nullptr) != nullptr)) {
          auto stored = mutator.database().Get(pending.write.keyspace, pending.write.key);
          if (stored && *stored && (*stored)->cas == cas) document = std::move(**stored);
        }
        context.SetDocument(options_.target.source, pending.write.key,
                            db::DocumentView::Of(document));
      }
      results_.push_back(options_.returning->Get(context));
    }

    static void Report(Mutator& mutator, const db::Write& write, const Status& status) {
      const bool duplicate = status.code() == Code::kAlreadyExists ||
                             write.precondition.kind == db::Precondition::Kind::kAbsent;
      if (duplicate &&
          (status.code() == Code::kAlreadyExists || status.code() == Code::kConflict)) {
        mutator.AddError(
            WriteError(QueryCode::kDuplicateKey, fmt::format("Duplicate Key: {}", write.key)));
      } else if (status.code() == Code::kConflict) {
        mutator.AddError(
            WriteError(QueryCode::kCasMismatch,
                       fmt::format("CAS mismatch: '{}' was changed by somebody else", write.key)));
      } else if (status.code() == Code::kNotFound) {
        mutator.AddError(
            WriteError(QueryCode::kKeyNotFound, fmt::format("Key not found: {}", write.key)));
      } else {
        const bool named = status.message().starts_with("document '");  // as types do
        mutator.AddError(named ? status : status.Prefixed(fmt::format("document '{}'", write.key)));
      }
    }

    const WriteOptions& options_;
    std::unique_ptr<Operator> input_;
    const RowKeeper keeper_;
    bool at_end_ = true;
    std::deque<Value> results_;
    std::set<std::string> written_;
  };

  const WriteOptions options_;
};

}  // namespace

bool MeetsChecks(Context& context, const SourceTarget& target, const std::vector<RowCheck>& checks,
                 const db::Write& write) {
  if (checks.empty() || write.kind == db::Write::Kind::kDelete) return true;
  context.SetDocument(target.source, write.key, db::DocumentView::Of(write.document));
  for (const RowCheck& check : checks) {
    const Value holds = check.condition->Get(context);
    const bool fails =
        (holds.is_bool() && !holds.AsBool()) || (holds.is_number() && holds.ToDouble() == 0);
    if (!fails) continue;
    context.Fail(QueryError(QueryCode::kCheckConstraint,
                            "a row of '{}' does not meet the constraint '{}'", target.alias,
                            check.name));
  }
  return !context.failed();
}

bool FitsMemory(Context& context) {
  const size_t limit = context.options().memory->limit();
  if (context.options().mutator->transaction_bytes() <= limit) return true;
  context.Fail(QueryError(QueryCode::kMemoryQuota,
                          "the transaction's writes take more than the memory limit of {} MiB: "
                          "commit earlier",
                          limit >> 20));
  return false;
}

db::Write CopyOf(const db::Write& write) {
  db::Write copy;
  copy.keyspace = write.keyspace;
  copy.key = write.key;
  copy.kind = write.kind;
  copy.document = write.document;
  copy.precondition = write.precondition;
  copy.keep_expiry = write.keep_expiry;
  copy.keep_xattrs = write.keep_xattrs;
  return copy;
}

PlanPtr MakeWrite(WriteOptions options) { return std::make_unique<Write>(std::move(options)); }

}  // namespace sluice::query
