// A keyspace from end to end, or a range of its keys.
#include <utility>

#include "db/reader.h"
#include "query/exec/scans.h"

namespace sluice::query {
namespace {

class KeyspaceScan final : public PlanNode {
 public:
  explicit KeyspaceScan(KeyspaceScanOptions options) : options_(std::move(options)) {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(options_); }
  std::optional<ScannedSource> Splittable() const override {
    if (options_.reverse || options_.from.value != nullptr || options_.to.value != nullptr) {
      return std::nullopt;
    }
    return ScannedSource{options_.target.source, options_.target.keyspace};
  }
  Value Explain() const override {
    const bool ranged = options_.from.value != nullptr || options_.to.value != nullptr;
    return Explained("PrimaryScan",
                     {{"keyspace", Value(options_.target.name)},
                      {"as", Value(options_.target.alias)},
                      {"range", ranged ? Value("META().id") : Value()},
                      {"reverse", options_.reverse ? Value(true) : Value()},
                      {"filtered", options_.filter != nullptr ? Value(true) : Value()}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const KeyspaceScanOptions& options) : options_(options) {}

    void Open(Context& context) override {
      cursor_ = nullptr;
      db::DocumentRange range{.from = "", .to = "", .reverse = options_.reverse};
      if (const ScanPart* part = context.PartOf(options_.target.source)) {
        range = {.from = part->from, .to = part->to, .part_of_all = true};
      } else if (!SetBounds(context, &range)) {
        return;
      }
      range.on_unreadable = [&context](std::string_view key, const Status& why) {
        return context.LeaveOut(key, why);
      };
      cursor_ = context.reader().Scan(options_.target.keyspace, range);
    }

    bool Next(Context& context) override {
      if (cursor_ == nullptr) return false;
      while (context.Tick() && cursor_->Next()) {
        context.SetDocument(options_.target.source, cursor_->key(), cursor_->document());
        if (options_.filter == nullptr || options_.filter->IsTrue(context))
          return !context.failed();
      }
      if (!cursor_->status().ok()) context.Fail(cursor_->status());
      return false;
    }

   private:
    // False when no key can be in the range. Keys are strings, so of other types only the order
    // among types counts: everything below a string is below all keys.
    bool SetBounds(Context& context, db::DocumentRange* range) const {
      Value scratch;
      if (options_.from.value != nullptr) {
        const Value& from = options_.from.value->Eval(context, scratch);
        if (from.is_missing() || from.is_null() || from.type() > json::Type::kString) return false;
        if (from.is_string()) {
          range->from = from.AsString();
          if (!options_.from.inclusive) range->from += '\0';
        }
      }
      if (options_.to.value != nullptr) {
        const Value& to = options_.to.value->Eval(context, scratch);
        if (to.is_missing() || to.is_null() || to.type() < json::Type::kString) return false;
        if (to.is_string()) {
          range->to = to.AsString();
          if (options_.to.inclusive) range->to += '\0';
          if (range->to.empty()) return false;
        }
      }
      return true;
    }

    const KeyspaceScanOptions& options_;
    std::unique_ptr<db::DocumentCursor> cursor_;
  };

  const KeyspaceScanOptions options_;
};

}  // namespace

PlanPtr MakeKeyspaceScan(KeyspaceScanOptions options) {
  return std::make_unique<KeyspaceScan>(std::move(options));
}

}  // namespace sluice::query
