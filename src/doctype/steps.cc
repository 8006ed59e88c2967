#include "doctype/steps.h"

#include <optional>
#include <vector>

#include "doctype/casts.h"
#include "doctype/field_path.h"
#include "doctype/migration_reader.h"

namespace sluice::doctype {
namespace {

using json::Value;
using Kind = MigrationStep::Kind;

template <typename... Args>
Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument, "type.invalid", "{}",
               fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
Status Mismatch(fmt::format_string<Args...> format, Args&&... args) {
  return Error(Code::kInvalidArgument, "migration.mismatch", "{}",
               fmt::format(format, std::forward<Args>(args)...));
}

FieldPath PathOf(std::string_view text) { return *FieldPath::Parse(text); }

Status CheckPath(const Value& value, bool elements_allowed) {
  if (!value.is_string()) {
    return Invalid("expected the path of a field, found {}", json::TypeName(value.type()));
  }
  ASSIGN_OR_RETURN(const FieldPath path, FieldPath::Parse(value.AsString()));
  if (path.has_elements() && !elements_allowed) {
    return Invalid("'{}': expected the path of one field", value.AsString());
  }
  return OkStatus();
}

Status CheckName(const Value& value) {
  if (!value.is_string() || value.AsString().empty()) return Invalid("expected a name");
  return OkStatus();
}

// Argument names: those in `needed` must be there, no others than both lists.
Status CheckKeys(const Value& arguments, std::vector<std::string_view> needed,
                 const std::vector<std::string_view>& others) {
  if (!arguments.is_object()) return Invalid("expected a map");
  for (const std::string_view name : needed) {
    if (arguments.Find(name) == nullptr) return Invalid("'{}' is missing", name);
  }
  needed.insert(needed.end(), others.begin(), others.end());
  for (const json::Field& field : arguments.fields()) {
    if (std::find(needed.begin(), needed.end(), field.name()) == needed.end()) {
      return Invalid("there is no argument '{}'; expected {}", field.name(),
                     fmt::join(needed, ", "));
    }
  }
  return OkStatus();
}

Status CheckNames(const Value& list) {
  if (list.size() < 2 || !list.is_array()) return Invalid("expected a list of two or more names");
  for (const Value& item : list.items()) RETURN_IF_ERROR(CheckName(item));
  return OkStatus();
}

Status CheckBy(const Value& by) {
  if (by.is_missing() || (by.is_string() && !by.AsString().empty())) return OkStatus();
  return Invalid("by: expected a text");
}

std::string_view ByOf(const Value& arguments) {
  const Value* const by = arguments.Find("by");
  return by == nullptr ? " " : by->AsString();
}

Status CheckPairs(const Value& arguments, Kind kind) {
  if (!arguments.is_object() || arguments.size() == 0) return Invalid("expected a map");
  for (const json::Field& field : arguments.fields()) {
    RETURN_IF_ERROR(CheckPath(field.key, true));
    if (kind == Kind::kRename) RETURN_IF_ERROR(CheckName(field.value));
    if (kind == Kind::kCast) RETURN_IF_ERROR(CheckCast(field.value));
  }
  return OkStatus();
}

Status CheckWrap(const MigrationStep& step) {
  const Value& arguments = step.arguments;
  const bool wrap = step.kind == Kind::kWrap;
  RETURN_IF_ERROR(CheckKeys(arguments, {"path"},
                            wrap ? std::vector<std::string_view>{"to", "as", "with"}
                                 : std::vector<std::string_view>{"to", "as"}));
  RETURN_IF_ERROR(CheckPath(arguments["path"], true));
  if (!arguments["to"].is_missing()) RETURN_IF_ERROR(CheckName(arguments["to"]));
  if (!arguments["as"].is_missing()) RETURN_IF_ERROR(CheckName(arguments["as"]));
  const Value& with = arguments["with"];
  if (!with.is_missing() && !with.is_object()) return Invalid("with: expected a map");
  if (with.is_object() && arguments["as"].is_missing()) return Invalid("'with' needs 'as'");
  return OkStatus();
}

Status CheckDrop(const Value& arguments) {
  if (!arguments.is_array()) return CheckPath(arguments, true);
  if (arguments.size() == 0) return Invalid("expected the paths of fields");
  for (const Value& item : arguments.items()) RETURN_IF_ERROR(CheckPath(item, true));
  return OkStatus();
}

// Puts fields in the place of one of the object's.
void ReplaceField(Value* object, std::string_view name, const std::vector<json::Field>& fields) {
  Value out = Value::EmptyObject();
  for (const json::Field& field : object->fields()) {
    if (field.name() != name) {
      out.Set(field.name(), field.value);
      continue;
    }
    for (const json::Field& added : fields) out.Set(added.name(), added.value);
  }
  *object = std::move(out);
}

Status CheckFree(const Value& object, std::string_view name, std::string_view old) {
  if (name == old || object.Find(name) == nullptr) return OkStatus();
  return Mismatch("'{}' can't become '{}': there is such a field already", old, name);
}

Status Rename(const Value& arguments, Value* document) {
  for (const json::Field& pair : arguments.fields()) {
    const FieldPath path = PathOf(pair.name());
    const std::string_view to = pair.value.AsString();
    RETURN_IF_ERROR(path.ForEachParent(document, [&](Value* parent) -> Status {
      const Value* const value = parent->Find(path.name());
      if (value == nullptr) return OkStatus();
      RETURN_IF_ERROR(CheckFree(*parent, to, path.name()));
      ReplaceField(parent, path.name(), {{to, *value}});
      return OkStatus();
    }));
  }
  return OkStatus();
}

Status Move(const Value& arguments, Value* document) {
  const FieldPath from = PathOf(arguments["from"].AsString());
  const FieldPath to = PathOf(arguments["to"].AsString());
  Value value = from.Get(*document);
  if (value.is_missing()) return OkStatus();
  if (!to.Get(*document).is_missing()) {
    return Mismatch("'{}' can't be moved: there is a '{}' already", arguments["from"].AsString(),
                    arguments["to"].AsString());
  }
  RETURN_IF_ERROR(from.ForEachParent(document, [&](Value* parent) -> Status {
    parent->Remove(from.name());
    return OkStatus();
  }));
  return to.Set(document, std::move(value));
}

Status Split(const Value& arguments, Value* document) {
  const FieldPath path = PathOf(arguments["from"].AsString());
  const std::string_view by = ByOf(arguments);
  return path.ForEachParent(document, [&](Value* parent) -> Status {
    const Value* const value = parent->Find(path.name());
    if (value == nullptr) return OkStatus();
    if (!value->is_string()) {
      return Mismatch("split: expected a string at '{}', found {}", path.name(),
                      json::TypeName(value->type()));
    }
    std::string_view rest = value->AsString();
    std::vector<json::Field> parts;
    const auto names = arguments["to"].items();
    for (size_t i = 0; i < names.size(); ++i) {
      RETURN_IF_ERROR(CheckFree(*parent, names[i].AsString(), path.name()));
      const size_t end = i + 1 == names.size() ? std::string_view::npos : rest.find(by);
      parts.push_back({names[i], rest.substr(0, end)});
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + by.size());
    }
    ReplaceField(parent, path.name(), parts);
    return OkStatus();
  });
}

Status Join(const Value& arguments, Value* document) {
  const auto names = arguments["from"].items();
  const std::string_view to = arguments["to"].AsString();
  std::string joined;
  std::string_view first;
  for (const Value& name : names) {
    const Value* const part = document->Find(name.AsString());
    if (part == nullptr) continue;
    if (!part->is_string()) {
      return Mismatch("join: expected a string at '{}', found {}", name.AsString(),
                      json::TypeName(part->type()));
    }
    if (!first.empty()) joined += ByOf(arguments);
    if (first.empty()) first = name.AsString();
    joined += part->AsString();
  }
  if (first.empty()) return OkStatus();
  for (const Value& name : names) {
    if (name.AsString() == to) return Mismatch("join: '{}' is one of the parts", to);
  }
  RETURN_IF_ERROR(CheckFree(*document, to, first));
  ReplaceField(document, first, {{to, joined}});
  for (const Value& name : names) document->Remove(name.AsString());
  return OkStatus();
}

Value Wrapped(const Value& arguments, const Value& value) {
  const Value* const as = arguments.Find("as");
  if (as == nullptr) return Value::Array({value});
  Value element = arguments["with"].is_object() ? arguments["with"] : Value::EmptyObject();
  element.Set(as->AsString(), value);
  return Value::Array({element});
}

// Missing for an array without elements.
Result<Value> Unwrapped(const Value& arguments, const Value& value) {
  if (!value.is_array()) {
    return Unexpected(
        Mismatch("unwrap: expected an array, found {}", json::TypeName(value.type())));
  }
  const Value* const as = arguments.Find("as");
  if (value.size() == 0 || as == nullptr) return value[0];
  return value[0][as->AsString()];
}

Status Wrap(const MigrationStep& step, Value* document) {
  const FieldPath path = PathOf(step.arguments["path"].AsString());
  const Value* const new_name = step.arguments.Find("to");
  const std::string to = new_name == nullptr ? path.name() : std::string(new_name->AsString());
  return path.ForEachParent(document, [&](Value* parent) -> Status {
    const Value* const value = parent->Find(path.name());
    if (value == nullptr) return OkStatus();
    RETURN_IF_ERROR(CheckFree(*parent, to, path.name()));
    Value made;
    if (step.kind == Kind::kWrap) {
      made = Wrapped(step.arguments, *value);
    } else {
      ASSIGN_OR_RETURN(made, Unwrapped(step.arguments, *value));
    }
    ReplaceField(parent, path.name(), {{to, made}});
    return OkStatus();
  });
}

Status SetDefaults(const Value& arguments, Value* document) {
  for (const json::Field& pair : arguments.fields()) {
    const FieldPath path = PathOf(pair.name());
    if (!path.has_elements()) {
      if (path.Get(*document).is_missing()) RETURN_IF_ERROR(path.Set(document, pair.value));
      continue;
    }
    RETURN_IF_ERROR(path.ForEachParent(document, [&](Value* parent) -> Status {
      if (parent->Find(path.name()) == nullptr) parent->Set(path.name(), pair.value);
      return OkStatus();
    }));
  }
  return OkStatus();
}

Status Drop(const Value& arguments, Value* document) {
  if (arguments.is_array()) {
    for (const Value& item : arguments.items()) RETURN_IF_ERROR(Drop(item, document));
    return OkStatus();
  }
  const FieldPath path = PathOf(arguments.AsString());
  return path.ForEachParent(document, [&](Value* parent) -> Status {
    parent->Remove(path.name());
    return OkStatus();
  });
}

Status CastAll(const Value& arguments, Value* document) {
  for (const json::Field& pair : arguments.fields()) {
    const FieldPath path = PathOf(pair.name());
    RETURN_IF_ERROR(path.ForEachParent(document, [&](Value* parent) -> Status {
      const Value* const value = parent->Find(path.name());
      if (value == nullptr || value->is_null()) return OkStatus();
      Result<Value> made = Cast(*value, pair.value.AsString());
      if (!made) return made.error().Prefixed(fmt::format("cast of '{}'", pair.name()));
      parent->Set(path.name(), std::move(*made));
      return OkStatus();
    }));
  }
  return OkStatus();
}

}  // namespace

