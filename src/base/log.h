// Structured logs: an event's text plus named fields, one line each, to standard error.
//
//   log::Info("bucket created", {{"bucket", name}, {"took_ms", 12}});
//
// text: 2026-11-15T21:54:05.123Z info bucket created bucket=shop took_ms=12
// json: {"ts":"2026-11-15T21:54:05.123Z","level":"info","msg":"bucket created","bucket":"shop",...}
//
// Any thread. The one process-wide object of this project: its sink is set once by main.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sluice::log {

enum class Level : uint8_t { kDebug, kInfo, kWarn, kError };
enum class Format : uint8_t { kText, kJson };

struct Field {
  Field(std::string_view key, std::string_view value) : key(key), text(value), quoted(true) {}
  Field(std::string_view key, const char* value) : Field(key, std::string_view(value)) {}
  Field(std::string_view key, const std::string& value) : Field(key, std::string_view(value)) {}
  Field(std::string_view key, bool value) : key(key), text(value ? "true" : "false") {}
  template <std::integral T>
  Field(std::string_view key, T value) : key(key), text(std::to_string(value)) {}
  Field(std::string_view key, double value) : key(key), text(std::to_string(value)) {}

  std::string_view key;
  std::string text;
  bool quoted = false;
};
using Fields = std::initializer_list<Field>;

void Configure(Level least, Format format);
bool Enabled(Level level);
void Write(Level level, std::string_view message, Fields fields);

// The line without the time stamp's source: separate so that a test can fix it.
std::string FormatLine(Format format, uint64_t wall_ms, Level level, std::string_view message,
                       Fields fields);

inline void Debug(std::string_view message, Fields fields = {}) {
  Write(Level::kDebug, message, fields);
}
inline void Info(std::string_view message, Fields fields = {}) {
  Write(Level::kInfo, message, fields);
}
inline void Warn(std::string_view message, Fields fields = {}) {
  Write(Level::kWarn, message, fields);
}
inline void Error(std::string_view message, Fields fields = {}) {
  Write(Level::kError, message, fields);
}

}  // namespace sluice::log
