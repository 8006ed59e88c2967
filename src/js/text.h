// Text between C++ and V8.
#pragma once

#include <string>
#include <string_view>

#include <v8.h>

namespace sluice::js {

// UTF-8 in, as it comes from documents. Plain ASCII, which most is, costs half. Text that is too
// long for V8 (512 MB) becomes empty; nothing that long gets here.
v8::Local<v8::String> NewText(v8::Isolate* isolate, std::string_view text);
std::string TextOf(v8::Isolate* isolate, v8::Local<v8::String> text);
// The text of any value, as String(value) gives it; "" if that throws.
std::string TextOf(v8::Isolate* isolate, v8::Local<v8::Context> context,
                   v8::Local<v8::Value> value);

}  // namespace sluice::js
