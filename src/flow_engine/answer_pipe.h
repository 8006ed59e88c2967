// An answer that is passed on while it arrives. Who gives it waits while what was not taken yet is
// more than a bound, so that a slow reader slows down the source; not for ever, since it holds a
// thread and the source meanwhile.
//
// Concurrency: one thread gives and one takes, at the same time. Either may end it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/locked.h"
#include "base/signal.h"
#include "base/status.h"
#include "flow_engine/task.h"

namespace sluice::flow_engine {

class AnswerPipe {
 public:
  static constexpr size_t kMostBytes = 256 << 10;  // not taken yet, besides the last piece
  static constexpr std::chrono::milliseconds kLongestWait = std::chrono::minutes(5);

  using OnHead = std::function<void(TaskOutput head)>;
  using OnPiece = std::function<void(Result<std::string> piece)>;

  // Whoever takes is told by `on_head` that there is an answer, on the giver's thread.
  explicit AnswerPipe(OnHead on_head, const Clock& clock = MachineClock())
      : on_head_(std::move(on_head)), clock_(clock), room_(clock) {}

  // Gives: status and headers, then pieces, then the end, which is an error when pieces are
  // missing.
  void Begin(TaskOutput head) { on_head_(std::move(head)); }
  // Waits for room. Error curl.stopped when nobody takes any more, curl.timeout when nobody has
  // taken anything for the longest wait.
  Status Add(std::string_view bytes);
  void End(Status status);

  // Takes: the next piece, empty at the end, when it is there. `then` is called once, on either
  // thread, before the next Take.
  void Take(OnPiece then);
  // Nobody takes any more, and nobody need give.
  void Leave();
  const std::atomic<bool>& left() const { return left_; }

 private:
  struct State {
    std::string bytes;            // not taken yet
    OnPiece then;                 // of a Take that waits; else null
    std::optional<Status> ended;  // by End

    // What Take gets now; nothing: it has to wait.
    std::optional<Result<std::string>> Next();
  };

  const OnHead on_head_;
  const Clock& clock_;
  std::atomic<bool> left_ = false;
  Locked<State> state_;
  Signal room_;  // wakes Add; closed by Leave
};

}  // namespace sluice::flow_engine
