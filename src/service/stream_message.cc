#include "service/stream_message.h"

#include <algorithm>
#include <cctype>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::service {
namespace {

using json::Value;
using MessageKind = StreamMessage::Kind;

constexpr size_t kMaxId = 128;
constexpr std::string_view kWhat = "has 'statement', or 'prepared', or 'next', or 'close'";
constexpr int64_t kMaxRows = 1'000'000'000;
constexpr int64_t kMaxAhead = 100'000;

Status BadMessage(std::string_view what) {
  return Error(Code::kInvalidArgument, "stream.bad_message", "a message of a stream {}", what);
}

Result<uint64_t> ReadRowCount(const Value& next, int64_t least) {
  if (next.is_missing()) return 1;
  if (!next.is_int() || next.AsInt() < least || next.AsInt() > kMaxRows) {
    return Unexpected(BadMessage("asks with 'next' for a number of rows"));
  }
  return static_cast<uint64_t>(next.AsInt());
}

Result<uint64_t> ReadAhead(const Value& body) {
  const Value& ahead = body["ahead"];
  if (ahead.is_missing()) return 0;
  if (!ahead.is_int() || ahead.AsInt() < 1 || ahead.AsInt() > kMaxAhead) {
    return Unexpected(BadMessage("has as 'ahead' a number of rows, 1 to 100000"));
  }
  if (!body["next"].is_missing()) return Unexpected(BadMessage("has 'next' or 'ahead', not both"));
  return static_cast<uint64_t>(ahead.AsInt());
}

Status CheckMembers(const Value& body, std::string_view what) {
  const bool alone = std::ranges::all_of(body.fields(), [&](const json::Field& field) {
    return field.name() == "id" || field.name() == what;
  });
  return alone ? OkStatus() : BadMessage(kWhat);
}

bool IsBlankCharacter(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view TrimmedStatement(std::string_view text) {
  while (!text.empty() && IsBlankCharacter(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlankCharacter(text.back())) text.remove_suffix(1);
  return text;
}

std::string TakeWord(std::string_view* text) {
  *text = TrimmedStatement(*text);
  std::string word;
  while (!text->empty() && IsWord(text->front())) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(text->front())));
    text->remove_prefix(1);
  }
  return word;
}

}  // namespace

Result<StreamMessage> ReadStreamMessage(std::string_view text) {
  Result<Value> body = json::Parse(text, {.max_bytes = text.size()});
  if (!body || !body->is_object()) return Unexpected(BadMessage("is a JSON object"));
  StreamMessage message;
  message.bytes = text.size();
  const Value& id = (*body)["id"];
  if (!id.is_int() && !id.is_string())
    return Unexpected(BadMessage("has an 'id', a number or a string"));
  message.id = json::ToText(id);
  if (message.id.size() > kMaxId) return Unexpected(BadMessage("has an 'id' of at most 128 bytes"));
  const bool begins = !(*body)["statement"].is_missing() || !(*body)["prepared"].is_missing();
  const Value& close = (*body)["close"];
  if (begins) {
    message.kind = MessageKind::kStatement;
    ASSIGN_OR_RETURN(message.rows, ReadRowCount((*body)["next"], 0));
    ASSIGN_OR_RETURN(message.ahead, ReadAhead(*body));
  } else if (!close.is_missing()) {
    if (close != Value(true)) return Unexpected(BadMessage("says 'close' with true"));
    message.kind = MessageKind::kClose;
    RETURN_IF_ERROR(CheckMembers(*body, "close"));
  } else {
    if ((*body)["next"].is_missing()) return Unexpected(BadMessage(kWhat));
    ASSIGN_OR_RETURN(message.rows, ReadRowCount((*body)["next"], 1));
    RETURN_IF_ERROR(CheckMembers(*body, "next"));
  }
  message.body = std::move(*body);
  return message;
}

std::optional<std::pair<std::string, std::string>> ReadSetStatement(std::string_view statement) {
  std::string_view rest = TrimmedStatement(statement);
  while (rest.ends_with(';')) rest = TrimmedStatement(rest.substr(0, rest.size() - 1));
  if (TakeWord(&rest) != "set") return std::nullopt;
  std::string name = TakeWord(&rest);
  rest = TrimmedStatement(rest);
  std::string_view level = rest;
  const bool of_transaction = name == "transaction" && TakeWord(&level) == "isolation";
  if (name.empty() || of_transaction) return std::nullopt;
  if (rest.starts_with('=')) rest = TrimmedStatement(rest.substr(1));
  const bool quoted = rest.size() >= 2 && (rest.front() == '\'' || rest.front() == '"') &&
                      rest.back() == rest.front();
  if (quoted) rest = rest.substr(1, rest.size() - 2);
  return std::pair(std::move(name), std::string(rest));
}

}  // namespace sluice::service
