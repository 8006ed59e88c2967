// Documents through an index: the rows of its ranges, and the document of each row, unless the row
// itself has everything that the statement needs.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "json/key_encoding.h"
#include "query/exec/fetch.h"
#include "query/exec/scans.h"

namespace sluice::query {
namespace {

constexpr uint8_t kWholeRowLoaded = 3;
constexpr size_t kSeenBytes = 64;

class IndexScan final : public PlanNode {
 public:
  explicit IndexScan(IndexScanOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  Value Explain() const override {
    return Explained("IndexScan",
                     {{"index", Value(options_.index->definition().name)},
                      {"keyspace", Value(options_.target.name)},
                      {"as", Value(options_.target.alias)},
                      {"spans", Value(options_.text)},
                      {"covering", options_.covering ? Value(true) : Value()},
                      {"reverse", options_.reverse ? Value(true) : Value()},
                      {"filtered", options_.filter != nullptr ? Value(true) : Value()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const IndexScanOptions& options) : options_(options), fetcher_(options.target) {}

    void Open(Context& context) override {
      cursor_ = nullptr;
      ranges_ = RangesOf(context, options_.span, options_.index->definition());
      if (options_.reverse) std::ranges::reverse(ranges_);
      const bool exact = options_.has_scalar_filter && HasScalarValues(context, options_.span);
      filter_ = exact ? options_.scalar_filter.get() : options_.filter.get();
      range_ = 0;
      seen_.clear();
      fetcher_.Open();
    }

    bool Next(Context& context) override {
      while (options_.covering ? NextCovered(context) : NextFetched(context)) {
        if (filter_ == nullptr || filter_->IsTrue(context)) return !context.failed();
      }
      return false;
    }

   private:
    // The next row of the index that is not one more of a document that was there before.
    bool NextRow(Context& context) {
      while (context.Tick()) {
        if (cursor_ == nullptr) {
          if (range_ >= ranges_.size()) return false;
          db::IndexRange range = std::move(ranges_[range_++]);
          range.reverse = options_.reverse;
          cursor_ = context.reader().ScanIndex(*options_.index, range);
        }
        if (cursor_->Next()) {
          if (!options_.distinct) return true;
          if (seen_.insert(std::string(cursor_->key())).second) return context.Charge(kSeenBytes);
          continue;
        }
        if (!cursor_->status().ok()) context.Fail(cursor_->status());
        cursor_ = nullptr;
      }
      return false;
    }

    bool NextFetched(Context& context) {
      while (!fetcher_.Next(context)) {
        if (context.failed()) return false;
        while (!fetcher_.full() && NextRow(context)) fetcher_.Add(cursor_->key());
        if (context.failed() || !fetcher_.Fetch(context)) return false;
      }
      return true;
    }

    bool NextCovered(Context& context) {
      if (!NextRow(context)) return false;
      SourceRow& row = context.source(options_.target.source);
      row = SourceRow{};
      row.present = true;
      row.loaded = kWholeRowLoaded;
      row.key = cursor_->key();
      if (options_.covered.empty() || Decode(context)) return !context.failed();
      // Arrays and objects from an index are sorted; only the document has their original order.
      const std::string key(cursor_->key());
      auto found = context.reader().Get(options_.target.keyspace, key, &document_);
      if (!found) context.Fail(found.error());
      if (!found || !*found) return false;
      context.SetDocument(options_.target.source, cursor_->key(), document_.view());
      return true;
    }

    // Fills the slots from the row's parts. False when the document is needed after all.
    bool Decode(Context& context) {
      std::string_view parts = cursor_->parts();
      const auto& definition = options_.index->definition();
      size_t next = 0;
      for (size_t i = 0; i < definition.parts.size() && next < options_.covered.size(); ++i) {
        const auto direction = definition.parts[i].descending ? json::Direction::kDescending
                                                              : json::Direction::kAscending;
        auto value = json::TakeKeyPart(&parts, direction);
        if (!value) {
          context.Fail(value.error());
          return true;
        }
        if (options_.covered[next].part != i) continue;
        if (value->is_array() || value->is_object()) return false;
        for (const Slot slot : options_.covered[next].slots) context.slot(slot) = *value;
        ++next;
      }
      return true;
    }

    const IndexScanOptions& options_;
    Fetcher fetcher_;
    const Expr* filter_ = nullptr;
    std::vector<db::IndexRange> ranges_;
    size_t range_ = 0;
    std::unique_ptr<db::IndexCursor> cursor_;
    std::unordered_set<std::string> seen_;
    db::PinnedDocument document_;
  };

  const IndexScanOptions options_;
};

}  // namespace

PlanPtr MakeIndexScan(IndexScanOptions options) {
  return std::make_unique<IndexScan>(std::move(options));
}

}  // namespace sluice::query
