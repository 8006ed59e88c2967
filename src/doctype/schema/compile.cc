#include <algorithm>

#include "base/nearest.h"
#include "doctype/schema/compiler.h"

namespace sluice::doctype {

const std::map<std::string_view, Schema::Compiler::Reader, std::less<>>&
Schema::Compiler::Keywords() {
  using C = Compiler;
  static const std::map<std::string_view, Reader, std::less<>> keywords = {
      {"$schema", &C::Annotation},
      {"$id", &C::Annotation},
      {"$anchor", &C::Annotation},
      {"$comment", &C::Annotation},
      {"$vocabulary", &C::Annotation},
      {"title", &C::Annotation},
      {"description", &C::Annotation},
      {"default", &C::Annotation},
      {"examples", &C::Annotation},
      {"deprecated", &C::Annotation},
      {"readOnly", &C::Annotation},
      {"writeOnly", &C::Annotation},
      {"contentEncoding", &C::Annotation},
      {"contentMediaType", &C::Annotation},
      {"contentSchema", &C::Annotation},
      {"$dynamicRef", &C::Refused},
      {"$dynamicAnchor", &C::Refused},
      {"$recursiveRef", &C::Refused},
      {"$recursiveAnchor", &C::Refused},
      {"$defs", &C::Definitions},
      {"definitions", &C::Definitions},
      {"$ref", &C::Ref},
      {"type", &C::Type},
      {"enum", &C::Enum},
      {"const", &C::Const},
      {"minimum", &C::NumberLimit},
      {"maximum", &C::NumberLimit},
      {"exclusiveMinimum", &C::NumberLimit},
      {"exclusiveMaximum", &C::NumberLimit},
      {"multipleOf", &C::NumberLimit},
      {"minLength", &C::CountLimit},
      {"maxLength", &C::CountLimit},
      {"minItems", &C::CountLimit},
      {"maxItems", &C::CountLimit},
      {"minContains", &C::CountLimit},
      {"maxContains", &C::CountLimit},
      {"minProperties", &C::CountLimit},
      {"maxProperties", &C::CountLimit},
      {"pattern", &C::PatternKeyword},
      {"format", &C::FormatKeyword},
      {"items", &C::Items},
      {"prefixItems", &C::PrefixItems},
      {"additionalItems", &C::AdditionalItems},
      {"uniqueItems", &C::UniqueItems},
      {"contains", &C::OneSchema},
      {"unevaluatedItems", &C::OneSchema},
      {"properties", &C::Properties},
      {"patternProperties", &C::PatternProperties},
      {"additionalProperties", &C::OneSchema},
      {"propertyNames", &C::OneSchema},
      {"unevaluatedProperties", &C::OneSchema},
      {"required", &C::Required},
      {"dependencies", &C::Dependencies},
      {"dependentRequired", &C::DependentRequired},
      {"dependentSchemas", &C::DependentSchemas},
      {"allOf", &C::Schemas},
      {"anyOf", &C::Schemas},
      {"oneOf", &C::Schemas},
      {"not", &C::OneSchema},
      {"if", &C::OneSchema},
      {"then", &C::OneSchema},
      {"else", &C::OneSchema},
  };
  return keywords;
}

std::shared_ptr<const Schema> Schema::Compile(const json::Value& schema, const std::string& file,
                                              std::string_view text, Problems* problems) {
  auto nodes = Compiler(schema, file, text, problems).Run();
  if (nodes == nullptr) return nullptr;
  return std::shared_ptr<const Schema>(new Schema(std::move(nodes)));
}

Schema::Schema(std::unique_ptr<const Nodes> nodes) : nodes_(std::move(nodes)) {}
Schema::~Schema() = default;

std::vector<Schema::Nodes::Id> Schema::Nodes::Node::InPlace() const {
  std::vector<Id> ids = all_of;
  ids.insert(ids.end(), any_of.begin(), any_of.end());
  ids.insert(ids.end(), one_of.begin(), one_of.end());
  for (const auto& [name, id] : dependent_schemas) ids.push_back(id);
  for (const Id id : {negated, condition, then, otherwise, ref}) {
    if (id != kNone) ids.push_back(id);
  }
  return ids;
}

std::unique_ptr<const Schema::Nodes> Schema::Compiler::Run() {
  const size_t before = problems_->errors.size();
  ReadDraft();
  CollectAnchors(schema_, "", 0);
  nodes_->root = Refer(schema_, "");
  while (!pending_.empty()) {
    const Id id = pending_.back().first;
    ReadNode(id);
  }
  CheckLoops();
  return problems_->errors.size() == before ? std::move(nodes_) : nullptr;
}

void Schema::Compiler::ReadDraft() {
  const json::Value& name = schema_["$schema"];
  if (schema_["$id"].is_string()) own_id_ = schema_["$id"].AsString();
  if (own_id_.ends_with('#')) own_id_.pop_back();
  if (!name.is_string()) return;
  const std::string_view text = name.AsString();
  if (text.find("draft-07") != std::string_view::npos ||
      text.find("draft-06") != std::string_view::npos) {
    draft_ = Draft::k7;
  } else if (text.find("2019-09") != std::string_view::npos) {
    draft_ = Draft::k2019;
  } else if (text.find("2020-12") == std::string_view::npos) {
    AddProblem("schema.unsupported", "/$schema",
               fmt::format("expected draft 2020-12, 2019-09 or 7, found '{}'", text));
  }
}

void Schema::Compiler::CollectAnchors(const json::Value& schema, const std::string& pointer,
                                      int depth) {
  if (depth > json::kMaxDepth) return;
  if (schema.is_array()) {
    for (size_t i = 0; i < schema.size(); ++i) {
      CollectAnchors(schema[i], PointerBelow(pointer, std::to_string(i)), depth + 1);
    }
  }
  for (const json::Field& field : schema.fields()) {
    const bool anchor = field.name() == "$anchor" || field.name() == "$id";
    if (anchor && field.value.is_string()) {
      std::string_view name = field.value.AsString();
      if (field.name() == "$id" && !name.starts_with('#')) {
        if (!pointer.empty()) anchors_.emplace(std::string(name), pointer);
        continue;
      }
      if (name.starts_with('#')) name.remove_prefix(1);
      anchors_.emplace("#" + std::string(name), pointer);
    } else if (field.name() != "enum" && field.name() != "const") {
      CollectAnchors(field.value, PointerBelow(pointer, field.name()), depth + 1);
    }
  }
}

Schema::Nodes::Id Schema::Compiler::Refer(const json::Value& schema, const std::string& pointer) {
  const auto [found, added] = by_pointer_.emplace(pointer, static_cast<Id>(nodes_->all.size()));
  if (!added) return found->second;
  nodes_->all.emplace_back();
  nodes_->all.back().pointer = pointer;
  pending_.emplace_back(found->second, &schema);
  return found->second;
}

void Schema::Compiler::ReadNode(Id id) {
  const json::Value& schema = *pending_.back().second;
  pending_.pop_back();
  const std::string pointer = nodes_->all[id].pointer;
  if (schema.is_bool()) {
    nodes_->all[id].never = !schema.AsBool();
    return;
  }
  if (!schema.is_object()) {
    return AddProblem("schema.invalid", pointer,
                      fmt::format("expected a schema (an object, true or false), found {}",
                                  json::TypeName(schema.type())));
  }
  const json::Value* const ref = schema.Find("$ref");
  for (const json::Field& field : schema.fields()) {
    // In draft 7 nothing beside $ref counts.
    if (draft_ == Draft::k7 && ref != nullptr && field.name() != "$ref" &&
        field.name() != "definitions" && field.name() != "$defs") {
      continue;
    }
    const auto keyword = Keywords().find(field.name());
    if (keyword == Keywords().end()) {
      if (field.name().starts_with("x-")) continue;
      std::vector<std::string> names;
      for (const auto& [name, reader] : Keywords()) names.emplace_back(name);
      AddWarning(
          "schema.unknown_keyword", PointerBelow(pointer, field.name()),
          fmt::format("there is no keyword '{}'{}", field.name(), DidYouMean(field.name(), names)));
      continue;
    }
    const At at{schema, pointer, field.value, PointerBelow(pointer, field.name()), id};
    (this->*keyword->second)(at);
  }
}

// A schema that is applied to the same value as itself would never end.
void Schema::Compiler::CheckLoops() {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(nodes_->all.size(), Mark::kNew);
  for (Id start = 0; start < nodes_->all.size(); ++start) {
    std::vector<std::pair<Id, std::vector<Id>>> open;
    const auto enter = [&](Id id) {
      marks[id] = Mark::kOpen;
      open.emplace_back(id, nodes_->all[id].InPlace());
    };
    if (marks[start] == Mark::kNew) enter(start);
    while (!open.empty()) {
      auto& [id, rest] = open.back();
      if (rest.empty()) {
        marks[id] = Mark::kDone;
        open.pop_back();
        continue;
      }
      const Id next = rest.back();
      rest.pop_back();
      if (marks[next] == Mark::kOpen) {
        AddProblem("schema.invalid", nodes_->all[next].pointer,
                   "refers to itself without going into the document");
      } else if (marks[next] == Mark::kNew) {
        enter(next);
      }
    }
  }
}

Status Schema::Compiler::Located(std::string_view id, const std::string& pointer,
                                 const std::string& message) {
  const Status status(Code::kInvalidArgument, id, fmt::format("#{}: {}", pointer, message));
  return status.At(text_.empty() ? Place{file_, 0, 0} : PlaceAt(text_, file_, pointer));
}

void Schema::Compiler::AddProblem(std::string_view id, const std::string& pointer,
                                  const std::string& message) {
  problems_->AddError(Located(id, pointer, message));
}

void Schema::Compiler::AddWarning(std::string_view id, const std::string& pointer,
                                  const std::string& message) {
  problems_->AddWarning(Located(id, pointer, message));
}

}  // namespace sluice::doctype
