#include "flow_engine/answer_pipe.h"

#include <utility>

#include "base/wait_scope.h"

namespace sluice::flow_engine {

Status AnswerPipe::Add(std::string_view bytes) {
  if (bytes.empty()) return OkStatus();  // would be the end
  const Clock::Time deadline = clock_.Now() + kLongestWait;
  while (true) {
    const uint64_t seen = room_.news();
    if (left_) {
      return Error(Code::kCancelled, "curl.stopped", "the client no longer reads the answer");
    }
    OnPiece then;
    bool added = false;
    {
      const auto state = state_.Lock();
      if (state->bytes.size() < kMostBytes) {
        then = std::exchange(state->then, nullptr);
        if (!then) state->bytes.append(bytes);
        added = true;
      }
    }
    if (then) then(std::string(bytes));
    if (added) return OkStatus();
    const WaitScope waits;
    if (room_.Wait(seen, deadline) == Signal::Waited::kTimeout) {
      return Error(Code::kTimeout, "curl.timeout", "the client takes the answer too slowly");
    }
  }
}

void AnswerPipe::End(Status status) {
  OnPiece then;
  std::optional<Result<std::string>> last;
  {
    const auto state = state_.Lock();
    state->ended = std::move(status);
    then = std::exchange(state->then, nullptr);
    if (then) last = state->Next();
  }
  if (then) then(std::move(*last));
}

std::optional<Result<std::string>> AnswerPipe::State::Next() {
  if (!bytes.empty()) return std::exchange(bytes, {});
  if (!ended) return std::nullopt;
  if (!ended->ok()) return Unexpected(*ended);
  return "";
}

void AnswerPipe::Take(OnPiece then) {
  std::optional<Result<std::string>> next;
  {
    const auto state = state_.Lock();
    next = state->Next();
    if (!next) state->then = std::move(then);
  }
  room_.Wake();
  if (next) then(std::move(*next));
}

void AnswerPipe::Leave() {
  left_ = true;
  OnPiece dropped;  // ends after the lock
  std::swap(dropped, state_.Lock()->then);
  room_.Close();
}

}  // namespace sluice::flow_engine
