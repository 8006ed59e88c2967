#include "cli/sql_answer.h"

#include <algorithm>

#include "cli/api.h"
#include "cli/output.h"
#include "cli/text_width.h"

namespace sluice::cli {
namespace {

constexpr size_t kLongestExcerpt = 160;

// The error code, which decides the exit code, from the query service's number.
Code CodeOfSqlError(int64_t number) {
  switch (number) {
    case 1080:
      return Code::kTimeout;
    case 1190:
      return Code::kCancelled;
    case 1191:
      return Code::kOverloaded;
    case 4040:
    case 5503:
    case 12003:
    case 12016:
    case 12020:
    case 12021:
    case 12036:
    case 17010:
    case 17014:
      return Code::kNotFound;
    case 4090:
    case 4300:
    case 12022:
    case 12025:
    case 12027:
    case 17012:
      return Code::kAlreadyExists;
    case 5320:
    case 5330:
    case 12009:
    case 12033:
      return Code::kConflict;
    case 1000:
    case 13014:
      return Code::kForbidden;
    case 10000:
      return Code::kUnauthenticated;
    case 5000:
      return Code::kInternal;
    default:
      return Code::kInvalidArgument;
  }
}

uint32_t Position(const json::Value& value) {
  return value.is_int() && value.AsInt() > 0 ? static_cast<uint32_t>(value.AsInt()) : 0;
}

// A message without the place in the statement, which its clients read there: here the place in the
// file stands before it, and the line itself below.
std::string WithoutPlace(std::string message, uint32_t line, uint32_t column) {
  const std::string after = fmt::format(" (near line {}, column {})", line, column);
  if (const size_t at = message.find(after); at != message.npos) message.erase(at, after.size());
  const std::string before = fmt::format("line {}, column {}, near '", line, column);
  constexpr std::string_view kEnd = "', ";
  if (const size_t at = message.find(before); at != message.npos) {
    const size_t end = message.find("', at: ", at);
    if (end != message.npos) message.erase(at, end + kEnd.size() - at);
  }
  return message;
}

// The same for errors of a procedure's text, whose messages begin with their line.
std::string WithoutLine(std::string message, uint32_t line) {
  const std::string before = fmt::format("line {}: ", line);
  return message.starts_with(before) ? message.substr(before.size()) : message;
}

// Errors of other modules have no number of their own; their id decides.
Code CodeOfSqlError(int64_t number, std::string_view id) {
  if (number != 5000) return CodeOfSqlError(number);
  if (id.ends_with(".not_found")) return Code::kNotFound;
  if (id.ends_with(".exists")) return Code::kAlreadyExists;
  if (id.ends_with(".syntax") || id.ends_with(".invalid") || id.ends_with(".invalid_name")) {
    return Code::kInvalidArgument;
  }
  return CodeOfSqlError(number);
}

Status ErrorFrom(const json::Value& error, const SqlStatement& statement, const std::string& file) {
  const int64_t number = error["code"].is_int() ? error["code"].AsInt() : 5000;
  const std::string id = TextOf(error["id"]);
  const std::string message = WithoutLine(
      WithoutPlace(TextOf(error["msg"]), Position(error["line"]), Position(error["column"])),
      error["procedure"].is_missing() ? Position(error["line"]) : 0);
  Status status(CodeOfSqlError(number, id), id.empty() ? "query.failed" : id,
                fmt::format("{} [{}]", message, number));
  status = status.With("code", std::to_string(number));
  const std::string returned = TextOf(error["reason"]["returned"]);
  if (!returned.empty()) status = status.With("returned", returned);
  const json::Value& said = error["reason"]["said"];
  if (said.is_string()) status = status.With("said", std::string(said.AsString()));
  const bool in_procedure = !error["procedure"].is_missing();
  const uint32_t line = in_procedure ? 0 : Position(error["line"]);
  const uint32_t column = Position(error["column"]);
  if (line == 0) return file.empty() ? status : status.At({file, statement.line, 0});
  const std::string excerpt = Excerpt(statement.text, line, column);
  if (!excerpt.empty()) status = status.With(std::string(kExcerptField), excerpt);
  const uint32_t before = line == 1 && column > 0 ? statement.column - 1 : 0;
  return status.At({file, statement.line + line - 1, column + before});
}

}  // namespace

std::string Excerpt(std::string_view text, uint32_t line, uint32_t column) {
  for (uint32_t i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find_first_of("\r\n"));
  size_t bytes = 0;
  for (uint32_t left = column; bytes < text.size(); ++bytes) {
    if ((text[bytes] & 0xC0) != 0x80 && left-- <= 1) break;
  }
  const size_t indent = TextWidth(text.substr(0, bytes));
  if (text.empty() || column == 0 || indent > kLongestExcerpt) return "";
  std::string shown = CutToWidth(text, kLongestExcerpt);
  // One column each, so that the caret stays below its character.
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  std::ranges::replace_if(shown, is_control, ' ');
  return "  " + shown + "\n  " + std::string(indent, ' ') + "^";
}

SqlAnswer ReadSqlAnswer(const json::Value& done, const SqlStatement& statement,
                        const std::string& file) {
  SqlAnswer answer;
  answer.metrics = done["metrics"];
  for (const json::Value& error : done["errors"].items()) {
    answer.errors.push_back(ErrorFrom(error, statement, file));
  }
  for (const json::Value& warning : done["warnings"].items()) {
    answer.warnings.push_back(TextOf(warning["msg"]));
  }
  const std::string status = TextOf(done["status"]);
  if (answer.errors.empty() && status != "success" && status != "completed") {
    answer.errors.push_back(
        Error(Code::kInternal, "query.failed", "the statement ended as '{}'", status));
  }
  return answer;
}

}  // namespace sluice::cli
