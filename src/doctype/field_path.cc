#include "doctype/field_path.h"

#include "json/path.h"

namespace sluice::doctype {

Result<FieldPath> FieldPath::Parse(std::string_view text) {
  FieldPath path;
  const std::string_view whole = text;
  while (true) {
    const size_t elements = text.find("[]");
    const std::string_view part = text.substr(0, elements);
    ASSIGN_OR_RETURN(const json::Path parsed, json::Path::Parse(part));
    std::vector<std::string> names;
    for (const json::PathStep& step : parsed.steps()) {
      const auto* const name = std::get_if<std::string>(&step);
      if (name == nullptr) {
        return Fail(Code::kInvalidArgument, "type.bad_path",
                    "'{}': expected names, and [] for each element, not a position", whole);
      }
      names.push_back(*name);
    }
    if (names.empty()) {
      return Fail(Code::kInvalidArgument, "type.bad_path", "'{}': expected the name of a field",
                  whole);
    }
    path.segments_.push_back(std::move(names));
    if (elements == std::string_view::npos) return path;
    text.remove_prefix(elements + 2);
    if (text.starts_with('.')) text.remove_prefix(1);
  }
}

Status FieldPath::Visit(json::Value* at, size_t segment, size_t name, const Visitor& visit) const {
  if (!at->is_object()) return OkStatus();
  const std::vector<std::string>& names = segments_[segment];
  const bool last_name = name + 1 == names.size();
  if (last_name && segment + 1 == segments_.size()) return visit(at);
  json::Value* const field = at->MutableField(names[name]);
  if (field == nullptr) return OkStatus();
  if (!last_name) return Visit(field, segment, name + 1, visit);
  for (size_t i = 0; i < (field->is_array() ? field->size() : 0); ++i) {
    RETURN_IF_ERROR(Visit(field->MutableItem(i), segment + 1, 0, visit));
  }
  return OkStatus();
}

Status FieldPath::ForEachParent(json::Value* root, const Visitor& visit) const {
  return Visit(root, 0, 0, visit);
}

const json::Value& FieldPath::Get(const json::Value& root) const {
  const json::Value* at = &root;
  for (const std::string& name : segments_.front()) at = &(*at)[name];
  return *at;
}

Status FieldPath::Set(json::Value* root, json::Value value) const {
  json::Value* at = root;
  const std::vector<std::string>& names = segments_.front();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!at->is_object()) {
      return Error(Code::kInvalidArgument, "migration.mismatch",
                   "'{}' can't be set: expected an object around it, found {}", names[i],
                   json::TypeName(at->type()));
    }
    if (i + 1 == names.size()) break;
    if (at->Find(names[i]) == nullptr) at->Set(names[i], json::Value::EmptyObject());
    at = at->MutableField(names[i]);
  }
  at->Set(names.back(), std::move(value));
  return OkStatus();
}

}  // namespace sluice::doctype
