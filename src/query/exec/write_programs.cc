#include <utility>

#include "db/types.h"
#include "json/print.h"
#include "query/exec/writes.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

// The text of a new document; false, and the run has failed, when it can't be one.
bool SetBody(Context& context, const Value& value, db::Write* write) {
  if (!FitsLimits(value, json::kMaxDepth)) {
    context.Fail(QueryError(QueryCode::kTooLarge,
                            "the document '{}' would have more than {} levels "
                            "or be too large",
                            write->key, json::kMaxDepth));
    return false;
  }
  write->document.body = json::ToText(value);
  return true;
}

// OPTIONS {"expiration": n}; false when the run has failed.
bool ReadOptions(Context& context, const Expr* options, db::Write* write) {
  if (options == nullptr) return true;
  const Value value = options->Get(context);
  if (value.is_missing() || value.is_null()) return true;
  if (!value.is_object()) {
    context.Fail(QueryError(QueryCode::kBadOptions, "OPTIONS takes an object, got a {}",
                            json::TypeName(value.type())));
    return false;
  }
  const Value& expiration = value["expiration"];
  if (expiration.is_missing()) return true;
  const auto expiry = ExpiryOf(context, expiration);
  if (!expiry) return false;
  write->document.expiry_ms = *expiry;
  write->keep_expiry = false;  // an expiry in the statement overrides preserve_expiry
  return true;
}

class InsertProgram final : public WriteProgram {
 public:
  explicit InsertProgram(InsertParts parts) : parts_(std::move(parts)) {}
  std::string_view name() const override { return parts_.upsert ? "Upsert" : "Insert"; }

  std::optional<db::Write> Make(Context& context) const override {
    const Value key = parts_.key->Get(context);
    if (!key.is_string()) {
      context.Fail(QueryError(QueryCode::kBadKey, "the key of a document is a string, got a {}",
                              json::TypeName(key.type())));
      return std::nullopt;
    }
    if (const Status status = db::CheckKey(key.AsString()); !status.ok()) {
      context.Fail(QueryError(QueryCode::kBadKey, "{}", status.message()));
      return std::nullopt;
    }
    const Value value = parts_.value->Get(context);
    if (value.is_missing()) {
      context.Fail(
          QueryError(QueryCode::kBadKey, "the document '{}' has no value", key.AsString()));
      return std::nullopt;
    }
    db::Write write;
    write.keyspace = parts_.target.keyspace;
    write.key = key.AsString();
    if (!SetBody(context, value, &write)) return std::nullopt;
    write.precondition = parts_.upsert ? db::Precondition::None() : db::Precondition::Absent();
    write.keep_expiry = parts_.upsert && context.options().preserve_expiry;
    write.keep_xattrs = parts_.upsert;
    if (!ReadOptions(context, parts_.options.get(), &write)) return std::nullopt;
    return write;
  }

 private:
  const InsertParts parts_;
};

db::Write WriteOver(const SourceTarget& target, const SourceRow& row) {
  db::Write write;
  write.keyspace = target.keyspace;
  write.key = row.key;
  write.precondition = db::Precondition::CasIs(row.meta.cas);
  return write;
}

class UpdateWriteProgram final : public WriteProgram {
 public:
  explicit UpdateWriteProgram(UpdateParts parts)
      : target_(std::move(parts.target)),
        document_(std::move(parts.document)),
        program_(std::move(parts.assignments)) {}
  std::string_view name() const override { return "Update"; }

  std::optional<db::Write> Make(Context& context) const override {
    const SourceRow& row = context.source(target_.source);
    if (row.meta.datatype != db::Datatype::kJson) {
      context.Fail(QueryError(QueryCode::kDmlFailed, "the document '{}' is binary", row.key));
      return std::nullopt;
    }
    const UpdateResult result = program_.Apply(context, document_->Get(context));
    if (context.failed()) return std::nullopt;
    db::Write write = WriteOver(target_, row);
    if (!SetBody(context, result.document, &write)) return std::nullopt;
    write.document.flags = row.meta.flags;
    write.document.xattrs = row.meta.xattrs;
    if (result.expiry_ms) {
      write.document.expiry_ms = *result.expiry_ms;
    } else if (context.options().preserve_expiry) {
      write.document.expiry_ms = row.meta.expiry_ms;
    }
    return write;
  }

