// One Lua state with a procedure's program in it.
//
// Operation: Start makes the state, opens the libraries that are allowed, sets the host's objects
// as globals and runs the program's text, which defines its functions. Call runs one of them, any
// number of times. Running the text again gives another instance: the same functions over variables
// of their own.
// Concurrency: one thread at a time; Stop from any thread.
// Limits: a run that takes too many instructions, too long, or too much memory is ended, whatever
// it does to prevent that; the runtime is spent then. An error that the program raises ends the
// call only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "lua/host.h"
#include "lua/program.h"
#include "script/run.h"

namespace sluice::lua {

struct Limits {
  uint64_t instructions = 100'000'000;  // of one Call
  uint64_t memory_bytes = 64ull << 20;
  uint64_t time_ms = 0;      // of one Call, or of one step of it (Call::Renew); 0 for none
  uint64_t deadline_ns = 0;  // of all of them, by the monotonic clock; 0 for none
  const Clock* clock = &MachineClock();  // for both
};

struct RuntimeOptions {
  std::shared_ptr<const Program> program;
  // Globals by name.
  std::vector<std::pair<std::string, std::shared_ptr<HostObject>>> globals;
  Limits limits;
  std::function<void(std::string_view line)> print;  // none: print does nothing
  // Ends the run when it is set; may be null, else outlives the runtime.
  const std::atomic<bool>* cancelled = nullptr;
};

using Returned = std::variant<Value, std::shared_ptr<HostObject>>;

struct Finished {
  script::Outcome outcome;       // without its `value`
  std::vector<Returned> values;  // of the function
  bool ok() const { return outcome.ok(); }
};

class Runtime {
 public:
  // When the program's text fails, its outcome is in `failed`, and null is returned.
  static std::unique_ptr<Runtime> Start(RuntimeOptions options, script::Outcome* failed);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  using Instance = int;
  static constexpr Instance kFirstInstance = 0;
  // Calls a function of an instance; an error if it does not exist.
  Finished Call(const std::vector<Value>& arguments, std::string_view function = "main",
                Instance instance = kFirstInstance);
  // The same with objects among the arguments.
  Finished CallWith(const std::vector<Passed>& arguments, std::string_view function);
  const std::shared_ptr<const Program>& program() const;
  script::Outcome AddInstance(Instance* made);
  void DropInstance(Instance instance);
  bool spent() const;
  // Ends the call that runs, or the next one.
  void Stop();

  // The instructions of the current or last call.
  uint64_t instructions() const;
  void SetMaxInstructions(uint64_t instructions);
  // Sets the zone of datetimes made from now on. False if the zone does not exist.
  bool SetTimeZone(std::string_view name);
  std::string time_zone() const;
  // 3 or 6 digits of fraction, of datetimes made from now on.
  void SetDatetimeDigits(int digits);
  int datetime_digits() const;

 private:
  class Impl;
  explicit Runtime(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::lua
