// Passes an answer on while it arrives. The giver waits when the taker has left more bytes than a
// bound, so that a slow reader slows down the source. The giver holds a thread and the source
// meanwhile, so it gives up after kLongestWait.
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

  // The giver's thread calls `on_head` when there is an answer.
  explicit AnswerPipe(OnHead on_head, const Clock& clock = MachineClock())
      : on_head_(std::move(on_head)), clock_(clock), room_(clock) {}

  // The giver calls Begin with status and headers, Add for each piece, and End, with an error when
  // pieces are missing.
  void Begin(TaskOutput head) { on_head_(std::move(head)); }
  // Waits for room. Error curl.stopped when nobody takes any more, curl.timeout when nobody has
  // taken anything for the longest wait.
  Status Add(std::string_view bytes);
  void End(Status status);

  // The taker: `then` gets the next piece when it is there, an empty one at the end. It is called
  // once, on either thread, before the next Take.
  void Take(OnPiece then);
  // The taker takes no more: Add fails from now on.
  void Leave();
  const std::atomic<bool>& left() const { return left_; }

 private:
  struct State {
    std::string bytes;            // not taken yet
    OnPiece then;                 // of a Take that waits; else null
    std::optional<Status> ended;  // by End

    // The piece for Take; none: Take has to wait.
    std::optional<Result<std::string>> Next();
  };

  const OnHead on_head_;
  const Clock& clock_;
  std::atomic<bool> left_ = false;
  Locked<State> state_;
  Signal room_;  // wakes Add; closed by Leave
};

}  // namespace sluice::flow_engine
