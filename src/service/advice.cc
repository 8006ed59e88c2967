#include "service/advice.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/time_text.h"
#include "db/index.h"
#include "db/sample.h"
#include "db/traffic.h"
#include "doctype/advice/advice.h"
#include "doctype/type_reader.h"
#include "json/parse.h"

namespace sluice::service {
namespace {

using json::Value;

std::string KeyspaceNameOf(const db::Catalog& catalog, db::KeyspaceId keyspace) {
  const db::KeyspaceInfo* const info = catalog.Find(keyspace);
  return info == nullptr ? "(dropped)" : info->name.ToString();
}

// Names that the server itself reads: those of the types' properties, and of indexes.
void AddOwnNames(const db::KeyspaceInfo& keyspace, std::set<std::string>* names) {
  for (const db::TypeDefinition& type : keyspace.types) {
    const auto definition = json::Parse(type.text);
    if (!definition) continue;
    for (const json::Field& property : (*definition)["properties"].fields()) {
      const Value& name = property.value.is_object() ? property.value["name"] : property.value;
      if (name.is_string()) names->emplace(name.AsString());
    }
  }
  for (const auto& index : keyspace.indexes) {
    for (const db::IndexPart& part : index->definition().parts) {
      doctype::AddNames(part.path, names);
      doctype::AddNames(part.expression, names);
    }
    doctype::AddNames(index->definition().where, names);
  }
}

doctype::TypeSet::Types TypesOf(const db::KeyspaceInfo& keyspace) {
  doctype::TypeSet::Types types;
  for (const db::TypeDefinition& definition : keyspace.types) {
    const auto text = json::Parse(definition.text);
    doctype::Problems problems;
    auto type = text ? doctype::ReadTypeJson(*text, definition.name, &problems) : std::nullopt;
    if (type) types.push_back(std::make_shared<const doctype::Type>(std::move(*type)));
  }
  return types;
}

}  // namespace

doctype::Observed Observe(const AdviceSources& sources, const db::KeyspaceInfo& keyspace) {
  const auto catalog = sources.database.catalog();
  const db::Operations& operations = sources.database.operations();
  const db::KeyspaceTraffic traffic = operations.TrafficOf(keyspace.id);
  doctype::Observed observed;
  observed.since = UtcText(sources.started_ms);
  observed.statements = traffic.statements;
  const uint64_t now_ms = sources.database.clock().WallMs();
  observed.seconds = now_ms > sources.started_ms ? (now_ms - sources.started_ms) / 1000 : 0;
  observed.whole = traffic.whole;
  observed.paths = traffic.paths;
  observed.updates = traffic.updates;
  observed.changed = traffic.changed;
  observed.alone = traffic.alone;
  observed.longer = traffic.longer;
  observed.complete = traffic.complete;
  for (const auto& [join, runs] : traffic.joins) {
    observed.joins.push_back(
        {.from = KeyspaceNameOf(*catalog, join.from),
         .path = join.path,
         .to = KeyspaceNameOf(*catalog, join.to),
         .runs = runs,
         .statements = join.from == keyspace.id ? traffic.statements
                                                : operations.TrafficOf(join.from).statements,
         .updates =
             join.to == keyspace.id ? traffic.updates : operations.TrafficOf(join.to).updates});
  }
  sources.code([&](std::string_view text) {
    ++observed.sources;
    doctype::AddNames(text, &observed.names);
  });
  AddOwnNames(keyspace, &observed.names);
  return observed;
}

Result<Value> Advise(const AdviceSources& sources, const db::KeyspaceInfo& keyspace,
                     const AdviceOptions& options) {
  const uint64_t wanted = options.full          ? db::kAllDocuments
                          : options.sample == 0 ? db::UsualSample(sources.database, keyspace.id)
                                                : options.sample;
  ASSIGN_OR_RETURN(const uint64_t documents_there, sources.database.CountDocuments(keyspace.id));
  const auto snapshot = sources.database.NewSnapshot();
  doctype::Advice advice(TypesOf(keyspace));
  const auto visit = [&](const auto& use) -> Status {
    const auto documents = db::NewSampleCursor(sources.database, keyspace.id, wanted, *snapshot);
    while (documents->Next()) {
      const db::DocumentView& document = documents->document();
      if (document.datatype != db::Datatype::kJson) continue;
      RETURN_IF_ERROR(use(documents->key(), document.body));
    }
    return documents->status();
  };
  RETURN_IF_ERROR(
      visit([&](std::string_view, std::string_view document) { return advice.Look(document); }));
  RETURN_IF_ERROR(visit(
      [&](std::string_view key, std::string_view document) { return advice.Add(key, document); }));
  const doctype::Observed observed = Observe(sources, keyspace);
  return advice.ToJson({.synchronised = options.synchronised,
                        .keyspace = keyspace.name.ToString(),
                        .documents_there = documents_there},
                       &observed);
}

}  // namespace sluice::service
