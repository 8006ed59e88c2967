// All rows are computed first and written at the end. Until then the reader shows the table before
// the statement. Above it, this class keeps the statement's changes: rows by their keys, and the
// owner of each entry of a unique index. So a row also meets the rows before it.
#include "query/exec/table_conflicts.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "query/exec/mutator.h"

namespace sluice::query {
namespace {

// Memory of a row that waits to be written, about, besides its bytes.
constexpr size_t kConflictBytes = 256;

std::string_view ActionName(OnConflict action) {
  static constexpr std::string_view kNames[] = {"nothing", "update", "replace"};
  return kNames[static_cast<size_t>(action)];
}

class ConflictInsert final : public PlanNode {
 public:
  explicit ConflictInsert(ConflictOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    Value keys = Value::EmptyArray();
    for (const auto& index : options_.keys) keys.Append(Value(index->definition().name));
    return Explained(options_.insert->name(),
                     {{"keyspace", Value(options_.target.name)},
                      {"on_conflict", Value(ActionName(options_.action))},
                      {"keys", std::move(keys)},
                      {"returning", options_.returning != nullptr ? Value(true) : Value()}},
                     options_.input.get());
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const ConflictOptions& options)
        : options_(options), input_(options.input->Start()) {}

    void Open(Context& context) override {
      input_->Open(context);
      ran_ = false;
    }

    bool Next(Context& context) override {
      if (!std::exchange(ran_, true)) {
        while (input_->Next(context)) Take(context);
        if (!context.failed()) WriteAll(context);
      }
      if (results_.empty() || context.failed()) return false;
      context.slot(options_.slot) = std::move(results_.front());
      results_.pop_front();
      return true;
    }

   private:
    struct Pending {
      db::Write write;
      bool counts = true;    // a row that makes room for another one does not
      bool dropped = false;  // taken back by a later row of the statement
    };
    using Entry = std::pair<size_t, std::string>;  // the number of a key, and parts
    // A row as the statement leaves it.
    struct OwnRow {
      std::optional<db::Document> document;  // none: deleted
      std::vector<Entry> entries;            // in owners_
      std::optional<size_t> inserted;        // by which of pending_
    };

    void Take(Context& context) {
      std::optional<db::Write> write = options_.insert->Make(context);
      if (!write || context.failed()) return;
      if (!MeetsChecks(context, options_.target, options_.checks, *write)) return;
      const std::vector<std::string> others = Conflicts(context, *write);
      if (context.failed()) return;
      if (others.empty() || options_.action == OnConflict::kReplace) {
        for (const std::string& key : others) Remove(context, key);
        Add(context, std::move(*write), pending_.size());
      } else if (options_.action == OnConflict::kUpdate) {
        Update(context, others[0], *write);
      }
    }

    // The keys of rows with the same unique keys, each once.
    std::vector<std::string> Conflicts(Context& context, const db::Write& write) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < options_.keys.size(); ++i) {
        for (const std::string& parts : EntriesOf(context, i, write)) {
          if (!options_.keys[i]->IsExclusive(parts)) continue;
          std::optional<std::string> key = OwnerOf(context, i, parts);
          if (key && std::ranges::find(keys, *key) == keys.end()) keys.push_back(std::move(*key));
        }
      }
      return keys;
    }

    std::vector<std::string> EntriesOf(Context& context, size_t number, const db::Write& write) {
      auto entries =
          options_.keys[number]->Entries(write.key, db::DocumentView::Of(write.document));
      if (entries) return std::move(*entries);
      context.Fail(TableError(entries.error()));
      return {};
    }

    std::optional<std::string> OwnerOf(Context& context, size_t number, const std::string& parts) {
      const auto own = owners_.find({number, parts});
      if (own != owners_.end()) return own->second;
      const auto stored =
          context.reader().ScanIndex(*options_.keys[number], {.from = parts, .to = ""});
      while (stored->Next() && stored->parts() == parts) {
        if (!rows_.contains(std::string(stored->key()))) return std::string(stored->key());
      }
      if (!stored->status().ok()) context.Fail(stored->status());
      return std::nullopt;
    }

