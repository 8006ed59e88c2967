#include "flow_engine/answer_pipe.h"

#include <utility>

#include "base/wait_scope.h"

namespace sluice::flow_engine {

Status AnswerPipe::Add(std::string_view bytes) {
  if (bytes.empty()) return OkStatus();  // would be the end
  OnPiece then;
  {
    const WaitScope waits;
    std::unique_lock lock(mutex_);
    const bool room =
        room_.wait_for(lock, longest_wait_, [&] { return bytes_.size() < kMostBytes || left_; });
    if (!room) {
      return Error(Code::kTimeout, "curl.timeout", "the client takes the answer too slowly");
    }
    if (left_)
      return Error(Code::kCancelled, "curl.stopped", "the client no longer reads the answer");
    then = std::exchange(then_, nullptr);
    if (!then) bytes_.append(bytes);
  }
  if (then) then(std::string(bytes));
  return OkStatus();
}

void AnswerPipe::End(Status status) {
  OnPiece then;
  std::optional<Result<std::string>> last;
  {
    const std::lock_guard lock(mutex_);
    ended_ = std::move(status);
    then = std::exchange(then_, nullptr);
    if (then) last = Next();
  }
  if (then) then(std::move(*last));
}

std::optional<Result<std::string>> AnswerPipe::Next() {
  if (!bytes_.empty()) return std::exchange(bytes_, {});
  if (!ended_) return std::nullopt;
  if (!ended_->ok()) return Unexpected(*ended_);
  return "";
}

void AnswerPipe::Take(OnPiece then) {
  std::optional<Result<std::string>> next;
  {
    const std::lock_guard lock(mutex_);
    next = Next();
    if (!next) then_ = std::move(then);
  }
  room_.notify_one();
  if (next) then(std::move(*next));
}

void AnswerPipe::Leave() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
    then_ = nullptr;
  }
  room_.notify_one();
}

}  // namespace sluice::flow_engine
