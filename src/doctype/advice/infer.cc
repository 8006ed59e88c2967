#include "doctype/advice/infer.h"

#include <algorithm>

#include "doctype/advice/report.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr std::string_view kTypeProperties[] = {"type", "_type", "docType", "_class", "kind"};
constexpr size_t kMaxNameBytes = 60;

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && IsLetter(text.front()) &&
         std::ranges::all_of(text, [](char c) {
           return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

// The word before the key's first delimiter; empty if there is none.
std::string_view PrefixOf(std::string_view key) {
  size_t size = 0;
  while (size < key.size() && IsLetter(key[size])) ++size;
  return size > 0 && size + 1 < key.size() ? key.substr(0, size) : std::string_view();
}

// "user_profile" to "UserProfile".
std::string TypeScriptName(std::string_view name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (!IsLetter(c) && (c < '0' || c > '9')) {
      upper = true;
      continue;
    }
    const bool lower_case = c >= 'a' && c <= 'z';
    out += upper && lower_case ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return out.empty() ? "Document" : out;
}

std::string FieldNames(const Value& document) {
  std::string names;
  for (const json::Field* field : json::SortedFields(document)) {
    names.append(field->name()).append("\n");
  }
  return names;
}

}  // namespace

ShapeInference::Group* ShapeInference::GroupOf(std::string_view key, const Value& document) {
  Group made;
  std::string id;
  for (const std::string_view property : kTypeProperties) {
    const Value& value = document[property];
    if (!value.is_string() || !IsName(value.AsString())) continue;
    made.name = value.AsString();
    made.property = property;
    made.found_by = "property";
    id = "p" + made.name;
    break;
  }
  const std::string_view prefix = PrefixOf(key);
  if (id.empty() && !prefix.empty()) {
    made.name = prefix;
    made.found_by = "key";
    id = "k" + made.name;
  }
  if (id.empty()) {
    made.name = fmt::format("type{}", groups_.size() + 1);
    made.found_by = "fields";
    id = "f" + FieldNames(document);
  }
  const auto found = groups_.find(id);
  if (found != groups_.end()) return &found->second;
  if (groups_.size() >= kMaxGroups) return nullptr;
  return &groups_.emplace(id, std::move(made)).first->second;
}

Status ShapeInference::Add(std::string_view key, std::string_view document) {
  ASSIGN_OR_RETURN(const Value value, json::Parse(document));
  ++documents_;
  Group* const group = value.is_object() ? GroupOf(key, value) : nullptr;
  if (group == nullptr) {
    ++left_out_;
    return OkStatus();
  }
  const std::string_view prefix = PrefixOf(key);
  const char delimiter = prefix.empty() ? '\0' : key[prefix.size()];
  if (group->documents == 0) group->delimiter = delimiter;
  group->same_prefix &= prefix == group->name && delimiter == group->delimiter;
  ++group->documents;
  group->shape.Add(value);
  return OkStatus();
}

std::string ShapeInference::TypeFile(const Group& group, std::string_view keyspace) const {
  std::string out = fmt::format("type: {}\nkeyspace: {}\n", group.name, keyspace);
  std::string match;
  const bool brace = group.delimiter == '{' || group.delimiter == '}';
  if (group.same_prefix && group.delimiter != '\0' && !brace) {
    std::string key;
    json::AppendQuoted(fmt::format("{}{}{{id}}", group.name, group.delimiter), &key);
    match = "key: " + key;
  }
  if (!group.property.empty()) {
    match += (match.empty() ? "property: " : ", property: ") + group.property;
  }
  if (match.empty()) match = "property: type";
  return out + fmt::format(
                   "match: {{ {} }}\nproperties:\n  type: {}\n  schema: _schema\n"
                   "schema: \"1.0\"\nschemas: {{ \"1.0\": schemas/{}-1.json }}\n"
                   "validate: warn\n",
                   match, group.property.empty() ? "type" : group.property, group.name);
}

std::vector<InferredType> ShapeInference::Finish(std::string_view keyspace) const {
  std::vector<InferredType> types;
  for (const auto& [id, group] : groups_) {
    InferredType type;
    type.name = group.name;
    type.found_by = group.found_by;
    type.documents = group.documents;
    type.share = static_cast<double>(group.documents) / static_cast<double>(documents_);
    type.type_file = TypeFile(group, keyspace);
    type.schema = Value::Object({{"$schema", "https://json-schema.org/draft/2020-12/schema"}});
    const Value shape = group.shape.ToSchema();
    for (const json::Field& field : shape.fields()) type.schema.Set(field.name(), field.value);
    type.declaration = fmt::format("export interface {} {}\n", TypeScriptName(group.name),
                                   group.shape.ToTypeScript());
    types.push_back(std::move(type));
  }
  std::ranges::stable_sort(types, std::greater<>(), &InferredType::documents);
  return types;
}

std::string ToText(const std::vector<InferredType>& types) {
  constexpr size_t kBar = 20;
  std::vector<std::vector<std::string>> rows;
  for (const InferredType& type : types) {
    rows.push_back({type.name, type.found_by, fmt::format("{}", type.documents),
                    Bar(type.share, kBar), fmt::format("{:.1f}%", type.share * 100)});
  }
  std::string out = Table({"TYPE", "FOUND BY", "DOCUMENTS", "SHARE", ""}, rows);
  for (const InferredType& type : types) {
    out += fmt::format("\n# types/{}.yaml\n{}\n# types/schemas/{}-1.json\n{}\n\n// {}.d.ts\n{}",
                       type.name, type.type_file, type.name,
                       json::ToText(type.schema, {.indent = 2}), type.name, type.declaration);
  }
  return out;
}

Value ToJson(const std::vector<InferredType>& types) {
  Value out = Value::EmptyArray();
  for (const InferredType& type : types) {
    out.Append(Value::Object({{"type", type.name},
                              {"found_by", type.found_by},
                              {"documents", static_cast<int64_t>(type.documents)},
                              {"share", type.share},
                              {"type_file", type.type_file},
                              {"schema", type.schema},
                              {"declaration", type.declaration}}));
  }
  return out;
}

}  // namespace sluice::doctype
