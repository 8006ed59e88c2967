#include "doctype/advice/infer.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
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
constexpr size_t kMaxTypeNameBytes = 60;
constexpr size_t kMaxVersions = 20;
constexpr std::string_view kByFields = "fields";
constexpr std::string_view kByProperty = "property";
// If at least this many prefixes, or values of a property, have the same fields, they are not names
// of types.
constexpr size_t kManyNames = 3;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTypeNameBytes && IsLetter(text.front()) &&
         std::ranges::all_of(text, [](char c) {
           return IsLetter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

bool IsWordByte(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

// The delimiter of a key: "::" before ":" and so on; other characters are parts of ids, like the
// dash in en-gb::1F1E6.
std::string_view DelimiterOf(std::string_view key) {
  constexpr std::string_view kUsual[] = {"::", ":", "/", "|", "#", "_", "-", "."};
  for (const std::string_view usual : kUsual) {
    if (key.find(usual) != std::string_view::npos) return usual;
  }
  return "";
}

// The word before the key's delimiter; empty without one.
std::string_view PrefixOf(std::string_view key) {
  const std::string_view delimiter = DelimiterOf(key);
  if (delimiter.empty()) return {};
  const std::string_view prefix = key.substr(0, key.find(delimiter));
  const bool more = key.size() > prefix.size() + delimiter.size();
  return more && std::ranges::all_of(prefix, IsLetter) ? prefix : std::string_view();
}

// "user", "1" of user:1; "city", "AD", "7" of city::AD::7.
std::vector<std::string> PartsOf(std::string_view key, std::string_view delimiter) {
  std::vector<std::string> parts;
  while (!delimiter.empty() && key.find(delimiter) != std::string_view::npos) {
    const size_t at = key.find(delimiter);
    parts.emplace_back(key.substr(0, at));
    key.remove_prefix(at + delimiter.size());
  }
  parts.emplace_back(key);
  return parts;
}

std::string Literal(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

bool IsVariable(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return IsWordByte(c) || c == '_'; });
}

// The fields of the root that have this value.
std::set<std::string> FieldsWith(const Value& document, const std::string& part) {
  std::set<std::string> names;
  for (const json::Field& field : document.fields()) {
    const bool scalar = field.value.is_string() || field.value.is_int();
    if (!scalar || !IsVariable(field.name())) continue;
    const std::string text =
        field.value.is_string() ? std::string(field.value.AsString()) : json::ToText(field.value);
    if (text == part) names.emplace(field.name());
  }
  return names;
}

// Whether two groups are of one type. Fields that are not always there make groups of their own, so
// that one that has nearly all of its names from the other is of the same.
bool SameFields(const Shape& one, const Shape& other, bool optional) {
  constexpr double kNearlyAll = 0.8;
  size_t both = 0;
  for (const auto& [name, shape] : one.fields()) both += other.Field(name) != nullptr ? 1 : 0;
  const size_t fewer = std::min(one.fields().size(), other.fields().size());
  const size_t all = one.fields().size() + other.fields().size() - both;
  const size_t of = optional ? fewer : all;
  return static_cast<double>(both) >= kNearlyAll * static_cast<double>(of);
}

// "orders" of app.shop.orders; "app" of app._default._default.
std::string NameOf(std::string_view keyspace) {
  std::string name;
  std::string part;
  for (const char c : std::string(keyspace) + ".") {
    if (c != '.') {
      part += c;
      continue;
    }
    if (IsName(part)) name = part;
    part.clear();
  }
  return name.empty() ? "document" : name;
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
      made.found_by = kByProperty;
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
    made.found_by = kByFields;
    id = "f";
    for (const json::Field* field : json::SortedFields(document)) {
      id.append(field->name()).append("\n");
    }
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
  AddKey(key, value, &group->keys);
  AddVersion(value, group);
  ++group->documents;
  group->shape.Add(value);
  return OkStatus();
}

void ShapeInference::AddKey(std::string_view key, const Value& document, Keys* keys) {
  if (!keys->same) return;
  const std::string_view delimiter = DelimiterOf(key);
  const std::vector<std::string> parts = PartsOf(key, delimiter);
  const bool prefixed = parts.size() > 1 && std::ranges::all_of(parts[0], IsLetter);
  Keys of;
  of.first = false;
  of.prefix = prefixed ? fmt::format("{}{}", parts[0], delimiter) : "";
  if (prefixed) of.prefix_names = FieldsWith(document, parts[0]);
  for (size_t i = prefixed ? 1 : 0; i < parts.size(); ++i) {
    if (parts[i].empty() || parts[i].find_first_of(delimiter) != std::string::npos) of.same = false;
    of.names.push_back(FieldsWith(document, parts[i]));
    if (i + 1 < parts.size()) of.between.emplace_back(delimiter);
  }
  MergeKeys(of, keys);
}

void ShapeInference::MergeKeys(const Keys& other, Keys* keys) {
  if (keys->first) {
    *keys = other;
    return;
  }
  if (!other.same || other.prefix != keys->prefix || other.between != keys->between) {
    keys->same = false;
    return;
  }
  const auto intersect = [](const std::set<std::string>& those, std::set<std::string>* these) {
    std::erase_if(*these, [&](const std::string& name) { return !those.contains(name); });
  };
  intersect(other.prefix_names, &keys->prefix_names);
  for (size_t i = 0; i < keys->names.size(); ++i) intersect(other.names[i], &keys->names[i]);
}

// en:: and de::: the word in front is data.
ShapeInference::Keys ShapeInference::WithoutPrefix(Keys keys) {
  if (keys.prefix.empty()) return keys;
  const std::string delimiter = keys.prefix.substr(PrefixOf(keys.prefix + "xx").size());
  keys.between.insert(keys.between.begin(), delimiter);
  keys.names.insert(keys.names.begin(), std::exchange(keys.prefix_names, {}));
  keys.prefix.clear();
  return keys;
}

void ShapeInference::MergeGroup(const Group& other, Group* group) {
  if (group->keys.first || other.keys.prefix == group->keys.prefix) {
    MergeKeys(other.keys, &group->keys);
  } else {
    group->keys = WithoutPrefix(std::move(group->keys));
    MergeKeys(WithoutPrefix(other.keys), &group->keys);
  }
  if (group->version_property.empty()) group->version_property = other.version_property;
  group->versions.insert(other.versions.begin(), other.versions.end());
  group->unversioned += other.unversioned;
  group->documents += other.documents;
  group->shape.Merge(other.shape);
}

// The groups that belong together, the largest first. A few groups with the same fields, such as
// users and customers, are separate types; many are one type.
std::vector<std::vector<const ShapeInference::Group*>> ShapeInference::Clusters() const {
  std::vector<const Group*> groups;
  for (const auto& [id, group] : groups_) groups.push_back(&group);
  std::ranges::stable_sort(groups, std::greater<>(), &Group::documents);
  std::vector<std::vector<const Group*>> clusters;
  for (const Group* group : groups) {
    const auto same = std::ranges::find_if(clusters, [&](const auto& cluster) {
      const Group& first = *cluster.front();
      if (!SameFields(first.shape, group->shape, group->found_by != kByProperty)) return false;
      if (first.found_by == group->found_by) return true;
      Keys keys = WithoutPrefix(first.keys);
      MergeKeys(WithoutPrefix(group->keys), &keys);
      return first.found_by != kByProperty && group->found_by != kByProperty && keys.same;
    });
    if (same == clusters.end()) {
      clusters.push_back({group});
    } else {
      same->push_back(group);
    }
  }
  std::vector<std::vector<const Group*>> kept;
  for (const auto& cluster : clusters) {
    if (cluster.size() >= kManyNames || cluster.front()->found_by == kByFields) {
      kept.push_back(cluster);
    } else {
      for (const Group* group : cluster) kept.push_back({group});
    }
  }
  return kept;
}

std::vector<ShapeInference::Group> ShapeInference::Merged(std::string_view keyspace) const {
  std::vector<Group> merged;
  size_t unnamed = 0;
  for (const auto& cluster : Clusters()) {
    Group& group = merged.emplace_back();
    for (const Group* each : cluster) MergeGroup(*each, &group);
    if (cluster.size() == 1 && cluster.front()->found_by != kByFields) {
      group.name = cluster.front()->name;
      group.found_by = cluster.front()->found_by;
      group.object = cluster.front()->object;
      group.property = cluster.front()->property;
      continue;
    }
    group.found_by = kByFields;
    group.name = NameOf(keyspace);
    if (unnamed++ > 0) group.name += fmt::format("{}", unnamed);
  }
  return merged;
}

void ShapeInference::AddVersion(const Value& document, Group* group) {
  const Value& holder = Within(document, group->object);
  bool has = false;
  for (const std::string_view property : kVersionProperties) {
    const Value& version = holder[property];
    if (!version.is_string() && !version.is_number()) continue;
    has = true;
    if (group->version_property.empty()) group->version_property = property;
    if (group->version_property != property || group->versions.size() >= kMaxVersions) continue;
    group->versions.insert(version.is_string() ? std::string(version.AsString())
                                               : json::ToText(version));
  }
  if (!has) ++group->unversioned;
}

// "user:{id}", "city::{country}::{id2}": parts are called as the fields that hold them.
std::optional<KeyPattern> ShapeInference::PatternOf(const Keys& keys) {
  if (!keys.same || keys.first) return std::nullopt;
  std::string text = Literal(keys.prefix);
  std::set<std::string> used;
  for (size_t i = 0; i < keys.names.size(); ++i) {
    std::string name = i == 0 ? "id" : fmt::format("id{}", i + 1);
    for (const std::string& field : keys.names[i]) {
      if (used.contains(field)) continue;
      name = field;
      break;
    }
    used.insert(name);
    text += "{" + name + "}";
    if (i < keys.between.size()) text += Literal(keys.between[i]);
  }
  auto pattern = KeyPattern::Parse(text);
  return pattern ? std::optional<KeyPattern>(std::move(*pattern)) : std::nullopt;
}

// The `match` of the type that recognises the documents, if any. Keys without a prefix can be
// matched only if the keyspace has one type.
std::string ShapeInference::MatchOf(const Group& group, bool only, uint64_t* matched) {
  const auto pattern = PatternOf(group.keys);
  std::string match;
  if (pattern && (only || !group.keys.prefix.empty())) {
    json::AppendQuoted(pattern->text(), &(match = "key: "));
  }
  const std::string property =
      group.object.empty() ? group.property : group.object + "." + group.property;
  if (!group.property.empty()) {
    match += fmt::format("{}property: {}", match.empty() ? "" : ", ", property);
  } else if (match.empty() && only) {
    match = "key: \"{id}\"";
  }
  *matched = match.empty() ? 0 : group.documents;
  return match;
}

std::string ShapeInference::TypeFile(const Group& group, std::string_view keyspace,
                                     const std::string& match) {
  const bool nested = !group.object.empty();
  // The latest one is the current one; the others need migrations.
  std::vector<std::string> versions(group.versions.begin(), group.versions.end());
  std::ranges::sort(versions, Earlier);
  const auto quoted = [](const std::string& text) {
    std::string out;
    json::AppendQuoted(text, &out);
    return out;
  };
  const std::string current = quoted(versions.empty() ? "1.0" : versions.back());
  std::string out = fmt::format("type: {}\nkeyspace: {}\n", group.name, keyspace);
  if (match.empty()) {
    out +=
        "# Nothing in these documents or their keys says that they are of this type: add a\n"
        "# property that does, and name it here.\nmatch: { property: _type }\n";
  } else {
    out += fmt::format("match: {{ {} }}\n", match);
  }
  out += "properties:\n";
  if (nested) out += fmt::format("  object: {}\n", group.object);
  if (!group.property.empty()) out += fmt::format("  type: {}\n", group.property);
  out += fmt::format("  schema: {}\nschema: {}\n",
                     !group.version_property.empty() ? group.version_property
                     : nested                        ? "schema"
                                                     : "_schema",
                     current);
  if (versions.size() > 1) {
    versions.pop_back();
    out += fmt::format("# There are documents of version {}, too: they need migrations.\n",
                       fmt::join(versions, ", "));
  }
  if (group.unversioned > 0 && versions.size() <= 1) {
    out += fmt::format("unversioned: {}\n", current);
  } else if (group.unversioned > 0) {
    out += fmt::format(
        "# {} documents have no version: with migrations, say here which one.\n"
        "# unversioned: {}\n",
        group.unversioned, quoted(versions.front()));
  }
  return out +
         fmt::format("schemas: {{ {}: schemas/{}-1.json }}\nvalidate: warn\n", current, group.name);
}

std::vector<InferredType> ShapeInference::Finish(std::string_view keyspace) const {
  std::vector<InferredType> types;
  const std::vector<Group> groups = Merged(keyspace);
  for (const Group& group : groups) {
    InferredType type;
    type.name = group.name;
    type.found_by = group.found_by;
    type.documents = group.documents;
    type.share = static_cast<double>(group.documents) / static_cast<double>(documents_);
    type.type_file = TypeFile(group, keyspace, MatchOf(group, groups.size() == 1, &type.matched));
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
                    fmt::format("{}", type.matched), Bar(type.share, kBar),
                    fmt::format("{:.1f}%", type.share * 100)});
  }
  std::string out = Table({"TYPE", "FOUND BY", "DOCUMENTS", "MATCHED", "SHARE", ""}, rows);
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
                              {"matched", static_cast<int64_t>(type.matched)},
                              {"share", type.share},
                              {"type_file", type.type_file},
                              {"schema", type.schema},
                              {"declaration", type.declaration}}));
  }
  return out;
}

}  // namespace sluice::doctype
