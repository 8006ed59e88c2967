#include "js/native_call.h"

#include <cstring>

#include "base/check.h"
#include "js/text.h"

namespace sluice::js {
namespace {

v8::MaybeLocal<v8::Value> NewBuffer(v8::Isolate* isolate, std::string_view bytes) {
  // The constructor from a length ends the process when memory is refused; this one does not.
  void* const data = isolate->GetArrayBufferAllocator()->AllocateUninitialized(bytes.size());
  if (data == nullptr && !bytes.empty()) {
    isolate->ThrowException(
        v8::Exception::RangeError(NewText(isolate, "Array buffer allocation failed")));
    return {};
  }
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  auto store = v8::ArrayBuffer::NewBackingStore(
      data, bytes.size(),
      [](void* freed, size_t size, void* allocator) {
        static_cast<v8::ArrayBuffer::Allocator*>(allocator)->Free(freed, size);
      },
      isolate->GetArrayBufferAllocator());
  return v8::ArrayBuffer::New(isolate, std::move(store));
}

struct Converter {
  v8::Isolate* isolate;
  v8::Local<v8::Context> context;

  v8::MaybeLocal<v8::Value> operator()(script::Undefined) const {
    return v8::Undefined(isolate).As<v8::Value>();
  }
  v8::MaybeLocal<v8::Value> operator()(script::Null) const {
    return v8::Null(isolate).As<v8::Value>();
  }
  v8::MaybeLocal<v8::Value> operator()(bool value) const {
    return v8::Boolean::New(isolate, value).As<v8::Value>();
  }
  v8::MaybeLocal<v8::Value> operator()(double value) const {
    return v8::Number::New(isolate, value).As<v8::Value>();
  }
  v8::MaybeLocal<v8::Value> operator()(std::string_view text) const {
    return NewText(isolate, text).As<v8::Value>();
  }
  v8::MaybeLocal<v8::Value> operator()(script::Json json) const {
    // Most often there is nothing to parse.
    if (json.text == "{}") return v8::Object::New(isolate);
    return v8::JSON::Parse(context, NewText(isolate, json.text));
  }
  v8::MaybeLocal<v8::Value> operator()(script::Bytes bytes) const {
    return NewBuffer(isolate, bytes.bytes);
  }
  v8::MaybeLocal<v8::Value> operator()(script::Pieces) const {
    CHECK(false);  // only calls have them
    return {};
  }
};

}  // namespace

v8::MaybeLocal<v8::Value> ToValue(v8::Isolate* isolate, v8::Local<v8::Context> context,
                                  const script::Argument& argument) {
  return std::visit(Converter{isolate, context}, argument);
}

script::Kind NativeCall::kind(size_t index) const {
  const v8::Local<v8::Value> value = At(index);
  if (value->IsUndefined()) return script::Kind::kUndefined;
  if (value->IsNull()) return script::Kind::kNull;
  if (value->IsBoolean()) return script::Kind::kBoolean;
  if (value->IsNumber()) return script::Kind::kNumber;
  if (value->IsString()) return script::Kind::kString;
  if (value->IsArrayBuffer()) return script::Kind::kBytes;
  if (value->IsFunction()) return script::Kind::kFunction;
  if (value->IsSymbol()) return script::Kind::kSymbol;
  if (value->IsBigInt()) return script::Kind::kBigInt;
  return script::Kind::kObject;
}

bool NativeCall::Boolean(size_t index) const { return At(index)->BooleanValue(isolate_); }

double NativeCall::Number(size_t index) const {
  return At(index)->IsNumber() ? At(index).As<v8::Number>()->Value() : 0;
}

std::string NativeCall::String(size_t index) const {
  return At(index)->IsString() ? TextOf(isolate_, At(index).As<v8::String>()) : "";
}

std::string_view NativeCall::Bytes(size_t index) const {
  if (!At(index)->IsArrayBuffer()) return {};
  const auto buffer = At(index).As<v8::ArrayBuffer>();
  return {static_cast<const char*>(buffer->Data()), buffer->ByteLength()};
}

int NativeCall::Line() const {
  constexpr int kMostFrames = 16;  // the library calls natives from a few
  const v8::HandleScope handles(isolate_);
  const auto* program = static_cast<const int*>(isolate_->GetData(kProgramSlot));
  const v8::Local<v8::StackTrace> stack =
      v8::StackTrace::CurrentStackTrace(isolate_, kMostFrames, v8::StackTrace::kOverview);
  for (int i = 0; i < stack->GetFrameCount(); ++i) {
    const v8::Local<v8::StackFrame> frame = stack->GetFrame(isolate_, static_cast<uint32_t>(i));
    if (frame->GetScriptId() == *program) return frame->GetLineNumber();
  }
  return 0;
}

void NativeCall::ReturnNull() { info_.GetReturnValue().SetNull(); }
void NativeCall::Return(bool value) { info_.GetReturnValue().Set(value); }
void NativeCall::Return(double value) { info_.GetReturnValue().Set(value); }
void NativeCall::Return(std::string_view text) {
  info_.GetReturnValue().Set(NewText(isolate_, text));
}

void NativeCall::ReturnJson(std::string_view text) {
  v8::Local<v8::Value> value;
  if (ToValue(isolate_, context_, script::Json{text}).ToLocal(&value)) {
    info_.GetReturnValue().Set(value);
  }
}

void NativeCall::ReturnBytes(std::string_view bytes) {
  v8::Local<v8::Value> value;
  if (NewBuffer(isolate_, bytes).ToLocal(&value)) info_.GetReturnValue().Set(value);
}

void NativeCall::ReturnList(const std::vector<script::Argument>& values) {
  std::vector<v8::Local<v8::Value>> items;
  items.reserve(values.size());
  for (const script::Argument& value : values) {
    v8::Local<v8::Value> item;
    if (!ToValue(isolate_, context_, value).ToLocal(&item)) return;
    items.push_back(item);
  }
  info_.GetReturnValue().Set(v8::Array::New(isolate_, items.data(), items.size()));
}

void NativeCall::Throw(std::string_view type, std::string_view message, std::string_view detail) {
  const v8::Local<v8::String> text = NewText(isolate_, message);
  v8::Local<v8::Value> error = v8::Exception::Error(text);
  v8::Local<v8::Value> made;
  v8::Local<v8::Value> constructor;
  if (context_->Global()->Get(context_, NewText(isolate_, type)).ToLocal(&constructor) &&
      constructor->IsFunction()) {
    v8::Local<v8::Value> argument = text;
    if (!detail.empty() && !ToValue(isolate_, context_, script::Json{detail}).ToLocal(&argument)) {
      return;
    }
    if (!constructor.As<v8::Function>()->NewInstance(context_, 1, &argument).ToLocal(&made)) return;
    error = made;
  }
  isolate_->ThrowException(error);
}

}  // namespace sluice::js
