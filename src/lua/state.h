// The limits of a lua_State and how much of them is used. Inside this module only.
//
// A program can't get past a reached limit: `ended` stays set, the hook raises again at every
// instruction, and pcall, xpcall and the coroutine functions (protected_calls.cc) raise the error
// again instead of returning it.
//
// Thread: the runtime's. Only Stop may be called from others.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <lua.hpp>

#include "base/clock.h"
#include "lua/pattern.h"
#include "lua/zone.h"
#include "script/run.h"

namespace sluice::lua {

class State final : public StepMeter {
 public:
  explicit State(uint64_t memory_bytes);
  ~State() override;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  static State& Of(lua_State* lua) { return **static_cast<State**>(lua_getextraspace(lua)); }

  // Null when there was not enough memory to begin with.
  lua_State* lua() { return lua_; }

  // The time limits of one call, by the monotonic clock; 0 for none.
  struct Time {
    uint64_t step_ns = 0;      // at most, from the beginning or from the last Renew on
    uint64_t deadline_ns = 0;  // of all steps together
    const Clock* clock = &MachineClock();
  };
  // Begins a call: the counts start again.
  void Begin(uint64_t max_instructions, const Time& time);
  // Begins a step: its instructions and time are counted from 0.
  void Renew();
  void SetMaxInstructions(uint64_t instructions);
  uint64_t instructions() const { return instructions_; }
  uint64_t deadline_ns() const { return deadline_ns_; }
  const Clock& clock() const { return *time_.clock; }

  // Counts, and raises an error when a limit is reached. Also looks at the time.
  void Charge(lua_State* lua, uint64_t instructions);
  void Spend(uint64_t steps) override { Charge(running_, steps); }
  // Memory that a value of ours holds outside of Lua. Raises when there is not enough.
  void HoldBytes(lua_State* lua, uint64_t bytes);
  void ReleaseBytes(uint64_t bytes) { used_ -= bytes; }

  bool ended() const { return ended_ != script::Ended::kReturned; }
  script::Ended how_ended() const { return ended_; }
  const std::string& why_ended() const { return why_; }
  // Stopped, or past its time; for methods that wait for as long as the step may take.
  bool over() const;
  // Stopped, or past the deadline of all steps; for methods that wait without an end.
  bool gone() const;
  void EndForMemory();
  // Raises the error of the limit that was reached.
  [[noreturn]] void Raise(lua_State* lua);

  void Stop() { stop_.store(true, std::memory_order_relaxed); }
  // Stops the run too, when it is set; may be null.
  void SetCancelled(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

  // The running coroutine; the hook may have to be set again for it.
  lua_State* running() const { return running_; }
  void SetRunning(lua_State* lua) { running_ = lua; }

  std::function<void(std::string_view)> print;
  Zone zone;
  int datetime_digits = 3;
  bool doubles = false;                   // numbers are those of number_library.cc
  std::vector<std::string> last_columns;  // of the last row that was pushed

 private:
  static void* Allocate(void* user, void* block, size_t old_size, size_t new_size);
  bool RefusesStack(size_t new_size);
  static void Hook(lua_State* lua, lua_Debug* event);
  void Check(lua_State* lua);
  std::string WhyTooLong() const;
  void SetHook(lua_State* lua, int count);
  void End(script::Ended how, std::string why);
  bool stopped() const {
    return stop_.load(std::memory_order_relaxed) ||
           (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed));
  }

  const uint64_t memory_limit_;
  uint64_t used_ = 0;
  uint64_t allocated_ = 0;  // since the time was looked at
  size_t last_block_ = 0;   // of at least kSmallStack bytes
  int doublings_ = 0;       // of a stack, since an instruction was counted
  lua_State* lua_ = nullptr;
  lua_State* running_ = nullptr;
  uint64_t instructions_ = 0;
  uint64_t max_instructions_ = 0;
  int step_ = 0;          // instructions between two hooks
  bool hurried_ = false;  // the next hook comes early
  Time time_;
  uint64_t deadline_ns_ = 0;  // of this step
  bool renewed_ = false;      // it is not the call's first
  std::atomic<bool> stop_ = false;
  const std::atomic<bool>* cancelled_ = nullptr;
  script::Ended ended_ = script::Ended::kReturned;
  std::string why_;
};

}  // namespace sluice::lua
