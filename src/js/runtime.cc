#include "js/runtime.h"

#include <atomic>
#include <map>
#include <optional>

#include <v8.h>

#include "base/check.h"
#include "js/buffers.h"
#include "js/engine.h"
#include "js/environment_impl.h"
#include "js/inspector_impl.h"
#include "js/isolate_access.h"
#include "js/makers.h"
#include "js/native_call.h"
#include "js/pack.h"
#include "js/text.h"
#include "js/watched.h"

namespace sluice::js {
namespace {

// Room above the limit for the one allocation that passes it: without it V8 ends the process. Only
// address space; the call is ended as soon as V8 looks.
constexpr size_t kHeapHeadroom = 2ull << 30;
// A call without a deadline can be stopped nevertheless.
constexpr uint64_t kForever = UINT64_MAX / 2;

// The name that the error's class has. V8 itself knows how a class is called in its text, which is
// not always the same.
std::string TypeOf(v8::Isolate* isolate, v8::Local<v8::Context> context,
                   v8::Local<v8::Value> exception) {
  if (!exception->IsObject()) return "";
  const auto object = exception.As<v8::Object>();
  v8::Local<v8::Value> made_by;
  v8::Local<v8::Value> name;
  if (object->Get(context, v8::String::NewFromUtf8Literal(isolate, "constructor"))
          .ToLocal(&made_by) &&
      made_by->IsFunction() &&
      made_by.As<v8::Object>()
          ->Get(context, v8::String::NewFromUtf8Literal(isolate, "name"))
          .ToLocal(&name) &&
      name->IsString() && name.As<v8::String>()->Length() > 0) {
    return TextOf(isolate, name.As<v8::String>());
  }
  return TextOf(isolate, object->GetConstructorName());
}

}  // namespace

class Runtime::Impl final : public Watched {
 public:
  explicit Impl(RuntimeOptions options)
      : options_(std::move(options)),
        access_(options_.limits.stack_bytes),
        buffers_(options_.limits.buffer_bytes) {
    StartEngine();
    v8::Isolate::CreateParams parameters;
    if (inspector() == nullptr) {
      parameters.snapshot_blob = &options_.environment->impl_->snapshot;
    }
    parameters.array_buffer_allocator = &buffers_;
    parameters.allow_atomics_wait = false;
    parameters.constraints.ConfigureDefaultsFromHeapSize(0, options_.limits.heap_bytes);
    isolate_ = v8::Isolate::New(parameters);
    access_.SetIsolate(isolate_);
    isolate_->SetData(kProgramSlot, &program_id_);
    isolate_->SetData(kRuntimeSlot, this);
    isolate_->SetPromiseHook(OnPromise);
    isolate_->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
    isolate_->SetCaptureStackTraceForUncaughtExceptions(true, 20);
    isolate_->AddNearHeapLimitCallback(OnHeapLimit, this);
    makers_.emplace(isolate_);
  }

  ~Impl() override {
    Leave();
    {
      const IsolateAccess::Turn turn(access_);
      const v8::HandleScope handles(isolate_);
      if (inspector() != nullptr) inspector()->Detach(context_.Get(isolate_));
      entries_.clear();
      makers_.reset();
      context_.Reset();
    }
    isolate_->Dispose();
  }

  v8::Local<v8::Context> NewContext() {
    if (inspector() == nullptr) return v8::Context::New(isolate_);
    const char** const names = options_.environment->impl_->extensions;
    v8::ExtensionConfiguration extensions(Environment::Impl::kScripts, names);
    const v8::Local<v8::Context> context = v8::Context::New(isolate_, &extensions);
    CHECK(!context.IsEmpty());  // the scripts ran when the environment was made
    return context;
  }

