// Documents by the keys that an expression gives.
#include <algorithm>
#include <utility>

#include "json/compare.h"
#include "query/exec/fetch.h"
#include "query/exec/lookup_cache.h"
#include "query/exec/mutator.h"
#include "query/exec/scans.h"

namespace sluice::query {
namespace {

class KeyScan final : public PlanNode {
 public:
  explicit KeyScan(KeyScanOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    return Explained("KeyScan", {{"keyspace", Value(options_.target.name)},
                                 {"as", Value(options_.target.alias)},
                                 {"filtered", options_.filter != nullptr ? Value(true) : Value()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const KeyScanOptions& options) : options_(options), fetcher_(options.target) {}

    void Open(Context& context) override {
      keys_ = options_.keys->Get(context);
      position_ = 0;
      missing_.clear();
      fetcher_.Open();
      kept_ = nullptr;
      to_keep_ = false;
      // Opened again: the inner side of a join.
      if (std::exchange(opened_, true) && cache_ == nullptr && MayKeep(context)) {
        cache_ = std::make_unique<LookupCache>(context.layout(), options_.target.source);
      }
    }

    bool Next(Context& context) override {
      for (;;) {
        while (NextDocument(context)) {
          if (options_.filter == nullptr || options_.filter->IsTrue(context)) return true;
        }
        if (context.failed() || !FillNext(context)) return false;
      }
    }

   private:
    bool MayKeep(Context& context) const {
      const Mutator* mutator = context.options().mutator;
      return !options_.validate && (mutator == nullptr || !mutator->in_transaction());
    }

    bool NextDocument(Context& context) {
      if (kept_ != nullptr) {
        cache_->Restore(context, *std::exchange(kept_, nullptr));
        return context.Tick();
      }
      const bool found = fetcher_.Next(context, options_.validate ? &missing_ : nullptr);
      if (std::exchange(to_keep_, false) && !context.failed()) {
        cache_->Keep(context, keys_.AsString(), found);
      }
      return found;
    }

    // The document of a single key: kept from an earlier row, or to be read.
    bool FillOne(Context& context, std::string_view key) {
      if (cache_ != nullptr && keys_.is_string()) {
        if (const LookupCache::Kept* kept = cache_->Find(key)) {
          if (kept->row != nullptr) kept_ = kept;
          return kept_ != nullptr;
        }
        to_keep_ = true;
      }
      fetcher_.FetchOne(context, key, context.options().one_source);
      return true;
    }

    // Keys in the given order; a key that is not a string is skipped with a warning.
    bool FillNext(Context& context) {
      const size_t count = keys_.is_array() ? keys_.size() : keys_.is_string() ? 1 : 0;
      if (count == 0 && !keys_.is_array() && !keys_.is_missing() && !keys_.is_null()) {
        NonString(context, keys_);
      }
      if (count == 1 && position_ == 0) {
        const Value& key = keys_.is_array() ? keys_[0] : keys_;
        ++position_;
        if (key.is_string()) return FillOne(context, key.AsString());
        NonString(context, key);
      }
      while (position_ < count && !fetcher_.full()) {
        const Value& key = keys_[position_++];
        if (key.is_string()) {
          fetcher_.Add(key.AsString());
        } else {
          NonString(context, key);
        }
      }
      if (fetcher_.Fetch(context)) return true;
      ReportMissing(context);
      return false;
    }

    static void NonString(Context& context, const Value& key) {
      context.Warn(QueryCode::kNonStringKey,
                   fmt::format("a document key must be a string, got a {}: skipped",
                               json::TypeName(key.type())));
    }

    void ReportMissing(Context& context) {
      if (missing_.empty()) return;
      context.Warn(QueryCode::kMissingKeys,
                   fmt::format("no document has the key '{}'{}", missing_[0],
                               missing_.size() == 1
                                   ? std::string()
                                   : fmt::format(" (nor have {} others)", missing_.size() - 1)));
      missing_.clear();
    }

    const KeyScanOptions& options_;
    Fetcher fetcher_;
    Value keys_;
    size_t position_ = 0;
    std::vector<std::string> missing_;
    bool opened_ = false;
    std::unique_ptr<LookupCache> cache_;
    const LookupCache::Kept* kept_ = nullptr;  // the document to give next
    bool to_keep_ = false;  // whether the document that is read goes into the cache
  };

  const KeyScanOptions options_;
};

class KeySetExpr final : public Expr {
 public:
  KeySetExpr(ExprPtr value, bool single) : value_(std::move(value)), single_(single) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    const Value& value = value_->Eval(context, scratch);
    if (single_) {
      if (!value.is_string()) scratch = Value();
      return value.is_string() ? value : scratch;
    }
    std::vector<Value> keys;
    for (const Value& item : value.items()) {
      if (item.is_string()) keys.push_back(item);
    }
    std::ranges::sort(keys, json::ValueLess());
    const auto repeated = std::ranges::unique(keys);
    keys.erase(repeated.begin(), repeated.end());
    scratch = Value::Array(std::move(keys));
    return scratch;
  }

 private:
  const ExprPtr value_;
  const bool single_;
};

}  // namespace

ExprPtr MakeKeySet(ExprPtr value, bool single) {
  return std::make_unique<KeySetExpr>(std::move(value), single);
}

PlanPtr MakeKeyScan(KeyScanOptions options) {
  return std::make_unique<KeyScan>(std::move(options));
}

}  // namespace sluice::query
