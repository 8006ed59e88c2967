// The program of an index: its parts and condition, evaluated over one document. Only functions
// that always give the same answer may be used: a document's old rows are found by computing them
// again.
#include "query/index_compiler.h"

#include <utility>

#include "base/clock.h"
#include "query/bind/walk.h"
#include "query/error.h"
#include "query/exec/compile.h"
#include "query/index_keys.h"

namespace sluice::query {
namespace {

constexpr size_t kProgramMemory = 64 << 20;

// Index expressions read nothing but their document.
class NoReader final : public db::Reader {
 public:
  Result<bool> Get(db::KeyspaceId, std::string_view, db::PinnedDocument*) override { return false; }
  Status GetMany(db::KeyspaceId, std::span<const std::string_view>,
                 std::vector<db::PinnedDocument>*, std::vector<bool>*) override {
    return OkStatus();
  }
  std::unique_ptr<db::DocumentCursor> Scan(db::KeyspaceId, const db::DocumentRange&) override {
    return nullptr;
  }
  std::unique_ptr<db::IndexCursor> ScanIndex(const db::Index&, const db::IndexRange&) override {
    return nullptr;
  }
};

// The fields of META() that change only with a write of the document.
bool IsIndexedMeta(std::string_view field) {
  return field == "id" || field == "cas" || field == "expiration";
}

Status CheckPure(ExpressionPtr& expression) {
  Status status;
  const Expression* part_of = nullptr;  // the META() whose part was just seen
  WalkDeep(expression, [&](ExpressionPtr& e) {
    const char* problem = nullptr;
    const ScalarFunction* function = e->kind == ExprKind::kCall ? FindFunction(e->name) : nullptr;
    if (e->kind == ExprKind::kSubquery) problem = "a subquery";
    if (e->kind == ExprKind::kParameter) problem = "a parameter";
    if (function != nullptr && function->volatility != Volatility::kPure) {
      problem = "a function whose answer changes";
    }
    if (const auto meta = AsMeta(*e); meta && e.get() != part_of) {
      if (!IsIndexedMeta(meta->field))
        problem = "parts of META() other than id, cas and expiration";
      if (e->kind == ExprKind::kField) part_of = e->args[0].get();
    }
    if (problem != nullptr && status.ok()) {
      status = AtPlace(QueryError(QueryCode::kInvalidIndex, "an index can't have {}", problem),
                       e->place);
    }
    return status.ok();
  });
  return status;
}

class Program final : public db::IndexProgram {
 public:
  Program(std::unique_ptr<Layout> layout, std::vector<ExprPtr> parts, ExprPtr where,
          std::vector<db::IndexPart> definition)
      : layout_(std::move(layout)),
        parts_(std::move(parts)),
        where_(std::move(where)),
        definition_(std::move(definition)) {}

  Result<std::vector<std::vector<Value>>> Rows(std::string_view key,
                                               const db::DocumentView& document) const override {
    NoReader reader;
    MemoryBudget memory(kProgramMemory);
    const SystemClock clock;
    RunOptions options;
    options.clock = &clock;
    options.memory = &memory;
    Context context(*layout_, reader, options);
    context.SetDocument(0, key, document);
    std::vector<std::vector<Value>> rows;
    if (where_ == nullptr || where_->IsTrue(context)) rows = Expand(context);
    if (context.failed()) return Unexpected(context.status());
    return rows;
  }

 private:
  std::vector<std::vector<Value>> Expand(Context& context) const {
    std::vector<std::vector<Value>> rows{{}};
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Value value = parts_[i]->Get(context);
      const bool each = definition_[i].each_element;
      const bool nothing = each ? value.size() == 0 || !value.is_array() : value.is_missing();
      if (i == 0 && nothing && !definition_[i].include_missing) return {};
      std::vector<std::vector<Value>> longer;
      for (const std::vector<Value>& row : rows) {
        const size_t alternatives = each && !nothing ? value.size() : 1;
        for (size_t n = 0; n < alternatives; ++n) {
          longer.push_back(row);
          longer.back().push_back(each ? (nothing ? Value() : value[n]) : value);
        }
      }
      rows = std::move(longer);
    }
    return rows;
  }

  const std::unique_ptr<Layout> layout_;
  const std::vector<ExprPtr> parts_;
  const ExprPtr where_;
  const std::vector<db::IndexPart> definition_;
};

class SqlIndexCompiler final : public db::IndexCompiler {
 public:
  Result<std::shared_ptr<const db::IndexProgram>> Compile(
      const db::IndexDefinition& definition) const override {
    const db::Catalog no_catalog;
    Binder binder(no_catalog, {});
    const db::KeyspaceInfo keyspace;
    const VariableId document = binder.variables().AddDocument("", keyspace);
    ASSIGN_OR_RETURN(BoundIndex index, BindIndex(binder, definition, document));
    auto layout = std::make_unique<Layout>(binder.variables());
    for (BoundIndexKey& key : index.keys) {
      RETURN_IF_ERROR(CheckPure(key.expression));
      layout->Use(*key.expression, GroupNumber::kRest);
    }
    if (index.where != nullptr) {
      RETURN_IF_ERROR(CheckPure(index.where));
      layout->Use(*index.where, GroupNumber::kFilter);
    }
    layout->Finish();
    const ParameterList parameters;
    Compiler compiler(binder.variables(), *layout, parameters, nullptr);
    std::vector<ExprPtr> parts;
    for (const BoundIndexKey& key : index.keys) {
      ASSIGN_OR_RETURN(ExprPtr part, compiler.Compile(*key.expression));
      parts.push_back(std::move(part));
    }
    ASSIGN_OR_RETURN(ExprPtr where, compiler.CompileOptional(index.where));
    return std::make_shared<const Program>(std::move(layout), std::move(parts), std::move(where),
                                           definition.parts);
  }
};

}  // namespace

std::shared_ptr<const db::IndexCompiler> MakeIndexCompiler() {
  return std::make_shared<const SqlIndexCompiler>();
}

}  // namespace sluice::query
