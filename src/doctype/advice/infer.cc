#include "doctype/advice/infer.h"

#include <algorithm>

#include "doctype/advice/report.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr std::string_view kTypeProperties[] = {"type", "_type", "docType", "_class", "kind"};
constexpr std::string_view kVersionProperties[] = {"_schema", "schema", "schemaVersion",
                                                   "_schemaVersion"};
// The guide's other way: all of them in one object.
constexpr std::string_view kHolders[] = {"", "meta", "_meta"};
constexpr size_t kMaxNameBytes = 60;
constexpr size_t kMaxVersions = 20;

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && IsLetter(text.front()) &&
         std::ranges::all_of(text, [](char c) {
           return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

bool IsAlnum(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// The word before the key's first delimiter; empty if there is none.
std::string_view PrefixOf(std::string_view key) {
  size_t size = 0;
  while (size < key.size() && IsLetter(key[size])) ++size;
  return size > 0 && size + 1 < key.size() ? key.substr(0, size) : std::string_view();
}

// "user:{id}" of user:1, "user::{id}" of user::1.
std::optional<KeyPattern> PatternOf(std::string_view key) {
  size_t end = PrefixOf(key).size();
  if (end == 0) return std::nullopt;
  while (end < key.size() && !IsAlnum(key[end])) ++end;
  const std::string_view start = key.substr(0, end);
  if (start.find_first_of("{}") != std::string_view::npos) return std::nullopt;
  auto pattern = KeyPattern::Parse(fmt::format("{}{{id}}", start));
  return pattern ? std::optional<KeyPattern>(std::move(*pattern)) : std::nullopt;
}

const Value& Within(const Value& document, std::string_view holder) {
  return holder.empty() ? document : document[holder];
}

// "10.2" is later than "9.1".
bool Earlier(const std::string& one, const std::string& other) {
  const auto numbers = [](const std::string& version) {
    std::vector<uint64_t> out(1);
    for (const char c : version) {
      if (c >= '0' && c <= '9') {
        out.back() = out.back() * 10 + static_cast<uint64_t>(c - '0');
      } else {
        out.push_back(0);
      }
    }
    return out;
  };
  return std::pair(numbers(one), one) < std::pair(numbers(other), other);
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
  for (const std::string_view holder : kHolders) {
    for (const std::string_view property : kTypeProperties) {
      const Value& value = Within(document, holder)[property];
      if (!id.empty() || !value.is_string() || !IsName(value.AsString())) continue;
      made.name = value.AsString();
      made.object = holder;
      made.property = property;
      made.found_by = "property";
      id = "p" + made.name;
    }
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
  if (group->documents == 0 && PrefixOf(key) == group->name) group->key = PatternOf(key);
  if (group->key && !group->key->Matches(key)) group->key.reset();
  AddVersion(value, group);
  ++group->documents;
  group->shape.Add(value);
  return OkStatus();
}

void ShapeInference::AddVersion(const Value& document, Group* group) {
  const Value& holder = Within(document, group->object);
  for (const std::string_view property : kVersionProperties) {
    const Value& version = holder[property];
    if (!version.is_string() && !version.is_number()) continue;
    if (group->version_property.empty()) group->version_property = property;
    if (group->version_property != property || group->versions.size() >= kMaxVersions) continue;
    group->versions.insert(version.is_string() ? std::string(version.AsString())
                                               : json::ToText(version));
  }
}

std::string ShapeInference::TypeFile(const Group& group, std::string_view keyspace) const {
  const bool nested = !group.object.empty();
  const std::string property = group.property.empty() ? "type" : group.property;
  std::string match;
  if (group.key) json::AppendQuoted(group.key->text(), &(match = "key: "));
  if (!group.property.empty() || match.empty()) {
    match += fmt::format("{}property: {}{}", match.empty() ? "" : ", ",
                         nested ? group.object + "." : "", property);
  }
  // The latest one is the current one; the others need migrations.
  std::vector<std::string> versions(group.versions.begin(), group.versions.end());
  std::ranges::sort(versions, Earlier);
  std::string current = versions.empty() ? "1.0" : versions.back();
  std::string quoted;
  json::AppendQuoted(current, &quoted);
  std::string out = fmt::format("type: {}\nkeyspace: {}\nmatch: {{ {} }}\nproperties:\n",
                                group.name, keyspace, match);
  if (nested) out += fmt::format("  object: {}\n", group.object);
  out += fmt::format("  type: {}\n  schema: {}\nschema: {}\n", property,
                     !group.version_property.empty() ? group.version_property
                     : nested                        ? "schema"
                                                     : "_schema",
                     quoted);
  if (versions.size() > 1) {
    versions.pop_back();
    out += fmt::format("# There are documents of version {}, too: they need migrations.\n",
                       fmt::join(versions, ", "));
  }
  return out +
         fmt::format("schemas: {{ {}: schemas/{}-1.json }}\nvalidate: warn\n", quoted, group.name);
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
