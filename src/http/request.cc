#include "http/request.h"

#include <charconv>

#include "base/check.h"
#include "base/quantity.h"

namespace sluice::http {
namespace {

template <typename... Args>
std::unexpected<Status> BadParameter(std::string_view name, std::string_view value,
                                     fmt::format_string<Args...> expected, Args&&... args) {
  return Unexpected(Error(Code::kInvalidArgument, "http.bad_parameter",
                          "query parameter '{}': expected {}, found '{}'", name,
                          fmt::format(expected, std::forward<Args>(args)...), value)
                        .With("parameter", std::string(name)));
}

}  // namespace

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kOther:
      return "OTHER";
  }
  return "OTHER";
}

std::string_view Request::Param(std::string_view name) const {
  for (const auto& [key, value] : params_) {
    if (key == name) return value;
  }
  CHECK(false && "a handler asked for a path parameter that its route does not have");
  return {};
}

std::optional<std::string_view> Request::Query(std::string_view name) const {
  for (const auto& [key, value] : query_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<int64_t> Request::QueryInt(std::string_view name, int64_t fallback, int64_t least,
                                  int64_t most) const {
  const auto text = Query(name);
  if (!text) return fallback;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least || value > most) {
    return BadParameter(name, *text, "an integer from {} to {}", least, most);
  }
  return value;
}

Result<bool> Request::QueryBool(std::string_view name, bool fallback) const {
  const auto text = Query(name);
  if (!text) return fallback;
  if (*text == "true" || *text == "1" || text->empty()) return true;
  if (*text == "false" || *text == "0") return false;
  return BadParameter(name, *text, "true or false");
}

Result<uint64_t> Request::QueryDurationMs(std::string_view name, uint64_t fallback) const {
  const auto text = Query(name);
  if (!text) return fallback;
  const Result<uint64_t> value = ParseDurationMs(*text);
  if (!value) return BadParameter(name, *text, "a duration such as 250ms, 5s or 10m");
  return *value;
}

Result<std::string> Request::QueryRequired(std::string_view name) const {
  const auto text = Query(name);
  if (text) return std::string(*text);
  return Unexpected(Error(Code::kInvalidArgument, "http.missing_parameter",
                          "query parameter '{}' is required", name)
                        .With("parameter", std::string(name)));
}

std::optional<std::string_view> Request::FindHeader(std::string_view name) const {
  for (const Header& header : headers_) {
    if (EqualsIgnoreCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

}  // namespace sluice::http
