#include "flow/mapping.h"

#include <utility>

#include "flow/text_form.h"
#include "json/print.h"

namespace sluice::flow {
namespace {

using json::Value;

void Complain(const Scope& scope, const Mapping& mapping, std::string_view side,
              std::string_view expected, const Value& actual) {
  scope.complaints->push_back(fmt::format("Invalid {} mapping '{}', expect: {}, Actual: {}", side,
                                          mapping.text, expected, TypeNameOf(actual)));
}

// Headers are texts; nothing removes one.
void SetHeader(std::string_view key, const Value& value, Value* headers) {
  if (value.is_missing() || value.is_null()) {
    headers->Remove(key);
  } else {
    headers->Set(key, TextOf(value));
  }
}

void SetHeaders(const Mapping& mapping, const Scope& scope, std::string_view side,
                const Value& value, Value* headers) {
  if (!value.is_object()) {
    if (!value.is_missing()) Complain(scope, mapping, side, "Map", value);
    return;
  }
  for (const json::Field& field : value.fields()) SetHeader(field.name(), field.value, headers);
}

std::string BytesOf(const Value& value) {
  return value.is_bytes() ? std::string(value.AsBytes()) : TextOf(value);
}

void WriteFile(const Mapping& mapping, const Scope& scope, const Value& value) {
  if (scope.files == nullptr) return;
  const std::string path = mapping.to.content.Text(scope.view);
  const Status done = value.is_missing() || value.is_null()
                          ? scope.files->Remove(path)
                          : scope.files->Write(path, BytesOf(value), mapping.to.mode);
  if (!done.ok()) scope.complaints->push_back(done.ToString());
}

void SetStatus(const Mapping& mapping, const Scope& scope, const Value& value, Mapped* mapped) {
  const auto status = WholeNumberOf(value);
  if (status && *status >= 100 && *status <= 599) {
    mapped->status = static_cast<int>(*status);
  } else if (!value.is_missing()) {
    scope.complaints->push_back(
        fmt::format("Invalid output mapping '{}', expect: a status from 100 to 599, Actual: {}",
                    mapping.text, TextOf(value)));
  }
}

// A path below the function's body or the output's: the whole, when it is empty.
Status SetAt(const Path& path, const ModelView& view, Value value, Value* root) {
  if (path.empty()) {
    RETURN_IF_ERROR(CheckSize(value));
    *root = std::move(value);
    return OkStatus();
  }
  return path.Set(root, view, std::move(value));
}

// A first key with `{model.x}` in it is only known now.
Status CheckDynamicKey(const Mapping& mapping, const Scope& scope) {
  const Step& first = mapping.to.path.steps().front();
  if (first.kind != Step::Kind::kTextKey) return OkStatus();
  const std::string key = first.text->Text(scope.view);
  if (!IsReservedKey(key) && key != "parent" && key != "root") return OkStatus();
  return Error(Code::kInvalidArgument, "flow.reserved_key",
               "'{}' overwrites the reserved state-machine key '{}'", mapping.text, key);
}

Status Put(const Mapping& mapping, const Scope& scope, const Writable& to, Value value) {
  Mapped& mapped = *to.mapped;
  const Target& target = mapping.to;
  switch (target.space) {
    case TargetSpace::kBody:
      if (value.is_missing()) return OkStatus();
      if (mapped.body.is_object()) {
        return target.path.Set(&mapped.body, scope.view, std::move(value));
      }
      // A list or a text that is the whole body has no keys.
      Complain(scope, mapping, "input", "Map", mapped.body);
      return OkStatus();
    case TargetSpace::kWholeBody:
      if (value.is_missing() || value.is_null()) return OkStatus();
      RETURN_IF_ERROR(CheckSize(value));
      mapped.body = std::move(value);
      return OkStatus();
    case TargetSpace::kHeaders:
      SetHeaders(mapping, scope, "input", value, &mapped.headers);
      return OkStatus();
    case TargetSpace::kOutputHeaders:
      SetHeaders(mapping, scope, "output", value, &mapped.headers);
      return OkStatus();
    case TargetSpace::kHeader:
      if (value.is_missing()) return OkStatus();
      [[fallthrough]];
    case TargetSpace::kOutputHeader:
      SetHeader(target.content.Text(scope.view), value, &mapped.headers);
      return OkStatus();
    case TargetSpace::kModel:
      RETURN_IF_ERROR(CheckDynamicKey(mapping, scope));
      return target.path.Set(to.model, scope.view, std::move(value));
    case TargetSpace::kShared:
      return target.path.Set(to.shared, scope.view, std::move(value));
    case TargetSpace::kExternal:
      if (value.is_null()) value = Value();
      mapped.externals.push_back({target.content.Text(scope.view), std::move(value)});
      return OkStatus();
    case TargetSpace::kOutputBody:
      return SetAt(target.path, scope.view, std::move(value), &mapped.output);
    case TargetSpace::kOutputStatus:
      SetStatus(mapping, scope, value, &mapped);
      return OkStatus();
    case TargetSpace::kDecision:
      mapped.decision = std::move(value);
      return OkStatus();
    case TargetSpace::kFile:
      WriteFile(mapping, scope, value);
      return OkStatus();
  }
  return OkStatus();
}

}  // namespace

Status RunMappings(const std::vector<Mapping>& mappings, const Scope& scope, const Writable& to) {
  for (const Mapping& mapping : mappings) {
    ASSIGN_OR_RETURN(Value value, Evaluate(mapping.from, scope));
    if (mapping.to.conversion) {
      value = mapping.to.conversion->Apply(value, scope.view, mapping.from.text, scope.complaints);
    }
    if (mapping.to.negated) value = Value(!IsTrue(value));
    RETURN_IF_ERROR(Put(mapping, scope, to, std::move(value)));
  }
  return OkStatus();
}

}  // namespace sluice::flow
