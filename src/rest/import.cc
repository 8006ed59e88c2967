// POST /v1/import/{keyspace}: JSON lines, one document each, as a scan with
// Accept: application/x-ndjson gives them. Lines are independent of each other: what is wrong with
// one is reported with its number, and the others are written. A large import is sent in pieces.
#include "service/import.h"

#include <string>
#include <utility>

#include "json/parse.h"
#include "rest/access.h"
#include "rest/body.h"
#include "rest/document_http.h"
#include "rest/document_item.h"
#include "rest/http_types.h"
#include "rest/routes.h"

namespace sluice::rest {
namespace {

// What an import of lines needs besides them.
struct ImportRequest {
  db::KeyspaceId keyspace = 0;
  service::ImportOptions options;
  uint64_t now_ms = 0;
};

Result<ImportRequest> ImportRequestOf(const Context& context, const Request& request) {
  ImportRequest import;
  ASSIGN_OR_RETURN(import.keyspace,
                   service::ResolveKeyspace(context.database, request.Param("keyspace"),
                                            service::Access::kWrite));
  const std::string_view mode = request.Query("mode").value_or("upsert");
  if (mode != "upsert" && mode != "insert") {
    return Unexpected(Error(Code::kInvalidArgument, "http.bad_parameter",
                            "query parameter 'mode': expected upsert or insert, found '{}'", mode)
                          .With("parameter", "mode"));
  }
  import.options = {.insert = mode == "insert", .actor = ActorOf(request)};
  import.now_ms = context.clock.WallMs();
  return import;
}

// `cas` may be there, as an export has it, and is not a condition: the document gets a new one.
Result<db::Write> WriteOfLine(const ImportRequest& import, std::string_view line) {
  ASSIGN_OR_RETURN(json::Value item, json::Parse(line));
  RETURN_IF_ERROR(
      CheckObject(item, "a line", {"key", "value", "base64", "expiry", "flags", "xattrs", "cas"}));
  item.Remove("cas");
  ASSIGN_OR_RETURN(db::Write write, WriteOfItem(item, line, import.now_ms));
  write.keyspace = import.keyspace;
  return write;
}

bool IsBlankLine(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

json::Value OutcomeView(const service::ImportOutcome& outcome) {
  json::Value errors = json::Value::EmptyArray();
  for (const auto& [line, why] : outcome.errors) {
    json::Value error = json::Value::Object(
        {{"line", json::Value::Unsigned(line)}, {"id", why.id()}, {"message", why.message()}});
    if (why.place().column != 0) error.Set("column", why.place().column);
    errors.Append(std::move(error));
  }
  json::Value view = json::Value::Object({{"imported", json::Value::Unsigned(outcome.imported)},
                                          {"failed", json::Value::Unsigned(outcome.failed)},
                                          {"errors", std::move(errors)}});
  if (outcome.replaced > 0) view.Set("replaced", json::Value::Unsigned(outcome.replaced));
  if (outcome.violations.empty()) return view;
  json::Value violations = json::Value::EmptyArray();
  for (const auto& [line, written] : outcome.violations) {
    json::Value violation = json::Value::Object({{"line", json::Value::Unsigned(line)}});
    SetViolation(written, &violation);
    violations.Append(std::move(violation));
  }
  view.Set("violated", json::Value::Unsigned(outcome.violated));
  view.Set("quarantined", json::Value::Unsigned(outcome.quarantined));
  view.Set("violations", std::move(violations));
  return view;
}

json::Value ImportLines(Context& context, const ImportRequest& request, std::string_view text) {
  service::Import import(context.database, request.options);
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (IsBlankLine(line)) continue;
    Result<db::Write> write = WriteOfLine(request, line);
    if (write) {
      import.Write(number, std::move(*write));
    } else {
      import.Fail(number, write.error());
    }
  }
  return OutcomeView(import.Finish());
}

}  // namespace

Status AddImportRoutes(Router& router, Context& context) {
  return router.Add(
      {.method = Method::kPost,
       .path = "/v1/import/{keyspace}",
       .summary = "Write documents given as JSON lines",
       .tag = "documents",
       .description = "Each line for itself; the answer counts them and lists the first errors.",
       .parameters = {{.name = "mode",
                       .description = "upsert, or insert: an existing key is an error"}},
       .request = Content{.description = R"({"key":...,"value":...} on each line)",
                          .type = "application/x-ndjson"},
       .responses = {{200, "imported, failed and errors by line", Content{}}},
       .auth = std::string(kWriteKeyspace),
       .handler = Blocking([&context](Request& request, Response& response) {
         const Result<ImportRequest> import = ImportRequestOf(context, request);
         if (!import) return response.Error(import.error());
         response.Json(200, AnswerText(ImportLines(context, *import, request.body())));
       })});
}

}  // namespace sluice::rest
