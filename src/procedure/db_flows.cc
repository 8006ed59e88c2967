// db:start_flow(id, input): a flow that is started when the transaction is committed; outside of
// one, at once. db:read_stream(id, offset, size): a piece of a body that is too large for a value.
#include "outbox/flow_request.h"
#include "procedure/arguments.h"
#include "procedure/db_object.h"

namespace sluice::procedure {
namespace {

Status RunStartFlow(lua::HostObject& object, lua::Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const std::string flow, StringArgument(call, 0, "start_flow"));
  ASSIGN_OR_RETURN(Value input, call.Get(1));
  if (session.request.read_only) {
    return Error(Code::kForbidden, "query.read_only", "start_flow: this run may only read");
  }
  db::Database& database = session.engine.database();
  std::string run;
  ASSIGN_OR_RETURN(db::RowWrite row,
                   outbox::MakeFlowRequest(database, flow, std::move(input), &run));
  // As a statement's request: it makes the transaction of db:begin.
  db::Transaction* const transaction = session.Request(call).transaction;
  if (transaction != nullptr) {
    transaction->AddRow(std::move(row));
  } else {
    db::Commit commit;
    commit.shard = database.ShardOfKey(run);  // nothing else is in it
    commit.rows.push_back(std::move(row));
    RETURN_IF_ERROR(database.Apply(std::move(commit)).status);
  }
  call.Return(Value(run));
  return OkStatus();
}

Result<uint64_t> SizeArgument(lua::Call& call, size_t index, uint64_t fallback) {
  ASSIGN_OR_RETURN(const Value value, call.Get(index));
  if (value.is_missing() || value.is_null()) return fallback;
  ASSIGN_OR_RETURN(const int64_t number, IntegerArgument(call, index, "read_stream"));
  if (number < 0) return Unexpected(BadArgument("read_stream", "a number that is not negative"));
  return static_cast<uint64_t>(number);
}

// A table with data, a string of bytes; offset, next, more and total.
Status RunReadStream(lua::HostObject& object, lua::Call& call) {
  const Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const std::string id, StringArgument(call, 0, "read_stream"));
  ASSIGN_OR_RETURN(const uint64_t offset, SizeArgument(call, 1, 0));
  ASSIGN_OR_RETURN(const uint64_t size, SizeArgument(call, 2, script::kDefaultPieceBytes));
  if (session.streams == nullptr) {
    return Error(Code::kUnsupported, "procedure.unsupported",
                 "read_stream: only tasks of flows have streams");
  }
  ASSIGN_OR_RETURN(const script::StreamPiece piece, session.streams->ReadPiece(id, offset, size));
  const uint64_t next = offset + piece.bytes.size();
  call.Return(Value::Object({{"data", Value(piece.bytes)},
                             {"offset", Value::Unsigned(offset)},
                             {"next", Value::Unsigned(next)},
                             {"more", next < piece.total},
                             {"total", Value::Unsigned(piece.total)}}));
  return OkStatus();
}

}  // namespace

std::vector<lua::Method> FlowMethods() {
  return {{"start_flow", RunStartFlow}, {"read_stream", RunReadStream}};
}

}  // namespace sluice::procedure
