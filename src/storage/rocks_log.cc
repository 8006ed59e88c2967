#include "storage/rocks_log.h"

#include <cstdio>
#include <string_view>

#include "base/log.h"

namespace sluice::storage {
namespace {

constexpr size_t kMaxMessageBytes = 2048;
// A checkpoint stops the deletion of files twice, which RocksDB warns of each time.
constexpr std::string_view kOfCheckpoints = "File Deletions";

}  // namespace

void LogForwarder::Logv(const char* format, va_list arguments) {
  Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
}

void LogForwarder::Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) {
  if (level < GetInfoLogLevel() || level == rocksdb::InfoLogLevel::HEADER_LEVEL) return;
  if (!begun_.load(std::memory_order_relaxed)) return;
  char text[kMaxMessageBytes];
  if (std::vsnprintf(text, sizeof text, format, arguments) < 0) return;
  if (std::string_view(text).find(kOfCheckpoints) != std::string_view::npos) return;
  const bool warning = level == rocksdb::InfoLogLevel::WARN_LEVEL;
  log::Write(warning ? log::Level::kWarn : log::Level::kError, "rocksdb", {{"text", text}});
}

}  // namespace sluice::storage
