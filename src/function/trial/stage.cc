#include "function/trial/stage.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/base64.h"
#include "db/expiry.h"
#include "function/failed_event.h"
#include "json/parse.h"
#include "json/print.h"
#include "timer/owned.h"

namespace sluice::function::trial {
namespace {

using json::Value;

constexpr int kMaxStops = 100'000;      // of one advance
constexpr uint64_t kMaxCommits = 5000;  // of the function, in one step
constexpr size_t kMaxTimers = 1000;     // that are looked at
constexpr size_t kMaxFailures = 1000;   // that are looked at
// The time in which a function must come to rest after a step, besides the time of one call.
constexpr std::chrono::seconds kPatience(60);

// The kind of a failed event, in the words of the log.
std::string_view KindOf(const Value& event) {
  const Value& operation = event["operation"];
  if (operation == Value("timer")) return "timer";
  const bool update = operation == Value("insert") || operation == Value("update");
  return update ? "OnUpdate of document" : "OnDelete of document";
}

}  // namespace

Result<std::unique_ptr<Stage>> Stage::Set(const Trial& trial, const Definition& definition) {
  std::unique_ptr<Stage> stage(new Stage(trial));
  RETURN_IF_ERROR(stage->Open(trial, definition));
  return stage;
}

Stage::~Stage() {
  manager_.reset();
  queries_.reset();
  database_.reset();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status Stage::Open(const Trial& trial, const Definition& definition) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "sluice_trial_XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return Error(Code::kIo, "trial.no_directory", "can't make a temporary directory {}: {}", path,
                 error ? error.message() : std::strerror(errno));
  }
  directory_ = path;
  db::DatabaseOptions options;
  options.durability = db::Durability::kNone;
  ASSIGN_OR_RETURN(database_, db::Database::Open(directory_ / "data", options, clock_));
  queries_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
  Services services{*database_, *queries_, clock_};
  services.http = &http_;
  services.handlers_use_clock = true;
  services.progress = &progress_;
  manager_ = std::make_unique<Manager>(services);
  RETURN_IF_ERROR(manager_->Start());

  function_ = definition.Location();
  source_ = definition.source;
  patience_ = kPatience + std::chrono::seconds(definition.settings.execution_timeout_s);
  RETURN_IF_ERROR(MakeKeyspace(definition.source));
  RETURN_IF_ERROR(MakeKeyspace(definition.metadata));
  for (const BucketBinding& binding : definition.buckets) {
    RETURN_IF_ERROR(MakeKeyspace(binding.keyspace));
  }
  for (const db::KeyspaceName& name : trial.keyspaces) RETURN_IF_ERROR(MakeKeyspace(name));
  for (const Put& put : trial.documents) RETURN_IF_ERROR(Store(put));
  return OkStatus();
}

// Of a name with "*", makes the bucket and scope before it.
Status Stage::MakeKeyspace(const db::KeyspaceName& name) {
  const auto made = [](const Status& status) {
    return status.code() == Code::kAlreadyExists ? OkStatus() : status;
  };
  RETURN_IF_ERROR(made(database_->admin().CreateBucket(name.bucket)));
  if (name.scope == "*") return OkStatus();
  if (name.scope != db::kDefaultName) {
    RETURN_IF_ERROR(made(database_->admin().CreateScope(name.bucket, name.scope)));
  }
  if (name.collection == "*" || name.collection == db::kDefaultName) return OkStatus();
  return made(database_->admin().CreateCollection(name));
}

Result<std::vector<std::string>> Stage::Log() const {
  ASSIGN_OR_RETURN(std::vector<std::string> lines,
                   manager_->Log(function_, FunctionLog::kMaxWaiting));
  std::ranges::reverse(lines);
  for (std::string& line : lines) line = std::string(TextOfRecord(line));
  return lines;
}

Status Stage::Deploy(const Definition& definition) {
  RETURN_IF_ERROR(manager_->Store(definition));
  RETURN_IF_ERROR(manager_->Deploy(function_));
  return Settle();
}

// --- steps --------------------------------------------------------------------------------------

Result<db::KeyspaceId> Stage::KeyspaceOf(const std::optional<db::KeyspaceName>& given) const {
  if (!given && source_.wildcard()) {
    return Fail(Code::kInvalidArgument, "trial.invalid",
                "expected a keyspace in \"in\": the function's source is {}", source_.ToString());
  }
  return database_->Resolve(given.value_or(source_));
}

Status Stage::Store(const Put& put) {
  db::Document document{.body = json::ToText(put.value)};
  if (const Value& base64 = put.value["$base64"]; base64.is_string()) {
    ASSIGN_OR_RETURN(document.body, FromBase64(base64.AsString()));
    document.datatype = db::Datatype::kBinary;
  }
  if (put.xattrs.is_object()) document.xattrs = json::ToText(put.xattrs);
  if (put.expiry_ms != 0) document.expiry_ms = clock_.WallMs() + put.expiry_ms;
  ASSIGN_OR_RETURN(const db::KeyspaceId keyspace, KeyspaceOf(put.keyspace));
  db::Commit commit;
  commit.writes.push_back(db::PutWrite(keyspace, put.key, std::move(document)));
  return database_->Apply(std::move(commit)).status;
}

Status Stage::Do(const Put& put) {
  RETURN_IF_ERROR(Store(put));
  return Settle();
}

Status Stage::Do(const Delete& deletion) {
  ASSIGN_OR_RETURN(const db::KeyspaceId keyspace, KeyspaceOf(deletion.keyspace));
  db::Commit commit;
  commit.writes.push_back(db::DeleteWrite(keyspace, deletion.key));
  RETURN_IF_ERROR(database_->Apply(std::move(commit)).status);
  return Settle();
}

