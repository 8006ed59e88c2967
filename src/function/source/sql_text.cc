#include "function/source/sql_text.h"

#include <algorithm>

#include "function/source/characters.h"

namespace sluice::function {
namespace {

constexpr size_t kNone = std::string_view::npos;

// The length of the string or quoted name at the start of `text`; kNone when it has no end.
size_t QuotedLength(std::string_view text) {
  const char quote = text[0];
  for (size_t end = 1; end < text.size(); ++end) {
    if (text[end] == '\\' && quote != '`') {
      ++end;
    } else if (text[end] == quote) {
      if (end + 1 >= text.size() || text[end + 1] != quote) return end + 1;
      ++end;
    }
  }
  return kNone;
}

// The length of the comment at the start of `text`, without the end of its line; 0 when none is
// there, kNone when it has no end.
size_t CommentLength(std::string_view text) {
  if (text.starts_with("--") || text.starts_with("//")) {
    size_t end = 2;
    while (end < text.size() && LineEndLength(text, end) == 0) ++end;
    return end;
  }
  if (!text.starts_with("/*")) return 0;
  const size_t end = text.find("*/", 2);
  return end == kNone ? kNone : end + 2;
}

// The length of the quoted text or comment at the start of `text`, which is skipped as a whole.
size_t OpaqueLength(std::string_view text) {
  const bool quote = text[0] == '\'' || text[0] == '"' || text[0] == '`';
  return quote ? QuotedLength(text) : CommentLength(text);
}

void AppendLineEnd(std::string_view end, std::string* out) {
  for (const char c : end.substr(0, 2)) {
    if (c == '\n') *out += "\\n";
    if (c == '\r') *out += "\\r";
  }
  if (end.size() == 3) *out += end.back() == '\xa8' ? "\\u2028" : "\\u2029";
  *out += "' +";
  *out += end;
  *out += '\'';
}

}  // namespace

std::optional<size_t> SqlLength(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ';') return at;
    if (const size_t opaque = OpaqueLength(text.substr(at))) {
      if (opaque == kNone) return std::nullopt;
      at += opaque;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') {
      if (depth == 0) return at;
      --depth;
    }
    ++at;
  }
  return std::nullopt;
}

std::string WithoutComments(std::string_view sql) {
  std::string text(sql);
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const size_t length = std::min(std::max<size_t>(OpaqueLength(rest), 1), rest.size());
    const bool comment = CommentLength(rest) != 0;
    const bool hint = comment && rest.size() > 2 && rest[2] == '+' && rest[1] != '/';
    for (size_t i = at; comment && !hint && i < at + length;) {
      const size_t end = LineEndLength(text, i);
      if (end == 0) text[i] = ' ';
      i += std::max<size_t>(end, 1);
    }
    at += length;
  }
  return text;
}

std::string AsJavaScriptString(std::string_view sql) {
  std::string out = "'";
  for (size_t at = 0; at < sql.size();) {
    if (const size_t end = LineEndLength(sql, at)) {
      AppendLineEnd(sql.substr(at, end), &out);
      at += end;
      continue;
    }
    if (sql[at] == '\'' || sql[at] == '\\') out += '\\';
    out += sql[at++];
  }
  return out + '\'';
}

}  // namespace sluice::function
