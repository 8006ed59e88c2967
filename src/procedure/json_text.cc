#include "procedure/json_text.h"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/utf8.h"
#include "db/row.h"
#include "json/print.h"
#include "lua/convert.h"
#include "procedure/arguments.h"

namespace sluice::procedure {
namespace {

using json::Value;

constexpr int64_t kFailedUtf8 = 2;
constexpr int64_t kCutUtf8 = 4;
constexpr int64_t kHexUtf8 = 8;

// {"type": text, "value"?}: what stands for one value. In a table of the user's own the type is
// annotated itself, so that it is no text.
bool IsLeaf(const Value& value) { return value.is_object() && value["type"].is_string(); }

std::string_view ValidPart(std::string_view text) {
  size_t end = 0;
  for (size_t i = 1; i <= text.size(); ++i) {
    if (IsValidUtf8(text.substr(end, i - end))) end = i;
    if (i - end >= 4) break;  // no character is that long
  }
  return text.substr(0, end);
}

class Writer {
 public:
  explicit Writer(const JsonOptions& options) : options_(options) {}

  Value Write(const Value& value) {
    if (value.is_array()) {
      Value made = Value::EmptyArray();
      for (const Value& item : value.items()) made.Append(Write(item));
      return made;
    }
    if (!value.is_object()) return value;
    if (IsLeaf(value)) return Leaf(value);
    Value made = Value::EmptyObject();
    for (const json::Field& field : value.fields()) made.Set(field.name(), Write(field.value));
    return made;
  }

  JsonText Finish(const Value& value) const {
    return {.ok = code_ != kFailedUtf8, .text = json::ToText(value), .code = code_};
  }

 private:
  Value Leaf(const Value& leaf) {
    const std::string_view type = leaf["type"].AsString();
    Value value = leaf["value"];
    if (type == "string" && value.is_bytes()) value = Text(value.AsBytes());
    if (value.is_double() && options_.quote_special && !std::isfinite(value.AsDouble())) {
      value = Value(std::isnan(value.AsDouble()) ? "nan" : value.AsDouble() < 0 ? "-inf" : "inf");
    }
    if (!options_.type_annotate) return value.is_missing() ? Value(nullptr) : value;
    if (!leaf["text"].is_missing()) value = leaf["text"];
    Value made = Value::Object({{"type", leaf["type"]}});
    if (!value.is_missing()) made.Set("value", std::move(value));
    return made;
  }

  Value Text(std::string_view bytes) {
    using Mode = JsonOptions::InvalidUtf8;
    switch (options_.invalid_utf8) {
      case Mode::kDefault:
        break;
      case Mode::kFail:
        code_ = kFailedUtf8;
        break;
      case Mode::kTruncate:
        code_ = kCutUtf8;
        return Value(ValidPart(bytes));
      case Mode::kHex:
        code_ = kHexUtf8;
        break;
    }
    return Value(ToHex(bytes));
  }

  const JsonOptions options_;
  int64_t code_ = 0;
};

}  // namespace

Result<JsonOptions> JsonOptionsOf(const Value& given) {
  JsonOptions options;
  if (given.is_missing()) return options;
  for (const json::Field& field : given.fields()) {
    const Value& value = field.value;
    if (field.name() == "type_annotate" && value.is_bool()) {
      options.type_annotate = value.AsBool();
    } else if (field.name() == "quote_special_fp_values" && value.is_bool()) {
      options.quote_special = value.AsBool();
    } else if (field.name() == "invalid_utf8" && value == Value("fail")) {
      options.invalid_utf8 = JsonOptions::InvalidUtf8::kFail;
    } else if (field.name() == "invalid_utf8" && value == Value("truncate")) {
      options.invalid_utf8 = JsonOptions::InvalidUtf8::kTruncate;
    } else if (field.name() == "invalid_utf8" && value == Value("hex")) {
      options.invalid_utf8 = JsonOptions::InvalidUtf8::kHex;
    } else {
      return Unexpected(BadArgument("the options of JSON",
                                    "type_annotate and quote_special_fp_values as booleans, "
                                    "invalid_utf8 as 'fail', 'truncate' or 'hex'"));
    }
  }
  return options;
}

JsonText TextOfAnnotated(const Value& value, const JsonOptions& options) {
  Writer writer(options);
  const Value written = writer.Write(value);
  return writer.Finish(written);
}

Result<Value> FromAnnotated(const Value& value, const lua::Zone& zone) {
  if (value.is_array()) {
    Value made = Value::EmptyArray();
    for (const Value& item : value.items()) {
      ASSIGN_OR_RETURN(Value read, FromAnnotated(item, zone));
      made.Append(std::move(read));
    }
    return made;
  }
  if (!value.is_object()) return value;
  if (IsLeaf(value)) {
    const Value& leaf = value["value"];
    if (leaf.is_missing()) return Value(nullptr);
    const std::string_view type = value["type"].AsString();
    if (type == "blob" && leaf.is_string()) {
      return db::LoadColumn(db::ColumnType::kBlob, leaf);
    }
    if (type == "boolean" || type == "string") return leaf;
    const auto known = lua::DataTypeNamed(type == "number" ? "real" : type);
    return known ? lua::Convert(leaf, *known, zone) : leaf;
  }
  Value made = Value::EmptyObject();
  for (const json::Field& field : value.fields()) {
    ASSIGN_OR_RETURN(Value read, FromAnnotated(field.value, zone));
    made.Set(field.name(), std::move(read));
  }
  return made;
}

}  // namespace sluice::procedure