Status CheckStep(const MigrationStep& step) {
  const Value& arguments = step.arguments;
  switch (step.kind) {
    case Kind::kRename:
    case Kind::kDefault:
    case Kind::kCast:
      return CheckPairs(arguments, step.kind);
    case Kind::kMove:
      RETURN_IF_ERROR(CheckKeys(arguments, {"from", "to"}, {}));
      RETURN_IF_ERROR(CheckPath(arguments["from"], false));
      return CheckPath(arguments["to"], false);
    case Kind::kSplit:
      RETURN_IF_ERROR(CheckKeys(arguments, {"from", "to"}, {"by"}));
      RETURN_IF_ERROR(CheckPath(arguments["from"], true));
      RETURN_IF_ERROR(CheckBy(arguments["by"]));
      return CheckNames(arguments["to"]);
    case Kind::kJoin:
      RETURN_IF_ERROR(CheckKeys(arguments, {"from", "to"}, {"by"}));
      RETURN_IF_ERROR(CheckName(arguments["to"]));
      RETURN_IF_ERROR(CheckBy(arguments["by"]));
      return CheckNames(arguments["from"]);
    case Kind::kWrap:
    case Kind::kUnwrap:
      return CheckWrap(step);
    case Kind::kDrop:
      return CheckDrop(arguments);
  }
  return OkStatus();
}

Status ApplyStep(const MigrationStep& step, Value* document) {
  switch (step.kind) {
    case Kind::kRename:
      return Rename(step.arguments, document);
    case Kind::kMove:
      return Move(step.arguments, document);
    case Kind::kSplit:
      return Split(step.arguments, document);
    case Kind::kJoin:
      return Join(step.arguments, document);
    case Kind::kWrap:
    case Kind::kUnwrap:
      return Wrap(step, document);
    case Kind::kDefault:
      return SetDefaults(step.arguments, document);
    case Kind::kDrop:
      return Drop(step.arguments, document);
    case Kind::kCast:
      return CastAll(step.arguments, document);
  }
  return OkStatus();
}

}  // namespace sluice::doctype
