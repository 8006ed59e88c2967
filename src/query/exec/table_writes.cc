// Rows of tables: values converted to their columns, a row's key made when it is inserted.
#include <utility>

#include "db/row.h"
#include "query/exec/mutator.h"
#include "query/exec/writes.h"

namespace sluice::query {
namespace {

// One value for each column, in order.
class TableInsertProgram final : public WriteProgram {
 public:
  explicit TableInsertProgram(TableInsertParts parts) : parts_(std::move(parts)) {}
  std::string_view name() const override { return "Insert"; }

  std::optional<db::Write> Make(Context& context) const override {
    const Value values = parts_.values->Get(context);
    if (context.failed()) return std::nullopt;
    std::vector<Value> stored;
    stored.reserve(values.size());
    for (size_t i = 0; i < parts_.schema->columns.size(); ++i) {
      auto column = db::StoreColumn(*parts_.schema, parts_.schema->columns[i], values[i]);
      if (!column) {
        context.Fail(TableError(column.error()));
        return std::nullopt;
      }
      stored.push_back(std::move(*column));
    }
    db::Write write;
    write.keyspace = parts_.target.keyspace;
    write.key = db::RowKeyOf(context.options().mutator->database().NewCas());
    write.document.body = db::RowText(*parts_.schema, stored);
    return write;
  }

 private:
  const TableInsertParts parts_;
};

class TableUpdateProgram final : public WriteProgram {
 public:
  TableUpdateProgram(UpdateParts parts, std::shared_ptr<const db::TableSchema> schema)
      : target_(std::move(parts.target)),
        document_(std::move(parts.document)),
        schema_(std::move(schema)),
        assigned_(AssignedColumns(*schema_, parts.assignments)),
        program_(std::move(parts.assignments)) {}
  std::string_view name() const override { return "Update"; }

  std::optional<db::Write> Make(Context& context) const override {
    const SourceRow& row = context.source(target_.source);
    const UpdateResult result = program_.Apply(context, document_->Get(context));
    if (context.failed()) return std::nullopt;
    std::vector<Value> stored;
    stored.reserve(schema_->columns.size());
    for (size_t i = 0; i < schema_->columns.size(); ++i) {
      const db::TableColumn& column = schema_->columns[i];
      const Value& value = result.document[column.name];
      if (!assigned_[i]) {
        stored.push_back(value.is_missing() ? column.added.value_or(Value(nullptr)) : value);
        continue;
      }
      auto converted = db::StoreColumn(*schema_, column, value);
      if (!converted) {
        context.Fail(TableError(converted.error()));
        return std::nullopt;
      }
      stored.push_back(std::move(*converted));
    }
    db::Write write;
    write.keyspace = target_.keyspace;
    write.key = row.key;
    write.precondition = db::Precondition::CasIs(row.meta.cas);
    write.document.body = db::RowText(*schema_, stored);
    return write;
  }

 private:
  static std::vector<bool> AssignedColumns(const db::TableSchema& schema,
                                           const std::vector<UpdateAssignment>& assignments) {
    std::vector<bool> assigned(schema.columns.size());
    for (const UpdateAssignment& assignment : assignments) {
      const auto column = schema.ColumnIndex(std::get<std::string>(assignment.steps[0]));
      if (column) assigned[*column] = true;
    }
    return assigned;
  }

  const SourceTarget target_;
  const ExprPtr document_;
  const std::shared_ptr<const db::TableSchema> schema_;
  const std::vector<bool> assigned_;
  const UpdateProgram program_;
};

}  // namespace

std::unique_ptr<WriteProgram> MakeTableInsertProgram(TableInsertParts parts) {
  return std::make_unique<TableInsertProgram>(std::move(parts));
}
std::unique_ptr<WriteProgram> MakeTableUpdateProgram(
    UpdateParts parts, std::shared_ptr<const db::TableSchema> schema) {
  return std::make_unique<TableUpdateProgram>(std::move(parts), std::move(schema));
}

}  // namespace sluice::query
