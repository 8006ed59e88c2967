#include "js/syntax_check.h"

#include <v8.h>

#include "js/engine.h"
#include "js/text.h"
#include "script/call.h"

namespace sluice::js {

class SyntaxChecker::Impl {
 public:
  Impl() : buffers_(v8::ArrayBuffer::Allocator::NewDefaultAllocator()) {
    StartEngine();
    v8::Isolate::CreateParams parameters;
    parameters.array_buffer_allocator = buffers_.get();
    isolate_ = v8::Isolate::New(parameters);
    const v8::Isolate::Scope scope(isolate_);
    const v8::HandleScope handles(isolate_);
    context_.Reset(isolate_, v8::Context::New(isolate_));
  }

  ~Impl() {
    context_.Reset();
    isolate_->Dispose();
  }

  script::Outcome Check(const Source& source, bool declare) {
    const v8::Isolate::Scope scope(isolate_);
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    isolate_->SetStackLimit(here - script::Limits{}.stack_bytes);
    const v8::HandleScope handles(isolate_);
    const v8::Local<v8::Context> context = context_.Get(isolate_);
    const v8::Context::Scope inside(context);
    const v8::TryCatch caught(isolate_);
    v8::ScriptOrigin origin(isolate_, NewText(isolate_, source.name), source.first_line - 1);
    v8::Local<v8::Script> script;
    if (v8::Script::Compile(context, NewText(isolate_, source.text), &origin).ToLocal(&script) &&
        (!declare || !script->Run(context).IsEmpty())) {
      return {};
    }
    script::Outcome outcome;
    outcome.ended = script::Ended::kThrew;
    outcome.message = TextOf(isolate_, context, caught.Exception());
    if (!caught.Message().IsEmpty()) {
      outcome.place.line = caught.Message()->GetLineNumber(context).FromMaybe(0);
      outcome.place.column = caught.Message()->GetStartColumn(context).FromMaybe(-1) + 1;
    }
    return outcome;
  }

 private:
  const std::unique_ptr<v8::ArrayBuffer::Allocator> buffers_;
  v8::Isolate* isolate_ = nullptr;
  v8::Global<v8::Context> context_;
};

SyntaxChecker::SyntaxChecker() : impl_(std::make_unique<Impl>()) {}
SyntaxChecker::~SyntaxChecker() = default;

script::Outcome SyntaxChecker::Compile(const Source& source) { return impl_->Check(source, false); }
script::Outcome SyntaxChecker::Declare(const Source& source) { return impl_->Check(source, true); }

}  // namespace sluice::js
