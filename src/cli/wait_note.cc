#include "cli/wait_note.h"

#include <utility>

#include "base/mutex.h"

namespace sluice::cli {

WaitNote::WaitNote(Output* output, std::string what, std::chrono::milliseconds first,
                   std::chrono::milliseconds interval)
    : output_(output),
      what_(std::move(what)),
      thread_({"wait note"}, [=, this] { Run(first, interval); }) {}

WaitNote::~WaitNote() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
  }
  ended_.NotifyOne();
  thread_.join();
}

void WaitNote::Run(std::chrono::milliseconds first, std::chrono::milliseconds interval) {
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(mutex_);
  for (auto next = start + first;
       !ended_.WaitUntil(lock, next, [&]() REQUIRES(mutex_) { return over_; }); next += interval) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(next - start);
    output_->Note(fmt::format("{}, {} s so far", what_, waited.count()));
  }
}

}  // namespace sluice::cli
