// A debugger's door to a runtime: the DevTools protocol as text, in both directions. How the text
// travels is not known here.
//
// Operation: made by who wants to debug and given to a runtime (RuntimeOptions::inspector). Every
// call then pauses at the first statement of the program, if the client has enabled its debugger;
// while it is paused, and between the instructions of one that runs, the client's messages are
// handled. While no call runs, Runtime::Session::Serve handles them.
// A client that leaves ends the call that runs (script::Ended::kStopped).
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
  // Serve looks again whether it is to return.
  void Wake();

  struct State {
    bool closed = false;
    bool connected = false;
    bool had_client = false;  // there is or was one
    bool ready = false;       // it is there and has said that the program may run
  };
  State state() const;

 private:
  friend class Runtime;
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::js
