#include "js/makers.h"

#include <cmath>
#include <functional>

#include "js/text.h"
#include "json/print.h"

namespace sluice::js {
namespace {

constexpr int kTimesToKnow = 4;
constexpr size_t kMostNameBytes = 64;
// A literal with this name has another prototype, not a property.
constexpr std::string_view kProto = "__proto__";

// False when there can be no function for it.
bool NamesOf(const json::Value& object, std::string* names) {
  names->clear();
  if (object.size() > static_cast<size_t>(Makers::kMostFields)) return false;
  for (const json::Field& field : object.fields()) {
    const std::string_view name = field.name();
    if (name.size() > kMostNameBytes || name == kProto) return false;
    names->push_back(static_cast<char>(name.size()));
    names->append(name);
  }
  return true;
}

}  // namespace

v8::MaybeLocal<v8::Value> Makers::Make(v8::Local<v8::Context> context, const json::Value& value) {
  switch (value.type()) {
    case json::Type::kMissing:
      return v8::Undefined(isolate_);
    case json::Type::kNull:
      return v8::Null(isolate_);
    case json::Type::kBool:
      return v8::Boolean::New(isolate_, value.AsBool());
    case json::Type::kInt:
      return v8::Number::New(isolate_, value.ToDouble());
    case json::Type::kDouble:
      return MakeNumber(value);
    case json::Type::kString:
      return NewText(isolate_, value.AsString());
    case json::Type::kObject:
      return MakeObject(context, value);
    default:
      return v8::JSON::Parse(context, NewText(isolate_, json::ToText(value)));
  }
}

// The number of its literal text.
v8::Local<v8::Value> Makers::MakeNumber(const json::Value& value) const {
  const double number = value.ToDouble();
  if (!value.literal().empty()) return v8::Number::New(isolate_, number);
  if (!std::isfinite(number)) return v8::Null(isolate_);
  return v8::Number::New(isolate_, number + 0.0);  // no -0
}

v8::MaybeLocal<v8::Value> Makers::MakeObject(v8::Local<v8::Context> context,
                                             const json::Value& object) {
  if (object.size() == 0) return v8::Object::New(isolate_);
  v8::Local<v8::Value> pieces[kMostPieces];
  const int count = Take(context, object, pieces);
  if (count == 0) return {};
  if (pieces[0]->IsUndefined()) return pieces[1];
  return pieces[0].As<v8::Function>()->Call(context, v8::Undefined(isolate_), count - 1,
                                            pieces + 1);
}

int Makers::Take(v8::Local<v8::Context> context, const json::Value& value,
                 v8::Local<v8::Value>* pieces) {
  const bool has_fields = value.is_object() && value.size() > 0;
  const v8::Local<v8::Function> make =
      has_fields ? Find(context, value) : v8::Local<v8::Function>();
  if (make.IsEmpty()) {
    pieces[0] = v8::Undefined(isolate_);
    const auto made = has_fields ? v8::JSON::Parse(context, NewText(isolate_, json::ToText(value)))
                                 : Make(context, value);
    return made.ToLocal(&pieces[1]) ? 2 : 0;
  }
  pieces[0] = make;
  int count = 1;
  for (const json::Field& field : value.fields()) {
    if (!Make(context, field.value).ToLocal(&pieces[count++])) return 0;
  }
  return count;
}

v8::Local<v8::Function> Makers::Find(v8::Local<v8::Context> context, const json::Value& object) {
  if (!NamesOf(object, &names_)) return {};
  if (shapes_[last_].names == names_ && !shapes_[last_].make.IsEmpty()) {
    return shapes_[last_].make.Get(isolate_);
  }
  last_ = std::hash<std::string_view>()(names_) % shapes_.size();
  Shape& shape = shapes_[last_];
  if (shape.names != names_ || shape.seen == 0) {
    // A shape that is known stays.
    if (shape.seen < kTimesToKnow) shape = {names_, 1, {}};
    return {};
  }
  if (!shape.make.IsEmpty()) return shape.make.Get(isolate_);
  if (++shape.seen == kTimesToKnow) shape.make.Reset(isolate_, Compile(context, object));
  return {};
}

// (a, b) => ({ "first": a, "second": b })
v8::Local<v8::Function> Makers::Compile(v8::Local<v8::Context> context,
                                        const json::Value& object) const {
  const v8::TryCatch caught(isolate_);  // the isolate may have been stopped
  std::string text = "return {";
  v8::Local<v8::String> parameters[kMostFields];
  int count = 0;
  for (const json::Field& field : object.fields()) {
    const char parameter[] = {static_cast<char>('a' + count), '\0'};
    json::AppendQuoted(field.name(), &text);
    text.append(":").append(parameter).append(",");
    parameters[count++] = NewText(isolate_, parameter);
  }
  v8::ScriptCompiler::Source source(NewText(isolate_, text + "}"));
  v8::Local<v8::Function> made;
  if (!v8::ScriptCompiler::CompileFunction(context, &source, static_cast<size_t>(count), parameters)
           .ToLocal(&made)) {
    return {};
  }
  return made;
}

}  // namespace sluice::js
