// A native function's call, as V8 gives it.
// Thread: the runtime's, with the isolate locked; lives for one call.
#pragma once

#include <v8.h>

#include "script/call.h"

namespace sluice::js {

// The isolate's data slot with a pointer to the id (int) of the program's script.
inline constexpr uint32_t kProgramSlot = 0;
inline constexpr uint32_t kRuntimeSlot = 1;

class NativeCall final : public script::Call {
 public:
  explicit NativeCall(const v8::FunctionCallbackInfo<v8::Value>& info)
      : info_(info), isolate_(info.GetIsolate()), context_(isolate_->GetCurrentContext()) {}

  size_t size() const override { return static_cast<size_t>(info_.Length()); }
  script::Kind kind(size_t index) const override;
  bool Boolean(size_t index) const override;
  double Number(size_t index) const override;
  std::string String(size_t index) const override;
  std::string_view Bytes(size_t index) const override;
  int Line() const override;

  using script::Call::Return;
  void ReturnNull() override;
  void Return(bool value) override;
  void Return(double value) override;
  void Return(std::string_view text) override;
  void ReturnJson(std::string_view text) override;
  void ReturnBytes(std::string_view bytes) override;
  void ReturnList(const std::vector<script::Argument>& values) override;
  void Throw(std::string_view type, std::string_view message, std::string_view detail) override;

 private:
  v8::Local<v8::Value> At(size_t index) const { return info_[static_cast<int>(index)]; }

  const v8::FunctionCallbackInfo<v8::Value>& info_;
  v8::Isolate* const isolate_;
  const v8::Local<v8::Context> context_;
};

// A value for JavaScript; empty with a pending exception when it can't be made.
v8::MaybeLocal<v8::Value> ToValue(v8::Isolate* isolate, v8::Local<v8::Context> context,
                                  const script::Argument& argument);

}  // namespace sluice::js
