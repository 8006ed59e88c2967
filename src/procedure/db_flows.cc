// db:start_flow(id, input): a flow that is started when the transaction is committed; outside of
// one, at once.
#include "procedure/arguments.h"
#include "procedure/db_object.h"
#include "queue/flow_request.h"

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
                   queue::MakeFlowRequest(database, flow, std::move(input), &run));
  // As a statement's request: it makes the transaction of db:begin.
  db::Transaction* const transaction = session.Request(call).transaction;
  if (transaction != nullptr) {
    transaction->AddRow(std::move(row));
  } else {
    db::Commit commit;
    commit.rows.push_back(std::move(row));
    RETURN_IF_ERROR(database.Apply(std::move(commit)).status);
  }
  call.Return(Value(run));
  return OkStatus();
}

}  // namespace

std::vector<lua::Method> FlowMethods() { return {{"start_flow", RunStartFlow}}; }

}  // namespace sluice::procedure
