#include "json/merge_patch.h"

#include <utility>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::json {

Value MergePatch(Value target, const Value& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = Value::EmptyObject();
  for (const Field& field : patch.fields()) {
    if (field.value.is_null()) {
      target.Remove(field.name());
    } else if (Value* existing = target.MutableField(field.name())) {
      *existing = MergePatch(std::exchange(*existing, Value()), field.value);
    } else {
      target.Set(field.name(), MergePatch(Value(), field.value));
    }
  }
  return target;
}

Result<std::string> MergePatchText(std::string_view document, std::string_view patch) {
  ASSIGN_OR_RETURN(Value target, Parse(document));
  const Result<Value> changes = Parse(patch);
  if (!changes) return Unexpected(changes.error().Prefixed("patch"));
  return ToText(MergePatch(std::move(target), *changes));
}

}  // namespace sluice::json