  // Library, program, seal.
  script::Outcome Load() {
    const v8::HandleScope handles(isolate_);
    const v8::Local<v8::Context> context = NewContext();
    context_.Reset(isolate_, context);
    const v8::Context::Scope scope(context);
    if (inspector() != nullptr)
      inspector()->Attach(isolate_, context, [this] { return KeepLimits(); });
    const v8::TryCatch caught(isolate_);
    if (options_.start_cpu_ms != 0) {
      ArmForCpuTime(options_.start_cpu_ms * 1'000'000);
    } else {
      Arm(kForever);
    }
    const bool loaded = RunLibrary(context) && RunProgram(context) && Seal(context);
    return End(context, loaded, caught);
  }

  script::Outcome Call(std::string_view entry, std::span<const script::Argument> arguments,
                       const Session::CallOptions& options) {
    const v8::HandleScope handles(isolate_);
    const v8::Local<v8::Context> context = context_.Get(isolate_);
    const v8::Context::Scope scope(context);
    const v8::TryCatch caught(isolate_);
    const auto found = entries_.find(entry);
    CHECK(found != entries_.end());
    packed_.Clear();
    promised_ = false;
    Arm(options.deadline_ns == 0 ? kForever : options.deadline_ns);
    if (inspector() != nullptr) inspector()->BeginCall();
    v8::Local<v8::Value> result;
    bool returned = Invoke(context, found->second.Get(isolate_), arguments, caught, &result);
    if (returned && promised_ && !options.finish.empty()) {
      returned = Finish(context, options.finish, &result);
    }
    std::string value;
    if (returned && options.packed != nullptr) *options.packed = packed_.Value();
    const bool wants_text =
        options.want_value && (options.packed == nullptr || !options.packed->has_value());
    const bool printed = returned && (!wants_text || Print(context, result, &value));
    script::Outcome outcome = End(context, printed, caught);
    outcome.value = std::move(value);
    return outcome;
  }

  bool Defines(std::string_view function) {
    const v8::HandleScope handles(isolate_);
    const v8::Local<v8::Context> context = context_.Get(isolate_);
    const v8::Context::Scope scope(context);
    const v8::TryCatch caught(isolate_);
    v8::Local<v8::Value> value;
    return context->Global()->Get(context, NewText(isolate_, function)).ToLocal(&value) &&
           value->IsFunction();
  }

  // The order matters: a termination without the flag would end a later call.
  void Stop() {
    isolate_->TerminateExecution();
    stopped_ = true;
  }
  void ForgetStop() {
    if (stopped_.exchange(false)) isolate_->CancelTerminateExecution();
  }

  v8::Isolate* isolate() const { return isolate_; }
  // Null unless it is debugged.
  Inspector::Impl* inspector() const {
    return options_.inspector == nullptr ? nullptr : options_.inspector->impl_.get();
  }
  bool spent() const { return spent_; }
  IsolateAccess& access() { return access_; }

 private:
  void End() override { isolate_->TerminateExecution(); }
  bool StopAsked() const override {
    return stopped_.load() || (options_.stop != nullptr && options_.stop->load());
  }

  static size_t OnHeapLimit(void* data, size_t current, size_t) {
    auto* const self = static_cast<Impl*>(data);
    self->spent_ = true;
    self->isolate_->TerminateExecution();
    return current + kHeapHeadroom;
  }

  // V8 calls the last callback that was added, and its debugger adds one that would end the process
  // when a program continues after a pause. So ours is added again.
  bool KeepLimits() {
    isolate_->RemoveNearHeapLimitCallback(OnHeapLimit, 0);
    isolate_->AddNearHeapLimitCallback(OnHeapLimit, this);
    return !spent_;
  }

