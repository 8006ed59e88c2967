#include "cli/wait_note.h"

#include <chrono>
#include <utility>

namespace sluice::cli {
namespace {

constexpr std::chrono::seconds kFirst(2);
constexpr std::chrono::seconds kInterval(10);

}  // namespace

WaitNote::WaitNote(Output* output, std::string what, const Clock& clock)
    : output_(output),
      what_(std::move(what)),
      over_(clock),
      thread_({"wait note"}, [this, start = clock.Now()] { Run(start); }) {}

WaitNote::~WaitNote() {
  over_.Close();
  thread_.join();
}

void WaitNote::Run(Clock::Time start) {
  const uint64_t seen = over_.news();
  for (Clock::Time next = start + kFirst; over_.Wait(seen, next) == Signal::Waited::kTimeout;
       next += kInterval) {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(next - start);
    output_->Note(fmt::format("{}, {} s so far", what_, waited.count()));
  }
}

}  // namespace sluice::cli
