#include "rest/type_migration.h"

#include <utility>

#include "rest/access.h"
#include "rest/body.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

Result<doctype_db::MigrationOptions> OptionsOf(const Request& request) {
  ASSIGN_OR_RETURN(const json::Value body,
                   ReadObject(request.body(), {"dry_run", "announce", "rate"}));
  doctype_db::MigrationOptions options;
  ASSIGN_OR_RETURN(const auto dry_run, BoolField(body, "dry_run"));
  ASSIGN_OR_RETURN(const auto announce, BoolField(body, "announce"));
  ASSIGN_OR_RETURN(const auto rate, IntField(body, "rate"));
  if (rate && *rate < 1) return BadField("rate", "1 or more documents per second", body["rate"]);
  options.dry_run = dry_run.value_or(false);
  options.announce = announce.value_or(false);
  options.rate = static_cast<uint64_t>(rate.value_or(0));
  return options;
}

void AnswerMigration(Response& response, int status, const Result<doctype_db::MigrationJob>& job) {
  if (!job) return response.Error(job.error());
  response.Json(status, AnswerText(job->ToJson()));
}

std::string TypeOf(const Request& request) { return std::string(request.Param("type")); }

}  // namespace

Status AddTypeMigrationRoutes(Router& router, doctype_db::MassMigration& migration) {
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kPost,
       .path = "/v1/types/{type}/migration",
       .summary = "Migrate all documents of a type to its current version",
       .tag = "types",
       .description = "Runs in the background and continues after a crash. Does not overwrite "
                      "documents that somebody changes in the meantime.",
       .request =
           Content{.description = "`dry_run`: only count; `rate`: documents per second at "
                                  "most; `announce`: send events to functions and feeds",
                   .schema = R"({"type":"object","properties":{"dry_run":{"type":"boolean"},)"
                             R"("announce":{"type":"boolean"},"rate":{"type":"integer"}}})"},
       .responses = {{202, "begun", Content{}},
                     {404, "there is no such type"},
                     {409, "it runs already"}},
       .auth = std::string(kAdmin),
       .handler = Blocking([&migration](Request& request, Response& response) {
         const auto options = OptionsOf(request);
         if (!options) return response.Error(options.error());
         AnswerMigration(response, 202, migration.Begin(TypeOf(request), *options));
       })}));
  RETURN_IF_ERROR(router.Add(
      {.method = Method::kGet,
       .path = "/v1/types/{type}/migration",
       .summary = "How far the migration of a type's documents is",
       .tag = "types",
       .responses = {{200, "the one that runs or ran last", Content{}}, {404, "none ever ran"}},
       .auth = std::string(kAdmin),
       .handler = [&migration](Request& request, Response& response) {
         AnswerMigration(response, 200, migration.Find(TypeOf(request)));
       }}));
  return router.Add({.method = Method::kDelete,
                     .path = "/v1/types/{type}/migration",
                     .summary = "Stop the migration of a type's documents",
                     .tag = "types",
                     .description = "Migrated documents stay migrated.",
                     .responses = {{204, "it ends soon"}, {404, "none runs"}},
                     .auth = std::string(kAdmin),
                     .handler = [&migration](Request& request, Response& response) {
                       const Status cancelled = migration.Cancel(TypeOf(request));
                       if (!cancelled.ok()) return response.Error(cancelled);
                       response.NoContent();
                     }});
}

}  // namespace sluice::rest