  // Returns how the run ended, and makes the isolate ready for the next one.
  script::Outcome End(v8::Local<v8::Context> context, bool finished, const v8::TryCatch& caught) {
    script::Outcome outcome;
    // A debugger's client can end it, too; by a command even so that V8 takes the termination back,
    // and of the exception nothing is left.
    const bool terminated = !finished && (caught.HasTerminated() || caught.Message().IsEmpty());
    // While the clock still runs: an error may have code of its own for being printed.
    if (!finished && !terminated) Describe(context, caught, &outcome);
    const bool left = inspector() != nullptr && inspector()->EndCall();
    const bool timed_out = Disarm();
    // A run that has finished before the flag could end it counts.
    const bool flagged = options_.stop != nullptr && options_.stop->load();
    const bool stopped = stopped_.exchange(false) || terminated || (!finished && (left || flagged));
    if (isolate_->IsExecutionTerminating() || timed_out || stopped || flagged || spent_ ||
        inspector()) {
      isolate_->CancelTerminateExecution();
    }
    if (spent_ && !left)
      return {.ended = script::Ended::kOutOfMemory, .message = "used more memory than it may"};
    if (timed_out) return {.ended = script::Ended::kTimedOut, .message = "ran longer than it may"};
    if (stopped) return {.ended = script::Ended::kStopped, .message = "was stopped"};
    return outcome;
  }

  void Describe(v8::Local<v8::Context> context, const v8::TryCatch& caught,
                script::Outcome* outcome) {
    outcome->ended = script::Ended::kThrew;
    if (caught.Exception().IsEmpty()) return;
    // Reading an error can run the user's code again, which must not throw past here.
    const v8::TryCatch ignored(isolate_);
    outcome->type = TypeOf(isolate_, context, caught.Exception());
    outcome->message = TextOf(isolate_, context, caught.Exception());
    v8::Local<v8::Value> stack;
    if (caught.StackTrace(context).ToLocal(&stack)) {
      outcome->stack = TextOf(isolate_, context, stack);
    }
    if (!caught.Message().IsEmpty()) {
      outcome->place.line = caught.Message()->GetLineNumber(context).FromMaybe(0);
      outcome->place.column = caught.Message()->GetStartColumn(context).FromMaybe(-1) + 1;
    }
  }

  bool Invoke(v8::Local<v8::Context> context, v8::Local<v8::Function> function,
              std::span<const script::Argument> arguments, const v8::TryCatch& caught,
              v8::Local<v8::Value>* result) {
    constexpr size_t kMaxArguments = 16;
    CHECK(arguments.size() <= kMaxArguments);
    v8::Local<v8::Value> values[kMaxArguments + Makers::kMostPieces];
    int count = 0;
    for (const script::Argument& argument : arguments) {
      if (const auto* pieces = std::get_if<script::Pieces>(&argument)) {
        const int made = makers_->Take(context, *pieces->value, &values[count]);
        if (made == 0) return false;
        count += made;
      } else if (!ToValue(isolate_, context, argument).ToLocal(&values[count++])) {
        return false;
      }
    }
    const bool returned =
        function->Call(context, v8::Undefined(isolate_), count, values).ToLocal(result);
    Settle(!returned && caught.HasTerminated());
    return returned && !isolate_->IsExecutionTerminating();
  }

  // Runs the pending jobs of promises, which belong to the call that has just ended. If that call
  // was terminated, V8 drops them.
  void Settle(bool terminated) {
    if (terminated) {
      isolate_->CancelTerminateExecution();
      isolate_->TerminateExecution();
    }
    isolate_->PerformMicrotaskCheckpoint();
  }

  bool Finish(v8::Local<v8::Context> context, std::string_view entry,
              v8::Local<v8::Value>* result) {
    const auto found = entries_.find(entry);
    CHECK(found != entries_.end());
    return found->second.Get(isolate_)
        ->Call(context, v8::Undefined(isolate_), 0, nullptr)
        .ToLocal(result);
  }

  static void OnPromise(v8::PromiseHookType, v8::Local<v8::Promise> promise, v8::Local<v8::Value>) {
    static_cast<Impl*>(promise->GetIsolate()->GetData(kRuntimeSlot))->promised_ = true;
  }

  bool Print(v8::Local<v8::Context> context, v8::Local<v8::Value> value, std::string* text) {
    if (value->IsUndefined()) return true;
    v8::Local<v8::String> printed;
    if (!v8::JSON::Stringify(context, value).ToLocal(&printed)) return false;
    *text = TextOf(isolate_, printed);
    return true;
  }

