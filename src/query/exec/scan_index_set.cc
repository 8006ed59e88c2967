// Documents through several indexes: those that any of them finds, or those that all of them do.
//
// Any: scan after scan, each document once. All: the keys of the first scan, then those of them
// that the next scan also finds, and so on; only the documents of the remaining keys are read.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "query/exec/fetch.h"
#include "query/exec/scans.h"

namespace sluice::query {
namespace {

// Memory of one key in a set, about, besides its bytes.
constexpr size_t kKeyBytes = 64;

// The document keys of one index's ranges; a key may repeat.
class KeyCursor {
 public:
  void Open(Context& context, const IndexScanOptions& scan) {
    scan_ = &scan;
    ranges_ = RangesOf(context, scan.span, scan.index->definition());
    range_ = 0;
    cursor_ = nullptr;
  }
  bool Next(Context& context) {
    while (context.Tick()) {
      if (cursor_ == nullptr) {
        if (range_ >= ranges_.size()) return false;
        cursor_ = context.reader().ScanIndex(*scan_->index, ranges_[range_++]);
      }
      if (cursor_->Next()) return true;
      if (!cursor_->status().ok()) context.Fail(cursor_->status());
      cursor_ = nullptr;
    }
    return false;
  }
  std::string_view key() const { return cursor_->key(); }

 private:
  const IndexScanOptions* scan_ = nullptr;
  std::vector<db::IndexRange> ranges_;
  size_t range_ = 0;
  std::unique_ptr<db::IndexCursor> cursor_;
};

class KeySource {
 public:
  virtual ~KeySource() = default;
  virtual void Open(Context& context) = 0;
  // False at the end.
  virtual bool Next(Context& context, std::string* key) = 0;
};

class UnionKeys final : public KeySource {
 public:
  explicit UnionKeys(const std::vector<IndexScanOptions>& scans) : scans_(scans) {}

  void Open(Context& context) override {
    context.Release(charged_);
    charged_ = 0;
    seen_.clear();
    scan_ = 0;
    cursor_.Open(context, scans_[0]);
  }
  bool Next(Context& context, std::string* key) override {
    for (;;) {
      while (cursor_.Next(context)) {
        *key = cursor_.key();
        if (!seen_.insert(*key).second) continue;
        const size_t bytes = key->size() + kKeyBytes;
        charged_ += bytes;
        return context.Charge(bytes);
      }
      if (context.failed() || scan_ + 1 >= scans_.size()) return false;
      cursor_.Open(context, scans_[++scan_]);
    }
  }

 private:
  const std::vector<IndexScanOptions>& scans_;
  size_t scan_ = 0;
  KeyCursor cursor_;
  std::unordered_set<std::string> seen_;
  size_t charged_ = 0;
};

class IntersectKeys final : public KeySource {
 public:
  explicit IntersectKeys(const std::vector<IndexScanOptions>& scans) : scans_(scans) {}

  void Open(Context& context) override {
    context.Release(charged_);
    charged_ = 0;
    keys_.clear();
    position_ = 0;
    // How many of the scans so far have found a key.
    std::unordered_map<std::string, size_t> found;
    for (size_t i = 0; i < scans_.size(); ++i) {
      if (!AddScan(context, i, &found)) return;
    }
    for (auto& [key, scans] : found) {
      if (scans == scans_.size()) keys_.push_back(key);
    }
    std::ranges::sort(keys_);
  }
  bool Next(Context& context, std::string* key) override {
    if (context.failed() || position_ >= keys_.size()) return false;
    *key = std::move(keys_[position_++]);
    return true;
  }

 private:
  bool AddScan(Context& context, size_t number, std::unordered_map<std::string, size_t>* found) {
    KeyCursor cursor;
    cursor.Open(context, scans_[number]);
    while (cursor.Next(context)) {
      if (number > 0) {
        const auto known = found->find(std::string(cursor.key()));
        if (known != found->end() && known->second == number) known->second = number + 1;
        continue;
      }
      if (!found->emplace(cursor.key(), 1).second) continue;
      const size_t bytes = 2 * cursor.key().size() + kKeyBytes;
      charged_ += bytes;
      if (!context.Charge(bytes)) return false;
    }
    return !context.failed();
  }

  const std::vector<IndexScanOptions>& scans_;
  std::vector<std::string> keys_;
  size_t position_ = 0;
  size_t charged_ = 0;
};

class IndexSet final : public PlanNode {
 public:
  explicit IndexSet(IndexSetOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    Value scans = Value::EmptyArray();
    for (const IndexScanOptions& scan : options_.scans) {
      scans.Append(Explained("IndexScan", {{"index", Value(scan.index->definition().name)},
                                           {"spans", Value(scan.text)}}));
    }
    return Explained(options_.intersect ? "IntersectScan" : "UnionScan",
                     {{"keyspace", Value(options_.target.name)},
                      {"as", Value(options_.target.alias)},
                      {"filtered", options_.filter != nullptr ? Value(true) : Value()},
                      {"scans", std::move(scans)}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const IndexSetOptions& options) : options_(options), fetcher_(options.target) {
      if (options.intersect) {
        keys_ = std::make_unique<IntersectKeys>(options.scans);
      } else {
        keys_ = std::make_unique<UnionKeys>(options.scans);
      }
    }

    void Open(Context& context) override {
      keys_->Open(context);
      fetcher_.Open();
    }

    bool Next(Context& context) override {
      for (;;) {
        while (fetcher_.Next(context)) {
          if (options_.filter == nullptr || options_.filter->IsTrue(context)) {
            return !context.failed();
          }
        }
        if (context.failed()) return false;
        std::string key;
        while (!fetcher_.full() && keys_->Next(context, &key)) fetcher_.Add(key);
        if (context.failed() || !fetcher_.Fetch(context)) return false;
      }
    }

   private:
    const IndexSetOptions& options_;
    Fetcher fetcher_;
    std::unique_ptr<KeySource> keys_;
  };

  const IndexSetOptions options_;
};

}  // namespace

PlanPtr MakeIndexSet(IndexSetOptions options) {
  return std::make_unique<IndexSet>(std::move(options));
}

}  // namespace sluice::query
