#include "base/log.h"

#include <atomic>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/time_text.h"

namespace sluice::log {
namespace {

std::atomic<Level> g_least{Level::kInfo};
std::atomic<Format> g_format{Format::kText};

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
  }
  return "error";
}

void AppendQuoted(std::string* out, std::string_view text) {
  out->push_back('"');
  for (char c : text) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out->append(fmt::format("\\u{:04x}", static_cast<unsigned>(c)));
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty()) return true;
  for (char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

}  // namespace

void Configure(Level least, Format format) {
  g_least = least;
  g_format = format;
}

bool Enabled(Level level) { return level >= g_least.load(std::memory_order_relaxed); }

std::string FormatLine(Format format, uint64_t wall_ms, Level level, std::string_view message,
                       Fields fields) {
  std::string line;
  if (format == Format::kJson) {
    line = fmt::format("{{\"ts\":\"{}\",\"level\":\"{}\",\"msg\":", UtcText(wall_ms),
                       LevelName(level));
    AppendQuoted(&line, message);
    for (const Field& field : fields) {
      line.push_back(',');
      AppendQuoted(&line, field.key);
      line.push_back(':');
      if (field.quoted) {
        AppendQuoted(&line, field.text);
      } else {
        line.append(field.text);
      }
    }
    line.append("}\n");
    return line;
  }
  line = fmt::format("{} {} {}", UtcText(wall_ms), LevelName(level), message);
  for (const Field& field : fields) {
    line.push_back(' ');
    line.append(field.key);
    line.push_back('=');
    if (field.quoted && NeedsQuotes(field.text)) {
      AppendQuoted(&line, field.text);
    } else {
      line.append(field.text);
    }
  }
  line.push_back('\n');
  return line;
}

void Write(Level level, std::string_view message, Fields fields) {
  if (!Enabled(level)) return;
  const std::string line =
      FormatLine(g_format.load(), SystemClock().WallMs(), level, message, fields);
  // One write call a line, so that lines of several threads do not mix. A failure to log has
  // nowhere to be reported.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace sluice::log
