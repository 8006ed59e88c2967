// The connection of a debugger to a runtime: messages of the DevTools protocol as text, in both
// directions. The transport is elsewhere.
//
// Operation: the caller makes an Inspector and gives it to a runtime (RuntimeOptions::inspector).
// Every call then pauses at the first statement of the program, if the client has enabled its
// debugger; the client's messages are handled while the call is paused, and between the
// instructions of a running call. While no call runs, Runtime::Session::Serve handles them. If the
// client leaves, the running call ends (script::Ended::kStopped).
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sluice::js {

class Inspector {
 public:
  struct Client {
    std::function<void(std::string message)> send;  // called on the runtime's thread
    std::function<void()> let_go;                   // called once, by Close
  };

  // A script's name as the client sees it begins with `url_prefix`.
  explicit Inspector(std::string url_prefix);
  ~Inspector();
  Inspector(const Inspector&) = delete;
  Inspector& operator=(const Inspector&) = delete;

  // One client at a time: 0 when there is one, or after Close. Else its number, for the other two.
  uint64_t Connect(Client client);
  // False when too much waits to be handled, or it is not the client any more: disconnect.
  bool Receive(uint64_t client, std::string message);
  void Disconnect(uint64_t client);

  // Ends the call that runs and lets the client go, for good.
  void Close();
  // Makes Serve check again whether it must return.
  void Wake();

  struct State {
    bool closed = false;
    bool connected = false;
    bool had_client = false;  // there is or was one
    bool ready = false;       // a client is connected and has allowed the program to run
  };
  State state() const;

 private:
  friend class Runtime;
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::js