  template <typename Array, typename T>
  v8::Local<v8::Value> ArrayOver(std::span<T> memory) {
    auto store = v8::ArrayBuffer::NewBackingStore(memory.data(), memory.size_bytes(),
                                                  v8::BackingStore::EmptyDeleter, nullptr);
    return Array::New(v8::ArrayBuffer::New(isolate_, std::move(store)), 0, memory.size());
  }

  // The function that packs, for the library.
  v8::MaybeLocal<v8::Value> MakePack(v8::Local<v8::Context> context) {
    v8::Local<v8::Value> arguments[] = {ArrayOver<v8::Float64Array>(packed_.words()),
                                        ArrayOver<v8::Uint8Array>(packed_.text())};
    return Take(context, kPackName)->Call(context, v8::Undefined(isolate_), 2, arguments);
  }

  // A function that the snapshot keeps under a name; the name goes.
  v8::Local<v8::Function> Take(v8::Local<v8::Context> context, const char* name) {
    const v8::Local<v8::String> key = NewText(isolate_, name);
    const v8::Local<v8::Value> value = context->Global()->Get(context, key).ToLocalChecked();
    CHECK(value->IsFunction());
    CHECK(context->Global()->Delete(context, key).FromJust());
    return value.As<v8::Function>();
  }

  static void RunNative(const v8::FunctionCallbackInfo<v8::Value>& info) {
    const auto* native =
        static_cast<const script::Native*>(info.Data().As<v8::External>()->Value());
    NativeCall call(info);
    native->run(call);
  }

  bool RunLibrary(v8::Local<v8::Context> context) {
    const v8::Local<v8::Function> library = Take(context, kLibraryName);
    seal_ = Take(context, kSealName);
    const v8::Local<v8::Object> natives = v8::Object::New(isolate_);
    for (const script::Native& native : options_.natives) {
      v8::Local<v8::Function> function;
      const v8::Local<v8::Value> data =
          v8::External::New(isolate_, const_cast<script::Native*>(&native));
      if (!v8::Function::New(context, RunNative, data, 0, v8::ConstructorBehavior::kThrow)
               .ToLocal(&function) ||
          natives->Set(context, NewText(isolate_, native.name), function).IsNothing()) {
        return false;
      }
    }
    v8::Local<v8::Value> pack;
    if (!MakePack(context).ToLocal(&pack) ||
        natives->Set(context, NewText(isolate_, "pack"), pack).IsNothing()) {
      return false;
    }
    v8::Local<v8::Value> configuration;
    if (!v8::JSON::Parse(context, NewText(isolate_, options_.configuration))
             .ToLocal(&configuration)) {
      return false;
    }
    v8::Local<v8::Value> arguments[] = {natives, configuration};
    v8::Local<v8::Value> entries;
    if (!library->Call(context, v8::Undefined(isolate_), 2, arguments).ToLocal(&entries)) {
      return false;
    }
    CHECK(entries->IsObject());
    return KeepEntries(context, entries.As<v8::Object>());
  }

  bool KeepEntries(v8::Local<v8::Context> context, v8::Local<v8::Object> entries) {
    v8::Local<v8::Array> names;
    if (!entries->GetOwnPropertyNames(context).ToLocal(&names)) return false;
    for (uint32_t i = 0; i < names->Length(); ++i) {
      const v8::Local<v8::Value> name = names->Get(context, i).ToLocalChecked();
      const v8::Local<v8::Value> entry = entries->Get(context, name).ToLocalChecked();
      CHECK(entry->IsFunction());
      entries_[TextOf(isolate_, context, name)].Reset(isolate_, entry.As<v8::Function>());
    }
    return true;
  }

  bool RunPreamble(v8::Local<v8::Context> context, const Source& source) {
    if (source.preamble.empty()) return true;
    v8::ScriptOrigin origin(isolate_, NewText(isolate_, source.name + ".headers.js"));
    v8::Local<v8::Script> script;
    return v8::Script::Compile(context, NewText(isolate_, source.preamble), &origin)
               .ToLocal(&script) &&
           !script->Run(context).IsEmpty();
  }

