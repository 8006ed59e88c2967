// Objects that a script gets again and again with other values, as flows give them: for the names
// of such an object there is a JavaScript function that makes it of its values, which is faster
// than reading it from text. Names count as known when they have come a few times.
// Thread: the runtime's, with the isolate locked.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <v8.h>

#include "json/value.h"

namespace sluice::js {

class Makers {
 public:
  static constexpr int kMostFields = 8;

  explicit Makers(v8::Isolate* isolate) : isolate_(isolate) {}

  // The value for JavaScript; empty with a pending exception when it can't be made.
  v8::MaybeLocal<v8::Value> Make(v8::Local<v8::Context> context, const json::Value& value);
  // It in pieces (script::Pieces), of which there are kMostPieces at most. Their number; 0 with a
  // pending exception.
  static constexpr int kMostPieces = 1 + kMostFields;
  int Take(v8::Local<v8::Context> context, const json::Value& value, v8::Local<v8::Value>* pieces);

 private:
  struct Shape {
    std::string names;  // one after the other, each with its length before it
    int seen = 0;
    v8::Global<v8::Function> make;
  };

  v8::Local<v8::Value> MakeNumber(const json::Value& value) const;
  v8::MaybeLocal<v8::Value> MakeObject(v8::Local<v8::Context> context, const json::Value& object);
  // The function that makes an object with these names from their values, in order; empty if there
  // is no such function.
  v8::Local<v8::Function> Find(v8::Local<v8::Context> context, const json::Value& object);
  v8::Local<v8::Function> Compile(v8::Local<v8::Context> context, const json::Value& object) const;

  v8::Isolate* const isolate_;
  std::array<Shape, 64> shapes_;  // by a hash of their names
  std::string names_;             // of the object that is looked for
  size_t last_ = 0;               // where the one before it was
};

}  // namespace sluice::js
