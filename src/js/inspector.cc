#include "js/inspector.h"

#include <chrono>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "js/inspector_impl.h"
#include "js/text.h"

namespace sluice::js {
namespace {

using v8_inspector::StringBuffer;
using v8_inspector::StringView;

constexpr int kGroup = 1;
// The most messages that wait for the runtime's thread.
constexpr size_t kMaxWaiting = 4096;
constexpr size_t kMaxWaitingBytes = 16ull << 20;
// Serve checks `until` at least this often, because it may depend on the time.
constexpr std::chrono::seconds kLook(1);

StringView ViewOf(std::string_view ascii) {
  return {reinterpret_cast<const uint8_t*>(ascii.data()), ascii.size()};
}

bool IsAsciiText(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

// Requires a handle scope.
std::string ToUtf8(v8::Isolate* isolate, const StringView& text) {
  if (text.is8Bit()) {
    const std::string_view bytes(reinterpret_cast<const char*>(text.characters8()), text.length());
    if (IsAsciiText(bytes)) return std::string(bytes);
  }
  const auto size = static_cast<int>(text.length());
  v8::MaybeLocal<v8::String> value =
      text.is8Bit() ? v8::String::NewFromOneByte(isolate, text.characters8(),
                                                 v8::NewStringType::kNormal, size)
                    : v8::String::NewFromTwoByte(isolate, text.characters16(),
                                                 v8::NewStringType::kNormal, size);
  return value.IsEmpty() ? "" : TextOf(isolate, value.ToLocalChecked());
}

}  // namespace

// --- any thread ---

uint64_t Inspector::Impl::Connect(Client client) {
  const MutexLock lock(mutex_);
  if (connected_ || closed_) return 0;
  client_ = std::move(client);
  connected_ = true;
  woken_ = true;
  wake_.NotifyAll();
  return ++connection_;
}

bool Inspector::Impl::Receive(uint64_t client, std::string message) {
  const MutexLock lock(mutex_);
  if (!connected_ || client != connection_) return false;
  if (inbox_.size() >= kMaxWaiting || inbox_bytes_ + message.size() > kMaxWaitingBytes)
    return false;
  inbox_bytes_ += message.size();
  inbox_.push_back(std::move(message));
  wake_.NotifyAll();
  if (running_) {
    isolate_->RequestInterrupt(
        [](v8::Isolate*, void* self) {
          while (static_cast<Impl*>(self)->DispatchNext()) {
          }
        },
        this);
  }
  return true;
}

void Inspector::Impl::Disconnect(uint64_t client) {
  const MutexLock lock(mutex_);
  if (!connected_ || client != connection_) return;
  connected_ = false;
  ready_ = false;
  client_ = {};
  inbox_.clear();
  inbox_bytes_ = 0;
  EndRunning();
}

void Inspector::Impl::Close() {
  Client client;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    connected_ = false;
    ready_ = false;
    std::swap(client, client_);
    inbox_.clear();
    inbox_bytes_ = 0;
    EndRunning();
  }
  if (client.let_go) client.let_go();
}

void Inspector::Impl::EndRunning() {
  woken_ = true;
  if (running_) {
    ended_ = true;
    isolate_->TerminateExecution();
  }
  wake_.NotifyAll();
}

void Inspector::Impl::Wake() {
  const MutexLock lock(mutex_);
  woken_ = true;
  wake_.NotifyAll();
}

Inspector::State Inspector::Impl::state() const {
  const MutexLock lock(mutex_);
  return {
      .closed = closed_, .connected = connected_, .had_client = connection_ > 0, .ready = ready_};
}

// --- the runtime's thread ---

void Inspector::Impl::Attach(v8::Isolate* isolate, v8::Local<v8::Context> context,
                             std::function<bool()> sound) {
  sound_ = std::move(sound);
  {
    const MutexLock lock(mutex_);
    isolate_ = isolate;
  }
  context_.Reset(isolate, context);
  inspector_ = v8_inspector::V8Inspector::create(isolate, this);
  inspector_->contextCreated(v8_inspector::V8ContextInfo(context, kGroup, ViewOf("function")));
}

void Inspector::Impl::Detach(v8::Local<v8::Context> context) {
  Close();
  session_.reset();
  if (inspector_ != nullptr) inspector_->contextDestroyed(context);
  inspector_.reset();
  context_.Reset();
  const MutexLock lock(mutex_);
  isolate_ = nullptr;
}

// Lets go of the session of a client that has left, and makes one for a new client. Not while the
// session is at work.
void Inspector::Impl::MeetClient() {
  uint64_t wanted = 0;
  {
    const MutexLock lock(mutex_);
    wanted = connected_ ? connection_ : 0;
  }
  if (wanted == session_of_) return;
  const v8::HandleScope handles(isolate_);
  session_.reset();
  session_of_ = wanted;
  if (wanted != 0) session_ = inspector_->connect(kGroup, this, StringView());
}

void Inspector::Impl::BeginCall() {
  MeetClient();
  {
    const MutexLock lock(mutex_);
    running_ = true;
    ended_ = false;
  }
  // Does nothing unless the client has enabled its debugger.
  if (session_ != nullptr) {
    session_->schedulePauseOnNextStatement(ViewOf("Break on start"), ViewOf("{}"));
  }
}

bool Inspector::Impl::EndCall() {
  if (session_ != nullptr) session_->cancelPauseOnNextStatement();
  const MutexLock lock(mutex_);
  running_ = false;
  return ended_;
}

void Inspector::Impl::Serve(const std::function<bool()>& until) {
  while (true) {
    MeetClient();
    if (until()) return;
    {
      MutexLock lock(mutex_);
      wake_.WaitFor(lock, kLook, [this]() REQUIRES(mutex_) { return woken_ || !inbox_.empty(); });
      woken_ = false;
      running_ = true;
      ended_ = false;
    }
    MeetClient();
    {
      const v8::HandleScope handles(isolate_);
      const v8::Context::Scope scope(context_.Get(isolate_));
      while (DispatchNext()) isolate_->PerformMicrotaskCheckpoint();
    }
    {
      const MutexLock lock(mutex_);
      running_ = false;
    }
    isolate_->CancelTerminateExecution();
  }
}

bool Inspector::Impl::DispatchNext() {
  std::string message;
  {
    const MutexLock lock(mutex_);
    if (session_ == nullptr || session_of_ != connection_ || inbox_.empty() || ended_) return false;
    message = std::move(inbox_.front());
    inbox_.pop_front();
    inbox_bytes_ -= message.size();
  }
  Dispatch(message);
  if (sound_()) return true;
  const MutexLock lock(mutex_);
  EndRunning();
  return false;
}

void Inspector::Impl::Dispatch(const std::string& message) {
  const v8::HandleScope handles(isolate_);
  if (IsAsciiText(message)) return session_->dispatchProtocolMessage(ViewOf(message));
  const v8::Local<v8::String> text = NewText(isolate_, message);
  std::vector<uint16_t> wide(static_cast<size_t>(text->Length()));
  text->Write(isolate_, wide.data(), 0, text->Length(), v8::String::NO_NULL_TERMINATION);
  session_->dispatchProtocolMessage({wide.data(), wide.size()});
}

void Inspector::Impl::runMessageLoopOnPause(int) {
  if (paused_) return;
  paused_ = true;
  resumed_ = false;
  while (!resumed_) {
    {
      MutexLock lock(mutex_);
      wake_.Wait(lock, [this]() REQUIRES(mutex_) { return ended_ || !inbox_.empty(); });
      if (ended_) break;
    }
    DispatchNext();
  }
  paused_ = false;
}

void Inspector::Impl::runIfWaitingForDebugger(int) {
  const MutexLock lock(mutex_);
  ready_ = connected_ && session_of_ == connection_;
}

double Inspector::Impl::currentTimeMS() { return static_cast<double>(SystemClock().WallMs()); }

std::unique_ptr<StringBuffer> Inspector::Impl::resourceNameToUrl(const StringView& name) {
  const v8::HandleScope handles(isolate_);
  const std::string url = url_prefix_ + ToUtf8(isolate_, name);
  return StringBuffer::create(ViewOf(url));
}

v8::Local<v8::Context> Inspector::Impl::ensureDefaultContextInGroup(int) {
  return context_.Get(isolate_);
}

void Inspector::Impl::sendResponse(int, std::unique_ptr<StringBuffer> message) {
  Send(message->string());
}

void Inspector::Impl::sendNotification(std::unique_ptr<StringBuffer> message) {
  Send(message->string());
}

void Inspector::Impl::Send(const StringView& message) {
  std::function<void(std::string)> send;
  {
    const MutexLock lock(mutex_);
    if (!connected_ || session_of_ != connection_) return;
    send = client_.send;
  }
  const v8::HandleScope handles(isolate_);
  send(ToUtf8(isolate_, message));
}

// --- the outside ---

Inspector::Inspector(std::string url_prefix)
    : impl_(std::make_unique<Impl>(std::move(url_prefix))) {}
Inspector::~Inspector() = default;

uint64_t Inspector::Connect(Client client) { return impl_->Connect(std::move(client)); }
bool Inspector::Receive(uint64_t client, std::string message) {
  return impl_->Receive(client, std::move(message));
}
void Inspector::Disconnect(uint64_t client) { impl_->Disconnect(client); }
void Inspector::Close() { impl_->Close(); }
void Inspector::Wake() { impl_->Wake(); }
Inspector::State Inspector::state() const { return impl_->state(); }

}  // namespace sluice::js