 private:
  const SourceTarget target_;
  const ExprPtr document_;
  const UpdateProgram program_;
};

class DeleteProgram final : public WriteProgram {
 public:
  explicit DeleteProgram(SourceTarget target) : target_(std::move(target)) {}
  std::string_view name() const override { return "Delete"; }
  std::optional<db::Write> Make(Context& context) const override {
    db::Write write = WriteOver(target_, context.source(target_.source));
    write.kind = db::Write::Kind::kDelete;
    return write;
  }

 private:
  const SourceTarget target_;
};

class MergeProgram final : public WriteProgram {
 public:
  explicit MergeProgram(MergeParts parts) : parts_(std::move(parts)) {}
  std::string_view name() const override { return "Merge"; }

  std::optional<db::Write> Make(Context& context) const override {
    const auto holds = [&](const ExprPtr& where) {
      return where == nullptr || where->IsTrue(context);
    };
    if (!context.source(parts_.target.source).present) {
      if (parts_.insert == nullptr || !holds(parts_.insert_where)) return std::nullopt;
      return parts_.insert->Make(context);
    }
    if (parts_.update != nullptr && holds(parts_.update_where)) {
      return parts_.update->Make(context);
    }
    if (parts_.remove != nullptr && holds(parts_.remove_where)) {
      return parts_.remove->Make(context);
    }
    return std::nullopt;
  }

 private:
  const MergeParts parts_;
};

class Values final : public PlanNode {
 public:
  Values(std::vector<ValuesRow> rows, Slot key, Slot value, Slot options)
      : rows_(std::move(rows)), slots_{key, value, options} {}
  std::unique_ptr<Operator> Start() const override { return std::make_unique<Run>(*this); }
  Value Explain() const override {
    return Explained("ValueScan", {{"rows", Value(static_cast<int64_t>(rows_.size()))}});
  }

 private:
  class Run final : public Operator {
   public:
    explicit Run(const Values& values) : values_(values) {}
    void Open(Context&) override { position_ = 0; }
    bool Next(Context& context) override {
      if (position_ >= values_.rows_.size() || !context.Tick()) return false;
      const ValuesRow& row = values_.rows_[position_++];
      context.slot(values_.slots_[0]) = row.key == nullptr ? Value() : row.key->Get(context);
      context.slot(values_.slots_[1]) = row.value->Get(context);
      context.slot(values_.slots_[2]) =
          row.options == nullptr ? Value() : row.options->Get(context);
      return !context.failed();
    }

   private:
    const Values& values_;
    size_t position_ = 0;
  };

  const std::vector<ValuesRow> rows_;
  const Slot slots_[3];
};

}  // namespace

std::unique_ptr<WriteProgram> MakeInsertProgram(InsertParts parts) {
  return std::make_unique<InsertProgram>(std::move(parts));
}
std::unique_ptr<WriteProgram> MakeUpdateProgram(UpdateParts parts) {
  return std::make_unique<UpdateWriteProgram>(std::move(parts));
}
std::unique_ptr<WriteProgram> MakeDeleteProgram(SourceTarget target) {
  return std::make_unique<DeleteProgram>(std::move(target));
}
std::unique_ptr<WriteProgram> MakeMergeProgram(MergeParts parts) {
  return std::make_unique<MergeProgram>(std::move(parts));
}
PlanPtr MakeValues(std::vector<ValuesRow> rows, Slot key, Slot value, Slot options) {
  return std::make_unique<Values>(std::move(rows), key, value, options);
}

}  // namespace sluice::query
