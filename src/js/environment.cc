#include "js/environment.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>
#include <v8-extension.h>

#include "base/check.h"
#include "base/locked.h"
#include "js/engine.h"
#include "js/environment_impl.h"
#include "js/library.h"
#include "js/text.h"

namespace sluice::js {
namespace {

// Evaluates a script and keeps its value as a global of the snapshot.
Status Keep(v8::Isolate* isolate, v8::Local<v8::Context> context, std::string_view text,
            const char* file, const char* name) {
  const v8::TryCatch caught(isolate);
  v8::ScriptOrigin origin(isolate, NewText(isolate, file));
  v8::Local<v8::Script> script;
  v8::Local<v8::Value> value;
  if (!v8::Script::Compile(context, NewText(isolate, text), &origin).ToLocal(&script) ||
      !script->Run(context).ToLocal(&value)) {
    const v8::String::Utf8Value message(isolate, caught.Exception());
    return Error(Code::kInternal, "js.library", "{}:{}: {}", file,
                 caught.Message()->GetLineNumber(context).FromMaybe(0), *message);
  }
  CHECK(context->Global()->Set(context, NewText(isolate, name), value).FromJust());
  return OkStatus();
}

// V8 keeps extensions for ever, by name.
const char* RegisterExtension(std::string text) {
  CHECK(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
  struct Kept {
    std::string name;
    std::string text;
  };
  static auto* const extensions = new Locked<std::deque<Kept>>;
  const auto all = extensions->Lock();  // also for V8, whose list of them has no lock
  const Kept& kept =
      all->emplace_back(Kept{fmt::format("sluice/{}", all->size()), std::move(text)});
  v8::RegisterExtension(std::make_unique<v8::Extension>(
      kept.name.c_str(), kept.text.c_str(), 0, nullptr, static_cast<int>(kept.text.size())));
  return kept.name.c_str();
}

}  // namespace

Environment::Environment(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Environment::~Environment() = default;

Result<std::shared_ptr<const Environment>> Environment::Make(std::string_view library) {
  StartEngine();
  auto impl = std::make_unique<Impl>();
  Status made;
  v8::SnapshotCreator creator;
  v8::Isolate* const isolate = creator.GetIsolate();
  {
    const v8::HandleScope handles(isolate);
    const v8::Local<v8::Context> context = v8::Context::New(isolate);
    const v8::Context::Scope scope(context);
    made = Keep(isolate, context, kHardenJs, "harden.js", kSealName);
    if (made.ok()) made = Keep(isolate, context, kPackJs, "pack.js", kPackName);
    if (made.ok()) made = Keep(isolate, context, library, "library.js", kLibraryName);
    creator.SetDefaultContext(context);
  }
  impl->snapshot = creator.CreateBlob(v8::SnapshotCreator::FunctionCodeHandling::kKeep);
  RETURN_IF_ERROR(made);
  CHECK(impl->snapshot.data != nullptr);
  impl->extensions[0] = RegisterExtension(fmt::format("globalThis.{} = {}", kSealName, kHardenJs));
  impl->extensions[1] = RegisterExtension(fmt::format("globalThis.{} = {}", kPackName, kPackJs));
  impl->extensions[2] = RegisterExtension(fmt::format("globalThis.{} = {}", kLibraryName, library));
  return std::shared_ptr<const Environment>(new Environment(std::move(impl)));
}

}  // namespace sluice::js
