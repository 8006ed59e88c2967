// INFER: the shape of a keyspace's documents, from a sample.
#include <algorithm>
#include <utility>

#include "db/reader.h"
#include "json/parse.h"
#include "query/definitions.h"
#include "query/error.h"
#include "query/exec/compile.h"
#include "query/exec/context.h"
#include "query/functions/shape.h"

namespace sluice::query {
namespace {

constexpr size_t kSampleDocuments = 1000;

}  // namespace

DefinitionRows RunDefinition(db::Database& database, const QueryContext& context,
                             const InferStatement& statement) {
  Shape shape;
  if (statement.keyspace) {
    ASSIGN_OR_RETURN(const auto keyspace,
                     ResolveKeyspace(*database.catalog(), context, *statement.keyspace));
    size_t sample = kSampleDocuments;
    if (statement.with && (*statement.with)["sample_size"].is_int()) {
      sample = static_cast<size_t>(std::max<int64_t>((*statement.with)["sample_size"].AsInt(), 1));
    }
    const auto reader = db::NewSnapshotReader(database);
    db::DocumentRange range;
    range.on_unreadable = [](std::string_view, const Status&) { return true; };
    const auto cursor = reader->Scan(keyspace->id, range);
    while (shape.documents() < sample && cursor->Next()) {
      if (cursor->document().datatype != db::Datatype::kJson) continue;
      ASSIGN_OR_RETURN(const json::Value value, json::Parse(cursor->document().body));
      shape.Add(value);
    }
    RETURN_IF_ERROR(cursor->status());
  } else {
    ASSIGN_OR_RETURN(const json::Value value, EvaluateConstant(database, *statement.expression));
    if (value.is_array()) {
      for (const json::Value& item : value.items()) shape.Add(item);
    } else {
      shape.Add(value);
    }
  }
  json::Value flavors = json::Value::EmptyArray();
  if (shape.documents() > 0) flavors.Append(shape.Describe());
  return std::vector<json::Value>{std::move(flavors)};
}

Result<json::Value> EvaluateConstant(const db::Database& database, const Expression& expression) {
  ExpressionPtr copy = Clone(expression);
  Binder binder(*database.catalog(), {});
  RETURN_IF_ERROR(binder.BindConstant(copy));
  Layout layout(binder.variables());
  layout.Finish();
  const ParameterList parameters;
  Compiler compiler(binder.variables(), layout, parameters, nullptr);
  ASSIGN_OR_RETURN(const ExprPtr expr, compiler.Compile(*copy));
  const auto reader = db::NewSnapshotReader(database);
  MemoryBudget memory(64 << 20);
  RunOptions options;
  options.clock = &database.clock();
  options.memory = &memory;
  Context context(layout, *reader, options);
  json::Value value = expr->Get(context);
  if (context.failed()) return Unexpected(context.status());
  return value;
}

}  // namespace sluice::query
