// One isolate with a program in it.
//
// Operation: Start makes the isolate from the environment's snapshot, runs the library and the
// program and seals all of it, so that a call finds everything as the one before it did. A Session
// takes the isolate for a thread; within it, calls follow each other.
// Concurrency: one session at a time, on any thread (js/isolate_access.h); Stop and the stop flag
// from any thread. Limits: a call that runs too long, or uses too much memory, is ended. After the
// latter the runtime is spent: the owner makes another one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "js/environment.h"
#include "js/inspector.h"
#include "js/program.h"
#include "json/value.h"
#include "script/call.h"
#include "script/run.h"
#include "script/stop_flag.h"

namespace sluice::js {

struct RuntimeOptions {
  std::shared_ptr<const Environment> environment;
  std::shared_ptr<const Program> program;
  std::vector<script::Native> natives;
  std::string configuration = "{}";  // JSON text, for the library
  script::Limits limits;
  // For library and program, of the thread that starts it: a busy machine makes no code too slow. 0
  // for none.
  uint64_t start_cpu_ms = 0;
  script::StopFlag stop;
  // For debugging. An inspector belongs to one runtime, which closes it when it ends.
  std::shared_ptr<Inspector> inspector;
};

class Runtime {
 public:
  // A program that can't be compiled, or throws while it starts, gives its outcome in `failed` and
  // null.
  static std::unique_ptr<Runtime> Start(RuntimeOptions options, script::Outcome* failed);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Whether the program defines a global function of that name.
  bool Defines(std::string_view function);
  bool spent() const;
  // Ends the call that runs, or else the next one; calls after it work.
  void Stop();
  // While none runs: a stop that came too late is not for the next call.
  void ForgetStop();
  uint64_t HeapBytes();

  class Session {
   public:
    explicit Session(Runtime& runtime);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    struct CallOptions {
      uint64_t deadline_ns = 0;  // of the monotonic clock; 0 for none
      bool want_value = false;   // Outcome::value
      // An entry point that computes the result of the call again, after the promises have run, if
      // there were any.
      std::string_view finish = {};
      // Gets the packed result of the entry point, which then is not in Outcome::value.
      std::optional<json::Value>* packed = nullptr;
    };
    // Calls an entry point of the library.
    script::Outcome Call(std::string_view entry, std::span<const script::Argument> arguments,
                         CallOptions options);
    // For a runtime with an inspector: handles the messages of its client until `until` returns
    // true; `until` is called after each message and every second.
    void Serve(const std::function<bool()>& until);
    // As Runtime::Defines.
    bool Defines(std::string_view function);

   private:
    class Turn;
    Runtime& runtime_;
    std::unique_ptr<Turn> turn_;
  };

 private:
  class Impl;
  explicit Runtime(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::js