    // Adds the new state of a row; `inserted` is its number in pending_ if the statement has
    // inserted it.
    void Add(Context& context, db::Write write, std::optional<size_t> inserted) {
      OwnRow& row = rows_[write.key];
      Forget(row);
      row.document = write.document;
      if (inserted) row.inserted = inserted;
      for (size_t i = 0; i < options_.keys.size(); ++i) {
        for (const std::string& parts : EntriesOf(context, i, write)) {
          owners_[{i, parts}] = write.key;
          row.entries.emplace_back(i, parts);
        }
      }
      context.Charge(kConflictBytes + 2 * write.document.body.size());
      pending_.push_back({.write = std::move(write)});
    }

    void Forget(OwnRow& row) {
      for (const Entry& entry : row.entries) owners_.erase(entry);
      row.entries.clear();
    }

    void Remove(Context& context, const std::string& key) {
      OwnRow& row = rows_[key];
      Forget(row);
      row.document.reset();
      if (row.inserted) {
        pending_[*row.inserted].dropped = true;
        return;
      }
      db::Write write;
      write.keyspace = options_.target.keyspace;
      write.key = key;
      write.kind = db::Write::Kind::kDelete;
      write.precondition = db::Precondition::CasIs(0);  // marks that the row exists
      context.Charge(kConflictBytes);
      pending_.push_back({.write = std::move(write), .counts = false});
    }

    void Update(Context& context, const std::string& key, const db::Write& excluded) {
      db::PinnedDocument stored;
      const auto own = rows_.find(key);
      db::Document before;
      db::DocumentView view;
      if (own != rows_.end()) {
        before = *own->second.document;
        view = db::DocumentView::Of(before);
      } else {
        const auto found = context.reader().Get(options_.target.keyspace, key, &stored);
        if (!found) return context.Fail(found.error());
        view = stored.view();
      }
      context.SetDocument(options_.target.source, key, view);
      context.SetDocument(options_.excluded.source, excluded.key,
                          db::DocumentView::Of(excluded.document));
      if (options_.where != nullptr && !options_.where->IsTrue(context)) return;
      std::optional<db::Write> write = options_.update->Make(context);
      if (!write || context.failed()) return;
      if (!MeetsChecks(context, options_.target, options_.checks, *write)) return;
      Add(context, std::move(*write), std::nullopt);
    }

    void WriteAll(Context& context) {
      std::erase_if(pending_, [](const Pending& pending) { return pending.dropped; });
      Mutator& mutator = *context.options().mutator;
      std::vector<db::Write> writes;
      for (Pending& pending : pending_) {
        writes.push_back(options_.returning == nullptr ? std::move(pending.write)
                                                       : CopyOf(pending.write));
      }
      const std::vector<WriteOutcome> outcomes = mutator.Apply(std::move(writes));
      if (!FitsMemory(context)) return;
      for (size_t i = 0; i < pending_.size(); ++i) {
        if (!outcomes[i].status.ok()) return context.Fail(TableError(outcomes[i].status));
        if (!pending_[i].counts) continue;
        mutator.Count();
        Return(context, pending_[i].write, outcomes[i].cas);
      }
    }

    void Return(Context& context, db::Write& write, db::Cas cas) {
      if (options_.returning == nullptr) return;
      write.document.cas = cas;
      context.SetDocument(options_.target.source, write.key, db::DocumentView::Of(write.document));
      results_.push_back(options_.returning->Get(context));
    }

    const ConflictOptions& options_;
    std::unique_ptr<Operator> input_;
    bool ran_ = true;
    std::vector<Pending> pending_;
    std::map<std::string, OwnRow> rows_;   // by key
    std::map<Entry, std::string> owners_;  // keys of rows
    std::deque<Value> results_;
  };

  const ConflictOptions options_;
};

}  // namespace

PlanPtr MakeConflictInsert(ConflictOptions options) {
  return std::make_unique<ConflictInsert>(std::move(options));
}

}  // namespace sluice::query
