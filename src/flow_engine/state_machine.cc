#include "flow_engine/state_machine.h"

#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;

class StateMachine final : public TaskInstance {
 public:
  StateMachine(db::Database& database, db::KeyspaceName keyspace)
      : database_(database), keyspace_(std::move(keyspace)) {}

  TaskOutput Run(const TaskInput& input) override {
    const Value& type = input.headers["type"];
    const Value& key = input.headers["key"];
    if (!key.is_string() || key.AsString().empty()) {
      return TaskOutput::Failure(400, "Missing key in headers");
    }
    const auto keyspace = database_.Resolve(keyspace_);
    if (!keyspace) return TaskOutput::Failure(keyspace.error());
    const std::string name(key.AsString());
    if (type == Value("put")) return Put(input, *keyspace, name);
    if (type == Value("get")) return Get(*keyspace, name);
    if (type == Value("remove")) return Remove(input, *keyspace, name);
    return TaskOutput::Failure(400, "type in headers: expected put, get or remove");
  }

 private:
  TaskOutput Put(const TaskInput& input, db::KeyspaceId keyspace, const std::string& key) {
    const Value& value = input.body;
    db::Document document;
    document.body = value.is_bytes()     ? std::string(value.AsBytes())
                    : value.is_missing() ? "null"
                                         : json::ToText(value);
    if (value.is_bytes()) document.datatype = db::Datatype::kBinary;
    return Write(input, keyspace, key, db::PutWrite(keyspace, key, std::move(document)));
  }

  TaskOutput Get(db::KeyspaceId keyspace, const std::string& key) const {
    const auto document = database_.Get(keyspace, key);
    if (!document) return TaskOutput::Failure(document.error());
    if (!*document) return {.body = Value(nullptr)};
    if ((*document)->datatype != db::Datatype::kJson) {
      return {.body = Value::Bytes((*document)->body)};
    }
    auto value = json::Parse((*document)->body);
    if (!value) return TaskOutput::Failure(value.error());
    return {.body = std::move(*value)};
  }

  // False when there is nothing to remove.
  TaskOutput Remove(const TaskInput& input, db::KeyspaceId keyspace, const std::string& key) {
    TaskOutput output =
        Write(input, keyspace, key, db::DeleteWrite(keyspace, key, db::Precondition::Present()));
    return output.status == 404 ? TaskOutput{.body = Value(false)} : output;
  }

  TaskOutput Write(const TaskInput& input, db::KeyspaceId keyspace, const std::string& key,
                   db::Write write) {
    db::Commit commit;
    commit.shard = database_.ShardOf(keyspace, key);
    commit.writes.push_back(std::move(write));
    TaskOutput output{.body = Value(true)};
    const Status status = CommitTask(database_, input, output, std::move(commit));
    return status.ok() ? output : TaskOutput::Failure(status);
  }

  db::Database& database_;
  const db::KeyspaceName keyspace_;
};

}  // namespace

TaskMaker MakeStateMachine(db::Database& database, db::KeyspaceName keyspace) {
  return [&database, keyspace]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<StateMachine>(database, keyspace);
  };
}

}  // namespace sluice::flow_engine