  bool RunProgram(v8::Local<v8::Context> context) {
    const Program& program = *options_.program;
    if (!RunPreamble(context, program.source())) return false;
    const std::shared_ptr<const std::vector<uint8_t>> kept = program.code();
    v8::ScriptOrigin origin(isolate_, NewText(isolate_, program.source().name),
                            program.source().first_line - 1);
    // V8 deletes this one; the bytes stay ours.
    v8::ScriptCompiler::CachedData* cached =
        kept == nullptr
            ? nullptr
            : new v8::ScriptCompiler::CachedData(kept->data(), static_cast<int>(kept->size()));
    v8::ScriptCompiler::Source source(NewText(isolate_, program.source().text), origin, cached);
    v8::Local<v8::Script> script;
    if (!v8::ScriptCompiler::Compile(context, &source,
                                     cached == nullptr ? v8::ScriptCompiler::kEagerCompile
                                                       : v8::ScriptCompiler::kConsumeCodeCache)
             .ToLocal(&script)) {
      return false;
    }
    program_id_ = script->GetUnboundScript()->GetId();
    if (kept == nullptr) {
      const std::unique_ptr<v8::ScriptCompiler::CachedData> code(
          v8::ScriptCompiler::CreateCodeCache(script->GetUnboundScript()));
      program.KeepCode({code->data, code->data + code->length});
    }
    return !script->Run(context).IsEmpty();
  }

  bool Seal(v8::Local<v8::Context> context) {
    return !seal_->Call(context, v8::Undefined(isolate_), 0, nullptr).IsEmpty();
  }

  RuntimeOptions options_;
  IsolateAccess access_;
  BoundedBuffers buffers_;
  v8::Isolate* isolate_ = nullptr;
  v8::Global<v8::Context> context_;
  v8::Local<v8::Function> seal_;  // while loading
  std::map<std::string, v8::Global<v8::Function>, std::less<>> entries_;
  std::optional<Makers> makers_;
  PackedResult packed_;
  bool promised_ = false;  // there was a promise since the call began
  int program_id_ = -1;    // of its script
  std::atomic<bool> spent_ = false;
  std::atomic<bool> stopped_ = false;
};

class Runtime::Session::Turn : public IsolateAccess::Turn {
  using IsolateAccess::Turn::Turn;
};

Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runtime::~Runtime() = default;

std::unique_ptr<Runtime> Runtime::Start(RuntimeOptions options, script::Outcome* failed) {
  std::unique_ptr<Runtime> runtime(new Runtime(std::make_unique<Impl>(std::move(options))));
  {
    const Session session(*runtime);
    *failed = runtime->impl_->Load();
  }
  return failed->ok() ? std::move(runtime) : nullptr;
}

bool Runtime::Defines(std::string_view function) {
  const Session session(*this);
  return impl_->Defines(function);
}

bool Runtime::spent() const { return impl_->spent(); }
void Runtime::Stop() { impl_->Stop(); }
void Runtime::ForgetStop() { impl_->ForgetStop(); }

uint64_t Runtime::HeapBytes() {
  const Session session(*this);
  v8::HeapStatistics statistics;
  impl_->isolate()->GetHeapStatistics(&statistics);
  return statistics.used_heap_size();
}

Runtime::Session::Session(Runtime& runtime)
    : runtime_(runtime), turn_(std::make_unique<Turn>(runtime.impl_->access())) {}
Runtime::Session::~Session() = default;

script::Outcome Runtime::Session::Call(std::string_view entry,
                                       std::span<const script::Argument> arguments,
                                       CallOptions options) {
  return runtime_.impl_->Call(entry, arguments, options);
}

void Runtime::Session::Serve(const std::function<bool()>& until) {
  CHECK(runtime_.impl_->inspector() != nullptr);
  runtime_.impl_->inspector()->Serve(until);
}

bool Runtime::Session::Defines(std::string_view function) {
  return runtime_.impl_->Defines(function);
}

}  // namespace sluice::js
