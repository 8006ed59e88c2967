// POST /v1/import/{keyspace}: JSON lines, one document each, as a scan with
// Accept: application/x-ndjson gives them. Lines are independent of each other: what is wrong with
// one is reported with its number, and the others are written. A large import is sent in pieces.
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "http/rest/access.h"
#include "http/rest/body.h"
#include "http/rest/commit_window.h"
#include "http/rest/document_http.h"
#include "http/rest/document_item.h"
#include "http/rest/routes.h"
#include "http/worker_pool.h"
#include "json/parse.h"

namespace sluice::http::rest {
namespace {

constexpr size_t kMaxReported = 100;

// What became of the lines; filled by committers' threads too.
class Outcomes {
 public:
  // `replaced`: its key was there before.
  void Done(uint64_t line, const db::WriteResult& written, bool replaced) {
    const std::lock_guard lock(mutex_);
    if (replaced && written.diverted_to.empty()) ++replaced_;
    ++(written.diverted_to.empty() ? imported_ : quarantined_);
    if (written.violation.ok()) return;
    if (written.diverted_to.empty()) ++violated_;
    json::Value violation = json::Value::Object({{"line", json::Value::Unsigned(line)}});
    SetViolation(written, &violation);
    violations_.emplace(line, std::move(violation));
    if (violations_.size() > kMaxReported) violations_.erase(std::prev(violations_.end()));
  }
  void Failed(uint64_t line, const Status& why) {
    const std::lock_guard lock(mutex_);
    ++failed_;
    // The first ones by line number, whatever the order in which they are known.
    errors_.emplace(line, why);
    if (errors_.size() > kMaxReported) errors_.erase(std::prev(errors_.end()));
  }
  json::Value View() const {
    const std::lock_guard lock(mutex_);
    json::Value errors = json::Value::EmptyArray();
    for (const auto& [line, why] : errors_) {
      json::Value error = json::Value::Object(
          {{"line", json::Value::Unsigned(line)}, {"id", why.id()}, {"message", why.message()}});
      if (why.place().column != 0) error.Set("column", why.place().column);
      errors.Append(std::move(error));
    }
    json::Value view = json::Value::Object({{"imported", json::Value::Unsigned(imported_)},
                                            {"failed", json::Value::Unsigned(failed_)},
                                            {"errors", std::move(errors)}});
    if (replaced_ > 0) view.Set("replaced", json::Value::Unsigned(replaced_));
    if (violations_.empty()) return view;
    json::Value violations = json::Value::EmptyArray();
    for (const auto& [line, violation] : violations_) violations.Append(violation);
    view.Set("violated", json::Value::Unsigned(violated_));
    view.Set("quarantined", json::Value::Unsigned(quarantined_));
    view.Set("violations", std::move(violations));
    return view;
  }

 private:
  mutable std::mutex mutex_;
  // All guarded by mutex_.
  uint64_t imported_ = 0;
  uint64_t replaced_ = 0;  // of them
  uint64_t failed_ = 0;
  uint64_t violated_ = 0;     // stored although they do not fit their types
  uint64_t quarantined_ = 0;  // stored in another keyspace for that reason
  std::map<uint64_t, Status> errors_;
  std::map<uint64_t, json::Value> violations_;
};

struct Import {
  db::KeyspaceId keyspace = 0;
  bool insert = false;  // a key that is there already is an error
  uint64_t now_ms = 0;
  std::string actor;
};

Result<Import> ImportOf(const Context& context, const Request& request) {
  Import import;
  import.actor = ActorOf(request);
  ASSIGN_OR_RETURN(import.keyspace, ResolveKeyspace(context, request.Param("keyspace")));
  RETURN_IF_ERROR(RefuseTable(import.keyspace));
  const std::string_view mode = request.Query("mode").value_or("upsert");
  if (mode != "upsert" && mode != "insert") {
    return Unexpected(Error(Code::kInvalidArgument, "http.bad_parameter",
                            "query parameter 'mode': expected upsert or insert, found '{}'", mode)
                          .With("parameter", "mode"));
  }
  import.insert = mode == "insert";
  import.now_ms = context.clock.WallMs();
  return import;
}

// `cas` may be there, as an export has it, and is not a condition: the document gets a new one.
Result<db::Write> WriteOfLine(const Import& import, std::string_view line) {
  ASSIGN_OR_RETURN(json::Value item, json::Parse(line));
  RETURN_IF_ERROR(
      CheckObject(item, "a line", {"key", "value", "base64", "expiry", "flags", "xattrs", "cas"}));
  item.Remove("cas");
  ASSIGN_OR_RETURN(db::Write write, WriteOfItem(item, line, import.now_ms));
  write.keyspace = import.keyspace;
  if (import.insert) write.precondition = db::Precondition::Absent();
  return write;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Whether the key is there, or was in a line before: those are not all committed yet. Others who
// write at the same time may make it wrong.
bool IsThere(const Context& context, const db::Write& write, std::set<std::string>* before) {
  if (!before->insert(write.key).second) return true;
  db::PinnedDocument present;
  const auto found = context.database.read_forms().GetStored(write.keyspace, write.key, &present);
  return found && *found;
}

json::Value ImportLines(Context& context, const Import& import, std::string_view text) {
  Outcomes outcomes;
  std::set<std::string> keys;
  {
    CommitWindow window(context.database);
    for (uint64_t number = 1; !text.empty(); ++number) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (IsBlank(line)) continue;
      Result<db::Write> write = WriteOfLine(import, line);
      if (!write) {
        outcomes.Failed(number, write.error());
        continue;
      }
      const bool replaced = IsThere(context, *write, &keys);
      db::Commit commit = CommitOf(context, std::move(*write));
      commit.actor = import.actor;
      window.Submit(std::move(commit),
                    [&outcomes, number, replaced](const db::CommitResult& result) {
                      if (result.status.ok()) {
                        outcomes.Done(number, result.writes.front(), replaced);
                      } else {
                        outcomes.Failed(number, result.status);
                      }
                    });
    }
  }
  return outcomes.View();
}

}  // namespace

Status AddImportRoutes(Router& router, Context& context) {
  return router.Add(
      {.method = Method::kPost,
       .path = "/v1/import/{keyspace}",
       .summary = "Write documents given as JSON lines",
       .tag = "documents",
       .description =
           "Writes each line by itself; the answer counts them and lists the first errors.",
       .parameters = {{.name = "mode",
                       .description = "upsert, or insert: an existing key is an error"}},
       .request = Content{.description = R"({"key":...,"value":...} on each line)",
                          .type = "application/x-ndjson"},
       .responses = {{200, "imported, failed and errors by line", Content{}}},
       .auth = std::string(kWriteKeyspace),
       .handler = Blocking([&context](Request& request, Response& response) {
         const Result<Import> import = ImportOf(context, request);
         if (!import) return response.Error(import.error());
         response.Json(200, AnswerText(ImportLines(context, *import, request.body())));
       })});
}

}  // namespace sluice::http::rest
