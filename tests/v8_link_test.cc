// Proves that the V8 of scripts/deps.sh can be compiled against, linked and run: the headers are of
// the version that the library has (another Node.js on the machine may bring other headers, which
// compile and link, and corrupt memory), the library is found without environment variables, and an
// isolate evaluates a script.
#include <cstdio>
#include <cstring>
#include <memory>

#include <libplatform/libplatform.h>
#include <v8.h>

static_assert(V8_MAJOR_VERSION == 10 && V8_MINOR_VERSION == 2, "headers of another V8");

namespace {

int Evaluate(const char* source) {
  v8::Isolate::CreateParams params;
  std::unique_ptr<v8::ArrayBuffer::Allocator> allocator(
      v8::ArrayBuffer::Allocator::NewDefaultAllocator());
  params.array_buffer_allocator = allocator.get();
  v8::Isolate* isolate = v8::Isolate::New(params);
  int value = 0;
  {
    v8::Isolate::Scope isolate_scope(isolate);
    v8::HandleScope handles(isolate);
    v8::Local<v8::Context> context = v8::Context::New(isolate);
    v8::Context::Scope context_scope(context);
    v8::Local<v8::String> text = v8::String::NewFromUtf8(isolate, source).ToLocalChecked();
    v8::Local<v8::Script> script = v8::Script::Compile(context, text).ToLocalChecked();
    value = script->Run(context).ToLocalChecked()->Int32Value(context).FromJust();
  }
  isolate->Dispose();
  return value;
}

}  // namespace

int main() {
  char expected[32];
  std::snprintf(expected, sizeof(expected), "%d.%d.%d.%d", V8_MAJOR_VERSION, V8_MINOR_VERSION,
                V8_BUILD_NUMBER, V8_PATCH_LEVEL);
  const char* version = v8::V8::GetVersion();
  if (std::strncmp(version, expected, std::strlen(expected)) != 0) {
    std::fprintf(stderr, "expected V8 %s, the library is %s\n", expected, version);
    return 1;
  }
  std::unique_ptr<v8::Platform> platform = v8::platform::NewDefaultPlatform();
  v8::V8::InitializePlatform(platform.get());
  v8::V8::Initialize();
  const int value = Evaluate("6*7");
  v8::V8::Dispose();
  v8::V8::DisposePlatform();
  if (value != 42) {
    std::fprintf(stderr, "expected 42, got %d\n", value);
    return 1;
  }
  std::printf("V8 %s evaluates 6*7 to %d\n", version, value);
  return 0;
}
