#include "flow_engine/builtins.h"

#include <functional>
#include <utility>

#include "db/conflict_retry.h"
#include "db/database.h"
#include "flow/builtin.h"
#include "flow_engine/sql_task.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using Function = std::function<TaskOutput(const TaskInput& input)>;

class Builtin final : public TaskInstance {
 public:
  explicit Builtin(Function function) : function_(std::move(function)) {}
  TaskOutput Run(const TaskInput& input) override { return function_(input); }

 private:
  const Function function_;
};

TaskMaker Make(Function function) {
  return [function = std::move(function)]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<Builtin>(function);
  };
}

// Those of `flow`, which need nothing from outside.
constexpr std::string_view kPure[] = {"no.op", "echo", "simple.exception.handler",
                                      "resilience.handler"};

TaskMaker MakePure(std::string_view route, const Clock& clock) {
  return Make([builtin = flow::FindBuiltin(route), &clock](const TaskInput& input) -> TaskOutput {
    flow::BuiltinAnswer answer = builtin(input.headers, input.body, clock.WallMs());
    return {.status = answer.status,
            .headers = std::move(answer.headers),
            .body = std::move(answer.body),
            .repeatable = true,
            .hold_next_ms = answer.hold_next_ms};
  });
}

TaskOutput RunQuery(query::QueryEngine& engine, const TaskInput& input) {
  const Value& statement = input.body["statement"];
  if (!statement.is_string()) {
    return TaskOutput::Failure(400, "sql.query: expected a text 'statement'");
  }
  const auto plan = engine.Prepare(statement.AsString(), {});
  if (!plan) return TaskOutput::Failure(plan.error());
  return RunStatement(engine, {*plan}, input.body["args"], input);
}

struct Where {
  db::KeyspaceId keyspace = 0;
  std::string key;
};

// Of `keyspace` and `key` in the input.
Result<Where> WhereOf(const db::Database& database, const TaskInput& input) {
  const Value& keyspace = input.body["keyspace"];
  const Value& key = input.body["key"];
  if (!keyspace.is_string() || !key.is_string()) {
    return Fail(Code::kInvalidArgument, "route.argument", "expected texts 'keyspace' and 'key'");
  }
  ASSIGN_OR_RETURN(const auto name, db::KeyspaceName::Parse(keyspace.AsString()));
  if (name.bucket.starts_with('_')) {
    return Fail(Code::kInvalidArgument, "route.argument", "tables are reached by sql.query");
  }
  ASSIGN_OR_RETURN(const db::KeyspaceId id, database.Resolve(name));
  return Where{id, std::string(key.AsString())};
}

TaskOutput GetDocument(db::Database& database, const TaskInput& input) {
  const auto where = WhereOf(database, input);
  if (!where) return TaskOutput::Failure(where.error());
  const auto document = database.Get(where->keyspace, where->key);
  if (!document) return TaskOutput::Failure(document.error());
  if (!*document) return TaskOutput::Failure(404, fmt::format("there is no '{}'", where->key));
  if ((*document)->datatype != db::Datatype::kJson) {
    return {.body = Value::Bytes((*document)->body)};
  }
  auto value = json::Parse((*document)->body);
  if (!value) return TaskOutput::Failure(value.error());
  return {.body = std::move(*value)};
}

// Answers with the stamp that the document has then; a deletion has none.
Status Write(db::Database& database, const TaskInput& input, const Where& where, db::Write write,
             TaskOutput* output) {
  output->body = Value::EmptyObject();
  if (write.document.cas != 0) output->body.Set("cas", std::to_string(write.document.cas));
  db::Commit commit;
  commit.shard = database.ShardOf(where.keyspace, where.key);
  commit.writes.push_back(std::move(write));
  return CommitTask(database, input, *output, std::move(commit));
}

TaskOutput PutDocument(db::Database& database, const TaskInput& input) {
  const auto where = WhereOf(database, input);
  if (!where) return TaskOutput::Failure(where.error());
  const Value& value = input.body["value"];
  if (value.is_missing()) return TaskOutput::Failure(400, "kv.put: expected a 'value'");
  db::Document document;
  document.body = value.is_bytes() ? std::string(value.AsBytes()) : json::ToText(value);
  if (value.is_bytes()) document.datatype = db::Datatype::kBinary;
  // Somebody else may get a newer stamp and be faster.
  for (db::ConflictRetry retry;;) {
    document.cas = database.NewCas();
    TaskOutput output;
    const Status written = Write(database, input, *where,
                                 db::PutWrite(where->keyspace, where->key, document), &output);
    if (written.ok()) return output;
    if (!retry.Again(written)) return TaskOutput::Failure(written);
  }
}

TaskOutput DeleteDocument(db::Database& database, const TaskInput& input) {
  const auto where = WhereOf(database, input);
  if (!where) return TaskOutput::Failure(where.error());
  TaskOutput output;
  const Status written =
      Write(database, input, *where,
            db::DeleteWrite(where->keyspace, where->key, db::Precondition::Present()), &output);
  return written.ok() ? output : TaskOutput::Failure(written);
}

}  // namespace

std::map<std::string, TaskMaker> Builtins(query::QueryEngine& engine, const Clock& clock) {
  db::Database& database = engine.database();
  std::map<std::string, TaskMaker> makers = {
      {"sql.query", Make([&engine](const TaskInput& input) { return RunQuery(engine, input); })},
      {"kv.get",
       Make([&database](const TaskInput& input) { return GetDocument(database, input); })},
      {"kv.put",
       Make([&database](const TaskInput& input) { return PutDocument(database, input); })},
      {"kv.delete",
       Make([&database](const TaskInput& input) { return DeleteDocument(database, input); })},
  };
  for (const std::string_view route : kPure) {
    makers.emplace(route, MakePure(route, clock));
  }
  return makers;
}

}  // namespace sluice::flow_engine
