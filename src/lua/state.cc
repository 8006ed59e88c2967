#include "lua/state.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"

namespace sluice::lua {
namespace {

constexpr uint64_t kStep = 200;
constexpr uint64_t kNanosPerMs = 1'000'000;
// After this many allocated bytes the clock is checked, because long strings take long to make.
constexpr uint64_t kBytesPerLook = 4 << 20;

constexpr uint64_t kBytesPerInstruction = 64;  // of large allocations

// See RefusesStack.
constexpr size_t kExtraStack = 5 * 16;
constexpr size_t kSmallStack = 16 << 10;
constexpr size_t kLargeStack = 1 << 20;
constexpr int kMaxDoublings = 4;

}  // namespace

State::State(uint64_t memory_bytes) : memory_limit_(memory_bytes) {
  lua_ = lua_newstate(Allocate, this);
  if (lua_ == nullptr) return;
  *static_cast<State**>(lua_getextraspace(lua_)) = this;
  running_ = lua_;
}

State::~State() {
  if (lua_ != nullptr) lua_close(lua_);
}

// A table that is its own __call makes Lua shift an ever larger stack without an instruction, so
// the hook never runs: only the memory can be refused. Lua doubles a stack, without the kExtraStack
// bytes that it keeps free.
bool State::RefusesStack(size_t new_size) {
  if (ended()) return true;  // Lua collects garbage and asks again
  const bool doubled = new_size + kExtraStack == 2 * std::exchange(last_block_, new_size);
  if (!doubled) return false;
  ++doublings_;
  if (over()) {
    End(script::Ended::kTimedOut, stopped() ? "the run was stopped" : WhyTooLong());
  } else if (new_size >= kLargeStack && doublings_ >= kMaxDoublings) {
    End(script::Ended::kOutOfMemory, "the run's calls of __call metamethods do not end");
  }
  return ended();
}

void* State::Allocate(void* user, void* block, size_t old_size, size_t new_size) {
  State& state = *static_cast<State*>(user);
  if (block == nullptr) old_size = 0;  // then it is the type of the new object
  if (new_size == 0) {
    state.used_ -= old_size;
    std::free(block);
    return nullptr;
  }
  if (new_size > old_size && state.used_ - old_size + new_size > state.memory_limit_) {
    return nullptr;
  }
  if (block == nullptr && new_size >= kSmallStack && state.RefusesStack(new_size)) return nullptr;
  void* const made = std::realloc(block, new_size);
  if (made == nullptr) return nullptr;
  state.used_ += new_size - old_size;
  if (new_size > old_size) state.allocated_ += new_size - old_size;
  if (state.allocated_ > kBytesPerLook && state.running_ != nullptr && !state.hurried_) {
    state.hurried_ = true;
    state.SetHook(state.running_, 1);
  }
  return made;
}

void State::SetHook(lua_State* lua, int count) { lua_sethook(lua, Hook, LUA_MASKCOUNT, count); }

void State::Begin(uint64_t max_instructions, const Time& time) {
  time_ = time;
  running_ = lua_;
  Renew();
  renewed_ = false;
  SetMaxInstructions(max_instructions);
}

void State::Renew() {
  instructions_ = 0;
  renewed_ = true;
  deadline_ns_ = time_.deadline_ns;
  if (time_.step_ns == 0) return;
  const uint64_t step_ends = time_.clock->MonotonicNs() + time_.step_ns;
  deadline_ns_ = deadline_ns_ == 0 ? step_ends : std::min(deadline_ns_, step_ends);
}

void State::SetMaxInstructions(uint64_t instructions) {
  max_instructions_ = instructions;
  step_ = static_cast<int>(std::clamp<uint64_t>(instructions / 10, 1, kStep));
  SetHook(lua_, step_);
  if (running_ != lua_) SetHook(running_, step_);
}

void State::Hook(lua_State* lua, lua_Debug*) {
  State& state = Of(lua);
  if (state.ended()) {
    state.SetHook(lua, 1);
    state.Raise(lua);
  }
  if (state.hurried_) {
    state.hurried_ = false;
    state.SetHook(lua, state.step_);
    state.instructions_ += state.allocated_ / kBytesPerInstruction;
  }
  state.instructions_ += static_cast<uint64_t>(state.step_);
  state.doublings_ = 0;
  state.Check(lua);
}

void State::Charge(lua_State* lua, uint64_t instructions) {
  instructions_ += std::min(instructions, UINT64_MAX - instructions_);
  Check(lua);
}

bool State::over() const {
  return stopped() || (deadline_ns_ != 0 && time_.clock->MonotonicNs() >= deadline_ns_);
}
bool State::gone() const {
  return stopped() || (time_.deadline_ns != 0 && time_.clock->MonotonicNs() >= time_.deadline_ns);
}

std::string State::WhyTooLong() const {
  if (deadline_ns_ == time_.deadline_ns) return "the run took too long";
  return fmt::format("the run took too long: more than {} ms{}", time_.step_ns / kNanosPerMs,
                     renewed_ ? " since it last waited for its client or an event" : "");
}

void State::Check(lua_State* lua) {
  allocated_ = 0;
  if (!ended()) {
    if (instructions_ > max_instructions_) {
      End(script::Ended::kTimedOut,
          fmt::format("the most instructions of a run, {}, are used up", max_instructions_));
    } else if (stopped()) {
      End(script::Ended::kStopped, "the run was stopped");
    } else if (deadline_ns_ != 0 && time_.clock->MonotonicNs() >= deadline_ns_) {
      End(script::Ended::kTimedOut, WhyTooLong());
    }
  }
  if (ended()) {
    SetHook(lua, 1);
    Raise(lua);
  }
}

void State::HoldBytes(lua_State* lua, uint64_t bytes) {
  if (used_ + bytes > memory_limit_) lua_gc(lua, LUA_GCCOLLECT);
  if (used_ + bytes > memory_limit_) {
    EndForMemory();
    Raise(lua);
  }
  used_ += bytes;
}

void State::End(script::Ended how, std::string why) {
  ended_ = how;
  why_ = std::move(why);
}

void State::EndForMemory() {
  if (!ended()) {
    End(script::Ended::kOutOfMemory,
        fmt::format("the run needs more than {} bytes of memory", memory_limit_));
  }
}

void State::Raise(lua_State* lua) {
  lua_pushstring(lua, why_.c_str());
  lua_error(lua);
  std::abort();  // lua_error does not return, though its declaration can't say so
}

}  // namespace sluice::lua
