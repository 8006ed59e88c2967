#include "js/text.h"

#include <algorithm>

namespace sluice::js {
namespace {

bool IsAscii(std::string_view text) {
  // Word by word, so that the compiler makes it wide.
  uint8_t any = 0;
  for (const char byte : text) any |= static_cast<uint8_t>(byte);
  return any < 0x80;
}

}  // namespace

v8::Local<v8::String> NewText(v8::Isolate* isolate, std::string_view text) {
  const auto size = static_cast<int>(std::min<size_t>(text.size(), v8::String::kMaxLength));
  v8::MaybeLocal<v8::String> made;
  if (IsAscii(text)) {
    made = v8::String::NewFromOneByte(isolate, reinterpret_cast<const uint8_t*>(text.data()),
                                      v8::NewStringType::kNormal, size);
  } else {
    made = v8::String::NewFromUtf8(isolate, text.data(), v8::NewStringType::kNormal, size);
  }
  return made.IsEmpty() ? v8::String::Empty(isolate) : made.ToLocalChecked();
}

std::string TextOf(v8::Isolate* isolate, v8::Local<v8::String> text) {
  std::string result;
  // Latin-1 with no byte above 0x7f is UTF-8 already. Look at the content, not at V8's form of the
  // string: its JSON.parse makes names with two bytes per character, and JSON.stringify keeps them.
  if (text->ContainsOnlyOneByte()) {
    result.resize(static_cast<size_t>(text->Length()));
    text->WriteOneByte(isolate, reinterpret_cast<uint8_t*>(result.data()), 0, text->Length(),
                       v8::String::NO_NULL_TERMINATION);
    if (IsAscii(result)) return result;
  }
  result.resize(static_cast<size_t>(text->Utf8Length(isolate)));
  text->WriteUtf8(isolate, result.data(), static_cast<int>(result.size()), nullptr,
                  v8::String::NO_NULL_TERMINATION | v8::String::REPLACE_INVALID_UTF8);
  return result;
}

std::string TextOf(v8::Isolate* isolate, v8::Local<v8::Context> context,
                   v8::Local<v8::Value> value) {
  v8::Local<v8::String> text;
  if (!value->ToString(context).ToLocal(&text)) return "";
  return TextOf(isolate, text);
}

}  // namespace sluice::js
