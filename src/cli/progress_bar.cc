#include "cli/progress_bar.h"

#include <algorithm>

#include <unistd.h>

#include "doctype/advice/report.h"

namespace sluice::cli {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr size_t kWidth = 20;

}  // namespace

ProgressBar::ProgressBar(Output* output)
    : output_(output), shown_(!output->quiet() && isatty(STDERR_FILENO) != 0) {}

std::string ProgressText(uint64_t done, uint64_t of, std::string_view what) {
  if (of == 0) return fmt::format("{} {}", done, what);
  of = std::max(of, done);
  const double share = static_cast<double>(done) / static_cast<double>(of);
  return fmt::format("{} {:3.0f}%  {} of {} {}", doctype::Bar(share, kWidth), share * 100, done, of,
                     what);
}

void ProgressBar::Show(uint64_t done, uint64_t of, std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || (drawn_ && now - last_ < kInterval)) return;
  last_ = now;
  drawn_ = true;
  output_->notes() << "\r\x1b[K" << ProgressText(done, of, what) << std::flush;
}

void ProgressBar::Clear() {
  if (drawn_) output_->notes() << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace sluice::cli
