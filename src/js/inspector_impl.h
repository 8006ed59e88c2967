#pragma once

#include <deque>

#include <v8-inspector.h>
#include <v8.h>

#include "base/mutex.h"
#include "js/inspector.h"

namespace sluice::js {

// The runtime's side of an inspector, on the runtime's thread with the isolate locked, and the
// callbacks of V8 there.
class Inspector::Impl final : public v8_inspector::V8InspectorClient,
                              public v8_inspector::V8Inspector::Channel {
 public:
  explicit Impl(std::string url_prefix) : url_prefix_(std::move(url_prefix)) {}

  // --- any thread: see Inspector ---
  uint64_t Connect(Client client);
  bool Receive(uint64_t client, std::string message);
  void Disconnect(uint64_t client);
  void Close();
  void Wake();
  State state() const;

  // --- the runtime's thread ---
  // `sound` is called after every message; false ends the running call.
  void Attach(v8::Isolate* isolate, v8::Local<v8::Context> context, std::function<bool()> sound);
  void Detach(v8::Local<v8::Context> context);
  // Call these around a call. After EndCall nothing terminates the isolate any more; true if it was
  // terminated, perhaps just before.
  void BeginCall();
  bool EndCall();
  void Serve(const std::function<bool()>& until);

 private:
  // V8InspectorClient
  void runMessageLoopOnPause(int group) override;
  void quitMessageLoopOnPause() override { resumed_ = true; }
  void runIfWaitingForDebugger(int group) override;
  double currentTimeMS() override;
  std::unique_ptr<v8_inspector::StringBuffer> resourceNameToUrl(
      const v8_inspector::StringView& name) override;
  v8::Local<v8::Context> ensureDefaultContextInGroup(int group) override;
  // Channel
  void sendResponse(int call, std::unique_ptr<v8_inspector::StringBuffer> message) override;
  void sendNotification(std::unique_ptr<v8_inspector::StringBuffer> message) override;
  void flushProtocolNotifications() override {}

  void EndRunning() REQUIRES(mutex_);
  void MeetClient();
  bool DispatchNext();  // false when there is nothing for this session
  void Dispatch(const std::string& message);
  void Send(const v8_inspector::StringView& message);

  const std::string url_prefix_;

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<std::string> inbox_ GUARDED_BY(mutex_);
  size_t inbox_bytes_ GUARDED_BY(mutex_) = 0;
  Client client_ GUARDED_BY(mutex_);
  uint64_t connection_ GUARDED_BY(mutex_) = 0;  // counts clients
  bool connected_ GUARDED_BY(mutex_) = false;
  bool ready_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
  bool woken_ GUARDED_BY(mutex_) = false;
  bool running_ GUARDED_BY(mutex_) = false;  // JavaScript runs, or may
  bool ended_ GUARDED_BY(mutex_) = false;    // ... and was told to end

  // The runtime's thread writes it under mutex_; others read it under mutex_, while running_.
  v8::Isolate* isolate_ = nullptr;

  // The runtime's thread.
  v8::Global<v8::Context> context_;
  std::function<bool()> sound_;
  std::unique_ptr<v8_inspector::V8Inspector> inspector_;
  std::unique_ptr<v8_inspector::V8InspectorSession> session_;
  uint64_t session_of_ = 0;  // the connection
  bool paused_ = false;
  bool resumed_ = false;
};

}  // namespace sluice::js
