#include "http/error_body.h"

#include <algorithm>
#include <array>

#include <http_parser.h>

#include "json/print.h"
#include "json/text.h"

namespace sluice::http {
namespace {

constexpr std::array<std::string_view, 6> kOwnFields = {"id",   "message", "request_id",
                                                        "file", "line",    "column"};

// The one field whose text is JSON itself (doctype/schema/schema.h).
constexpr std::string_view kJsonField = "violations";

void AppendText(std::string* out, std::string_view text) {
  json::AppendQuoted(RepairedText(text), out);
}

void AppendMember(std::string* out, std::string_view name, std::string_view value) {
  out->push_back(',');
  AppendText(out, name);
  out->push_back(':');
  AppendText(out, value);
}

void AppendDetails(const Status& status, std::string* out) {
  const Place& place = status.place();
  if (!place.file.empty()) AppendMember(out, "file", place.file);
  if (place.line != 0) *out += fmt::format(R"(,"line":{})", place.line);
  if (place.column != 0) *out += fmt::format(R"(,"column":{})", place.column);
  for (const auto& [name, value] : status.fields()) {
    if (std::find(kOwnFields.begin(), kOwnFields.end(), name) != kOwnFields.end()) continue;
    if (name == kJsonField) {
      out->append(fmt::format(R"(,"{}":{})", name, value));
    } else {
      AppendMember(out, name, value);
    }
  }
}

}  // namespace

std::string RepairedText(std::string_view text) {
  std::string repaired;
  while (true) {
    const size_t valid = json::ValidUtf8Prefix(text);
    repaired += text.substr(0, valid);
    if (valid == text.size()) return repaired;
    repaired += "\xef\xbf\xbd";
    text.remove_prefix(valid + 1);
  }
}

int HttpStatusOf(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kInvalidArgument:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
      return 409;
    case Code::kConflict:
      return 409;
    case Code::kUnauthenticated:
      return 401;
    case Code::kForbidden:
      return 403;
    case Code::kTooLarge:
      return 413;
    case Code::kOverloaded:
      return 503;
    case Code::kTimeout:
      return 504;
    case Code::kCancelled:
      return 503;
    case Code::kUnavailable:
      return 503;
    case Code::kUnsupported:
      return 501;
    case Code::kNoSpace:
      return 507;
    case Code::kIo:
      return 500;
    case Code::kCorruption:
      return 500;
    case Code::kInternal:
      return 500;
  }
  return 500;
}

bool IsOfDocument(const Status& error) {
  constexpr std::string_view kOfDocuments[] = {
      "migration.bad_result", "migration.memory",           "migration.mismatch",
      "migration.threw",      "migration.returned_nothing", "migration.timeout",
      "schema.violated",      "migration.unknown_version",  "migration.wrong_version"};
  return std::ranges::find(kOfDocuments, error.id()) != std::end(kOfDocuments);
}

int HttpStatusOf(const Status& error) {
  return IsOfDocument(error) ? 422 : HttpStatusOf(error.code());
}

std::string_view ReasonPhrase(int http_status) {
  return http_status_str(static_cast<enum http_status>(http_status));
}

void AppendError(const Status& status, std::string* out) {
  out->append(R"({"id":)");
  AppendText(out, status.id());
  AppendMember(out, "message", status.message());
  AppendDetails(status, out);
  out->push_back('}');
}

std::string ErrorBody(const Status& status, std::string_view request_id) {
  std::string out = R"({"error":{"id":)";
  AppendText(&out, status.id());
  AppendMember(&out, "message", status.message());
  AppendMember(&out, "request_id", request_id);
  AppendDetails(status, &out);
  out += "}}\n";
  return out;
}

json::Value ErrorSchema() {
  const auto text = [](const char* description) {
    return json::Value::Object({{"type", "string"}, {"description", description}});
  };
  const json::Value number = json::Value::Object({{"type", "integer"}});
  json::Value error = json::Value::Object(
      {{"type", "object"},
       {"required", json::Value::Array({"id", "message", "request_id"})},
       {"properties",
        json::Value::Object({{"id", text("stable; see the list of error ids")},
                             {"message", text("what was expected and what was found")},
                             {"request_id", text("as in the header X-Request-Id")},
                             {"file", text("where in the user's text")},
                             {"line", number},
                             {"column", number}})},
       {"additionalProperties", json::Value::Object({{"type", "string"}})}});
  return json::Value::Object({{"type", "object"},
                              {"required", json::Value::Array({"error"})},
                              {"properties", json::Value::Object({{"error", error}})}});
}

}  // namespace sluice::http
