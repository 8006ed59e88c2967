#include "function/insight.h"

namespace sluice::function {
namespace {

constexpr size_t kMaxLines = 10'000;  // of which something is known
constexpr size_t kMaxTextBytes = 1024;

// Not within a character.
std::string Shortened(std::string_view text) {
  if (text.size() <= kMaxTextBytes) return std::string(text);
  size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace

void Insight::Add(const InsightLines& lines) {
  const auto all = lines_.Lock();
  for (const auto& [number, news] : lines) {
    if (all->size() >= kMaxLines && !all->contains(number)) continue;
    LineInsight& line = (*all)[number];
    line.calls += news.calls;
    line.call_ns += news.call_ns;
    line.errors += news.errors;
    if (news.errors > 0) line.last_error = news.last_error;
    if (!news.last_log.empty()) line.last_log = news.last_log;
  }
}

bool Insight::Look(uint64_t monotonic_ns) {
  const uint64_t before = counted_until_ns_.exchange(
      monotonic_ns + std::chrono::nanoseconds(kCountedFor).count(), std::memory_order_relaxed);
  return before > monotonic_ns;
}

void HeldInsight::AddCall(int line, uint64_t ns, uint64_t calls) {
  if (line < 1) return;
  LineInsight& known = lines_[static_cast<uint32_t>(line)];
  known.calls += calls;
  known.call_ns += ns;
}

void HeldInsight::AddError(int line, std::string_view message) {
  if (line < 1) return;
  LineInsight& known = lines_[static_cast<uint32_t>(line)];
  ++known.errors;
  known.last_error = Shortened(message);
}

void HeldInsight::AddLog(int line, std::string_view text) {
  if (line < 1) return;
  lines_[static_cast<uint32_t>(line)].last_log = Shortened(text);
}

void HeldInsight::Release() {
  if (lines_.empty()) return;
  insight_.Add(lines_);
  lines_.clear();
}

}  // namespace sluice::function