Status Stage::Do(const Advance& advance) {
  const uint64_t target_ms = clock_.WallMs() + advance.ms;
  if (target_ms > kLastMs) {
    return Error(Code::kInvalidArgument, "trial.invalid", "the clock ends at {}",
                 PrintMoment(kLastMs));
  }
  for (int stop = 0; stop < kMaxStops; ++stop) {
    const uint64_t from_ms = clock_.WallMs() + 1;
    ASSIGN_OR_RETURN(const uint64_t timer_ms, FirstTimerMs(from_ms));
    ASSIGN_OR_RETURN(const uint64_t expiry_ms, database_->operations().NextExpiryMs(from_ms));
    const uint64_t due_ms = std::min(timer_ms, expiry_ms);
    if (due_ms > target_ms) return SetTime(target_ms);
    RETURN_IF_ERROR(SetTime(due_ms));
  }
  return Error(Code::kInvalidArgument, "trial.restless",
               "more than {} timers and expiring documents within one advance", kMaxStops);
}

Status Stage::SetTime(uint64_t wall_ms) {
  settled_ms_ = clock_.WallMs();
  clock_.SetMs(wall_ms);
  ASSIGN_OR_RETURN([[maybe_unused]] const uint64_t expired, database_->operations().ExpireNow());
  manager_->ClockWasSet();
  return Settle();
}

Result<uint64_t> Stage::FirstTimerMs(uint64_t from_ms) const {
  uint64_t first_ms = UINT64_MAX;
  ASSIGN_OR_RETURN(const std::vector<std::string> owners, timer::Owners(*database_));
  for (const std::string& owner : owners) {
    RETURN_IF_ERROR(timer::Visit(*database_, owner, {from_ms, 0}, [&](const timer::Timer& timer) {
      first_ms = std::min(first_ms, timer.moment.due_ms);
      return false;
    }));
  }
  return first_ms;
}

// --- waiting ------------------------------------------------------------------------------------

Result<db::Sequence> Stage::Mark() {
  db::Commit commit;
  commit.rows.push_back(
      {db::RowFamily::kMeta, db::kDefinitionsShard, "trial/mark", "", std::nullopt});
  const db::CommitResult result = database_->Apply(std::move(commit));
  RETURN_IF_ERROR(result.status);
  return result.sequence;
}

// Whether the function has handled all commits, and no timer or retry is due. The row of a timer
// goes in the commit of its callback.
Result<bool> Stage::AtRest() const {
  ASSIGN_OR_RETURN(const FunctionStatus status, manager_->StatusOf(function_));
  if (!status.failure.empty()) {
    return Fail(Code::kInternal, "trial.stopped", "the function has stopped: {}", status.failure);
  }
  if (!status.caught_up) return false;
  ASSIGN_OR_RETURN(const uint64_t timer_ms, FirstTimerMs(settled_ms_));
  return timer_ms > clock_.WallMs();
}

// The function has settled if it is at rest between two marks with no commit in between: a change
// or timer that is still being handled makes AtRest false, or commits.
Status Stage::Settle() {
  const Clock::Time until = MachineClock().Now() + patience_;
  ASSIGN_OR_RETURN(db::Sequence before, Mark());
  uint64_t commits = 0;  // of others
  while (MachineClock().Now() < until && commits <= kMaxCommits) {
    const uint64_t seen = progress_.news();
    ASSIGN_OR_RETURN(const bool at_rest, AtRest());
    if (!at_rest) progress_.Wait(seen, until);
    ASSIGN_OR_RETURN(const db::Sequence after, Mark());
    if (at_rest && after == before + 1) return OkStatus();
    commits += after - before - 1;
    before = after;
  }
  return Error(Code::kTimeout, "trial.restless",
               "the function does not come to rest: it committed {} times in this step", commits);
}

// --- looking ------------------------------------------------------------------------------------

Result<Value> Stage::Documents(const db::KeyspaceName& keyspace) const {
  ASSIGN_OR_RETURN(const db::KeyspaceId id, database_->Resolve(keyspace));
  Value documents = Value::EmptyObject();
  RETURN_IF_ERROR(
      database_->Scan(id, {}, [&](std::string_view key, const db::DocumentView& document) {
        const bool json = document.datatype == db::Datatype::kJson;
        const Result<Value> parsed = json ? json::Parse(document.body) : Value();
        documents.Set(
            key, json && parsed ? *parsed : Value::Object({{"$base64", ToBase64(document.body)}}));
        return true;
      }));
  return documents;
}

Result<Value> Stage::Timers() const {
  ASSIGN_OR_RETURN(const TimerPage page, manager_->Timers(function_, {}, kMaxTimers));
  Value timers = Value::EmptyArray();
  for (const timer::Timer& timer : page.timers) {
    Value shown = Value::Object({{"callback", timer.callback},
                                 {"reference", timer.reference},
                                 {"due", PrintMoment(timer.moment.due_ms)}});
    if (!timer.context.empty()) {
      ASSIGN_OR_RETURN(Value context, json::Parse(timer.context));
      shown.Set("context", std::move(context));
    }
    timers.Append(std::move(shown));
  }
  return timers;
}

Result<std::vector<std::string>> Stage::Failures() const {
  ASSIGN_OR_RETURN(const FailurePage page, manager_->Failures(function_, {}, kMaxFailures));
  std::vector<std::string> failures;
  for (const failure::FailureList::Item& item : page.failures) {
    const failure::Problem& problem = item.failure.problem;
    failures.push_back(fmt::format("{} '{}' failed: {}\n{}", KindOf(PrintEvent(item.failure)),
                                   item.failure.key, problem.message, problem.stack));
  }
  return failures;
}

}  // namespace sluice::function::trial
