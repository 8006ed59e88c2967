// INFER: what the documents of a keyspace look like, from a sample of them.
#include <algorithm>
#include <map>
#include <utility>

#include "db/reader.h"
#include "json/parse.h"
#include "query/definitions.h"
#include "query/error.h"
#include "query/exec/compile.h"
#include "query/exec/context.h"

namespace sluice::query {
namespace {

constexpr size_t kSampleDocuments = 1000;
constexpr size_t kSampleValues = 5;
constexpr int kMaxDepth = 16;

struct Shape {
  uint64_t documents = 0;
  std::map<std::string, uint64_t, std::less<>> types;
  std::vector<json::Value> samples;
  std::map<std::string, Shape, std::less<>> fields;

  void Add(const json::Value& value, int depth);
  json::Value Describe(uint64_t total) const;
};

void Shape::Add(const json::Value& value, int depth) {
  ++documents;
  ++types[std::string(json::TypeName(value.type()))];
  const bool scalar = !value.is_array() && !value.is_object();
  if (scalar && samples.size() < kSampleValues &&
      std::ranges::find(samples, value) == samples.end()) {
    samples.push_back(value);
  }
  if (depth >= kMaxDepth) return;
  for (const json::Field& field : value.fields()) {
    fields[std::string(field.name())].Add(field.value, depth + 1);
  }
}

json::Value Shape::Describe(uint64_t total) const {
  json::Value names = json::Value::EmptyArray();
  for (const auto& [name, count] : types) names.Append(json::Value(name));
  json::Value shape = json::Value::Object(
      {{"#docs", json::Value(static_cast<int64_t>(documents))},
       {"%docs", json::Value(100.0 * static_cast<double>(documents) / static_cast<double>(total))},
       {"type", types.size() == 1 ? names[0] : names}});
  if (!samples.empty()) shape.Set("samples", json::Value::Array(samples));
  if (!fields.empty()) {
    json::Value properties = json::Value::EmptyObject();
    for (const auto& [name, field] : fields) properties.Set(name, field.Describe(total));
    shape.Set("properties", std::move(properties));
  }
  return shape;
}

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
    const auto cursor = reader->Scan(keyspace->id, {});
    while (shape.documents < sample && cursor->Next()) {
      if (cursor->document().datatype != db::Datatype::kJson) continue;
      ASSIGN_OR_RETURN(const json::Value value, json::Parse(cursor->document().body));
      shape.Add(value, 0);
    }
    RETURN_IF_ERROR(cursor->status());
  } else {
    ASSIGN_OR_RETURN(const json::Value value, EvaluateConstant(database, *statement.expression));
    if (value.is_array()) {
      for (const json::Value& item : value.items()) shape.Add(item, 0);
    } else {
      shape.Add(value, 0);
    }
  }
  json::Value flavors = json::Value::EmptyArray();
  if (shape.documents > 0) flavors.Append(shape.Describe(shape.documents));
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
