// The table: rows in the order they came, and for each hash value the chain of rows that have it.
// Rows with a MISSING or NULL key equal nothing and are not kept.
#include <utility>

#include "json/compare.h"
#include "query/exec/joins.h"
#include "query/functions/comparison.h"

namespace sluice::query {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

class HashJoin final : public PlanNode {
 public:
  explicit HashJoin(HashJoinOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    return Explained("HashJoin", {{"on", Value(options_.text)},
                                  {"outer", options_.outer ? Value(true) : Value()},
                                  {"left", options_.left->Explain()},
                                  {"build", options_.right->Explain()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const HashJoinOptions& options)
        : options_(options),
          left_(options.left->Start()),
          right_(options.right->Start()),
          keeper_(*options.layout, options.right_variables),
          keys_(options.left_keys.size()),
          rows_(keys_.size() + keeper_.width()) {}

    void Open(Context& context) override {
      if (!std::exchange(built_, true) || !options_.once) Build(context);
      left_->Open(context);
      candidate_ = kNoRow;
      in_row_ = false;
    }

    bool Next(Context& context) override {
      for (;;) {
        if (!in_row_) {
          if (!left_->Next(context)) return false;
          StartRow(context);
        }
        while (candidate_ != kNoRow && context.Tick()) {
          const uint32_t row = candidate_;
          candidate_ = next_[row];
          if (!SameKeys(rows_[row])) continue;
          keeper_.Restore(context, rows_[row] + keys_.size());
          if (options_.condition != nullptr && !options_.condition->IsTrue(context)) continue;
          matched_ = true;
          return !context.failed();
        }
        in_row_ = false;
        if (context.failed()) return false;
        if (options_.outer && !matched_) {
          options_.right_variables.Clear(context);
          return true;
        }
      }
    }

   private:
    // The keys of the present row; false when one is unknown.
    bool ReadKeys(Context& context, const std::vector<ExprPtr>& exprs, Value* keys) const {
      for (size_t i = 0; i < exprs.size(); ++i) {
        keys[i] = exprs[i]->Get(context);
        if (keys[i].is_missing() || keys[i].is_null()) return false;
      }
      return true;
    }

    uint64_t HashOf(const Value* keys) const {
      uint64_t hash = 0;
      for (size_t i = 0; i < keys_.size(); ++i)
        hash = hash * 0x9E3779B97F4A7C15u + json::HashValue(keys[i]);
      return hash;
    }

    void Build(Context& context) {
      std::vector<uint64_t> hashes;
      std::vector<Value> keys(keys_.size());
      context.Release(std::exchange(charged_, 0));
      rows_.Clear();
      right_->Open(context);
      while (right_->Next(context)) {
        if (!ReadKeys(context, options_.right_keys, keys.data())) continue;
        hashes.push_back(HashOf(keys.data()));
        Value* row = rows_.Add();
        std::move(keys.begin(), keys.end(), row);
        keeper_.Save(context, row + keys.size());
        const size_t bytes = rows_.held_bytes(rows_.size() - 1) + 3 * sizeof(uint32_t);
        charged_ += bytes;
        if (!context.Charge(bytes)) return;
      }
      size_t buckets = 16;
      while (buckets < hashes.size() * 2) buckets *= 2;
      buckets_.assign(buckets, kNoRow);
      next_.assign(hashes.size(), kNoRow);
      // Backwards, so that each chain is in the order of the rows.
      for (size_t row = hashes.size(); row-- > 0;) {
        uint32_t& head = buckets_[hashes[row] & (buckets - 1)];
        next_[row] = head;
        head = static_cast<uint32_t>(row);
      }
    }

    void StartRow(Context& context) {
      in_row_ = true;
      matched_ = false;
      candidate_ = kNoRow;
      if (buckets_.empty() || !ReadKeys(context, options_.left_keys, keys_.data())) return;
      candidate_ = buckets_[HashOf(keys_.data()) & (buckets_.size() - 1)];
    }

    bool SameKeys(const Value* row) const {
      for (size_t i = 0; i < keys_.size(); ++i) {
        if (!Truth(CompareEq(keys_[i], row[i]))) return false;
      }
      return true;
    }

    const HashJoinOptions& options_;
    std::unique_ptr<Operator> left_;
    std::unique_ptr<Operator> right_;
    const RowKeeper keeper_;
    std::vector<Value> keys_;  // of the left row
    KeptRows rows_;            // keys, then the row
    std::vector<uint32_t> buckets_;
    std::vector<uint32_t> next_;
    size_t charged_ = 0;
    bool built_ = false;
    bool in_row_ = false;
    bool matched_ = false;
    uint32_t candidate_ = kNoRow;
  };

  const HashJoinOptions options_;
};

}  // namespace

PlanPtr MakeHashJoin(HashJoinOptions options) {
  return std::make_unique<HashJoin>(std::move(options));
}

}  // namespace sluice::query
