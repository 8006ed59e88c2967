// Reading: constants, slots, paths, META(), fields, elements.
#include "query/exec/expr_access.h"

#include <utility>

#include "json/parse.h"
#include "json/path.h"
#include "query/functions/comparison.h"
#include "query/functions/field_names.h"

namespace sluice::query {
namespace {

class LiteralExpr final : public Expr {
 public:
  explicit LiteralExpr(Value value) : value_(std::move(value)) {}
  const Value& Eval(Context&, Value&) const override { return value_; }
  const Value* constant() const override { return &value_; }

 private:
  const Value value_;
};

class SlotExpr final : public Expr {
 public:
  explicit SlotExpr(Slot slot) : slot_(slot) {}
  const Value& Eval(Context& context, Value&) const override { return context.slot(slot_); }

 private:
  const Slot slot_;
};

class ParameterExpr final : public Expr {
 public:
  explicit ParameterExpr(size_t index) : index_(index) {}
  const Value& Eval(Context& context, Value&) const override { return context.parameter(index_); }

 private:
  const size_t index_;
};

class DocumentExpr final : public Expr {
 public:
  DocumentExpr(size_t source, GroupNumber group, Slot slot)
      : source_(source), group_(group), slot_(slot) {}
  const Value& Eval(Context& context, Value&) const override {
    context.Load(source_, group_);
    return context.slot(slot_);
  }

 private:
  const size_t source_;
  const GroupNumber group_;
  const Slot slot_;
};

Value MetaField(const SourceRow& row, std::string_view field, const std::string& keyspace) {
  if (!row.present) return Value();
  if (field == "id") return Value(row.key);
  if (field == "cas") return Value::Unsigned(row.meta.cas);
  if (field == "expiration") return Value(static_cast<int64_t>(row.meta.expiry_ms / 1000));
  if (field == "flags") return Value(row.meta.flags);
  if (field == "type") return Value(row.meta.datatype == db::Datatype::kJson ? "json" : "base64");
  if (field == "keyspace") return Value(keyspace);
  if (field == "xattrs") {
    auto parsed = row.meta.xattrs.empty() ? Value::EmptyObject() : json::Parse(row.meta.xattrs);
    return parsed ? std::move(*parsed) : Value(nullptr);
  }
  return Value();
}

class MetaExpr final : public Expr {
 public:
  MetaExpr(size_t source, std::string field, std::string keyspace)
      : source_(source), field_(std::move(field)), keyspace_(std::move(keyspace)) {}

  const Value& Eval(Context& context, Value& scratch) const override {
    const SourceRow& row = context.source(source_);
    scratch = field_.empty() ? All(row) : MetaField(row, field_, keyspace_);
    return scratch;
  }

 private:
  Value All(const SourceRow& row) const {
    if (!row.present) return Value();
    Value meta = Value::EmptyObject();
    for (const char* field : {"id", "cas", "expiration", "flags", "type", "keyspace"}) {
      meta.Set(field, MetaField(row, field, keyspace_));
    }
    if (!row.meta.xattrs.empty()) meta.Set("xattrs", MetaField(row, "xattrs", keyspace_));
    return meta;
  }

  const size_t source_;
  const std::string field_;
  const std::string keyspace_;
};

// Hands on a part of a value: by reference if the whole lives elsewhere, else by a copy.
const Value& PartOf(const Value& whole, const Value& part, Value& scratch) {
  if (&whole != &scratch) return part;
  Value copy = part;
  scratch = std::move(copy);
  return scratch;
}

class FieldExpr final : public Expr {
 public:
  FieldExpr(ExprPtr base, std::string name) : base_(std::move(base)), name_(std::move(name)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    const Value& base = base_->Eval(context, scratch);
    return PartOf(base, base[name_], scratch);
  }

 private:
  const ExprPtr base_;
  const std::string name_;
};

class AnyCaseFieldExpr final : public Expr {
 public:
  AnyCaseFieldExpr(ExprPtr base, std::string name)
      : base_(std::move(base)), name_(std::move(name)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    const Value& base = base_->Eval(context, scratch);
    return PartOf(base, FindIgnoringCase(base, name_), scratch);
  }

 private:
  const ExprPtr base_;
  const std::string name_;
};

class FieldOfExpr final : public Expr {
 public:
  FieldOfExpr(ExprPtr base, ExprPtr name) : base_(std::move(base)), name_(std::move(name)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    Value name_scratch;
    const Value& base = base_->Eval(context, scratch);
    const Value& name = name_->Eval(context, name_scratch);
    if (name.is_string()) return PartOf(base, base[name.AsString()], scratch);
    const bool missing = name.is_missing() || base.is_missing();
    scratch = missing ? Value() : Value(nullptr);
    return scratch;
  }

 private:
  const ExprPtr base_;
  const ExprPtr name_;
};

class ElementExpr final : public Expr {
 public:
  ElementExpr(ExprPtr base, ExprPtr index) : base_(std::move(base)), index_(std::move(index)) {}
  const Value& Eval(Context& context, Value& scratch) const override {
    Value index_scratch;
    const Value& base = base_->Eval(context, scratch);
    const Value& index = index_->Eval(context, index_scratch);
    if (index.is_number()) {
      const double number = index.ToDouble();
      if (number == static_cast<double>(static_cast<int64_t>(number))) {
        const auto position = static_cast<int64_t>(number);
        return PartOf(base, base[json::ResolveIndex(position, base.size())], scratch);
      }
    } else if (index.is_string() && base.is_object()) {
      return PartOf(base, base[index.AsString()], scratch);
    }
    const bool missing = index.is_missing() || base.is_missing();
    scratch = missing ? Value() : Value(nullptr);
    return scratch;
  }

 private:
  const ExprPtr base_;
  const ExprPtr index_;
};

}  // namespace

bool Expr::IsTrue(Context& context) const {
  Value scratch;
  return Truth(Eval(context, scratch));
}

ExprPtr MakeLiteral(Value value) { return std::make_unique<LiteralExpr>(std::move(value)); }
ExprPtr MakeSlot(Slot slot) { return std::make_unique<SlotExpr>(slot); }
ExprPtr MakeParameter(size_t index) { return std::make_unique<ParameterExpr>(index); }
ExprPtr MakeDocumentSlot(size_t source, GroupNumber group, Slot slot) {
  return std::make_unique<DocumentExpr>(source, group, slot);
}
ExprPtr MakeMeta(size_t source, std::string field, std::string keyspace) {
  return std::make_unique<MetaExpr>(source, std::move(field), std::move(keyspace));
}
ExprPtr MakeField(ExprPtr base, std::string name) {
  return std::make_unique<FieldExpr>(std::move(base), std::move(name));
}
ExprPtr MakeAnyCaseField(ExprPtr base, std::string name) {
  return std::make_unique<AnyCaseFieldExpr>(std::move(base), std::move(name));
}
ExprPtr MakeFieldOf(ExprPtr base, ExprPtr name) {
  return std::make_unique<FieldOfExpr>(std::move(base), std::move(name));
}
ExprPtr MakeElement(ExprPtr base, ExprPtr index) {
  return std::make_unique<ElementExpr>(std::move(base), std::move(index));
}

}  // namespace sluice::query
