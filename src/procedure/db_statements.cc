// db:exec, prepare, bind, table, begin, commit, rollback, error.
#include <utility>

#include "procedure/arguments.h"
#include "procedure/consumer_object.h"
#include "procedure/db_object.h"
#include "procedure/sp_object.h"
#include "procedure/statement_object.h"
#include "procedure/table_object.h"
#include "procedure/thread_object.h"

namespace sluice::procedure {
namespace {

using lua::Call;
using lua::HostObject;

// A statement and its number; nil and the number of the error, whose text db:error() has.
Status Answer(Session& session, Call& call, const Status& status,
              std::shared_ptr<StatementObject> statement) {
  if (status.ok()) {
    call.Return(std::move(statement));
  } else {
    call.Return(Value());
  }
  call.Return(Value(session.Note(status)));
  return OkStatus();
}

Status RunExec(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const std::string text, StringArgument(call, 0, "exec"));
  auto statement = StatementObject::Prepare(session, text);
  if (!statement) return Answer(session, call, statement.error(), nullptr);
  for (size_t i = 0; i < session.bound_positional.size(); ++i) {
    (*statement)->BindPositional(i + 1, session.bound_positional[i]);
  }
  for (const auto& [name, value] : session.bound_named) (*statement)->BindNamed(name, value);
  session.bound_positional.clear();
  session.bound_named.clear();
  const Status status = (*statement)->Execute(call);
  return Answer(session, call, status, std::move(*statement));
}

Status RunPrepare(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const std::string text, StringArgument(call, 0, "prepare"));
  auto statement = StatementObject::Prepare(session, text);
  if (!statement) return Answer(session, call, statement.error(), nullptr);
  return Answer(session, call, OkStatus(), std::move(*statement));
}

// For the next db:exec.
Status RunBind(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const Value where, call.Get(0));
  ASSIGN_OR_RETURN(Value value, call.Get(1));
  if (value.is_missing()) value = Value(nullptr);
  if (const auto place = WholeNumber(where); place && *place >= 1 && *place <= 1000) {
    const auto index = static_cast<size_t>(*place);
    if (session.bound_positional.size() < index) {
      session.bound_positional.resize(index, Value(nullptr));
    }
    session.bound_positional[index - 1] = std::move(value);
  } else if (where.is_string()) {
    session.bound_named[std::string(where.AsString())] = std::move(value);
  } else {
    return BadArgument("bind", "the number or the name of a parameter");
  }
  return OkStatus();
}

Status RunTable(HostObject& object, Call& call) {
  ASSIGN_OR_RETURN(std::string name, StringArgument(call, 0, "table"));
  Session& session = SessionOf(object);
  std::shared_ptr<TemporaryTable> temporary;
  if (call.kind(1) != lua::Kind::kNil) {
    ASSIGN_OR_RETURN(const Value columns, call.Get(1));
    ASSIGN_OR_RETURN(temporary, TemporaryTable::Make(name, columns));
    session.AddTemporary(temporary);
  } else {
    temporary = session.FindTemporary(name);
  }
  call.Return(std::make_shared<TableObject>(session, std::move(name), std::move(temporary)));
  call.Return(Value(kOk));
  return OkStatus();
}

Status CheckOwnTransactions(const Session& session) {
  if (session.role == Session::Role::kFunction) {
    return Error(Code::kConflict, "procedure.transaction",
                 "a function has no transaction of its own");
  }
  if (session.role != Session::Role::kTrigger) return OkStatus();
  return Error(Code::kConflict, "procedure.transaction",
               "a trigger has no begin, commit and rollback: its writes and the consumed event are "
               "one transaction, which ends when main returns");
}

Status RunBegin(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  RETURN_IF_ERROR(CheckOwnTransactions(session));
  if (session.request.transaction != nullptr) {
    return Error(Code::kConflict, "procedure.transaction",
                 "the caller has a transaction: begin, commit and rollback are the caller's");
  }
  if (session.begun) {
    return Error(Code::kConflict, "procedure.transaction", "a transaction is open already");
  }
  session.begun = true;
  session.effects = {};
  call.Return(Value(kOk));
  return OkStatus();
}

Status NoTransaction(std::string_view what) {
  return Error(Code::kConflict, "procedure.transaction", "{}: there is no transaction", what);
}

// Of {with_effects = true}, the only option there is.
Result<bool> WithEffects(Call& call) {
  if (call.kind(0) == lua::Kind::kNil) return false;
  ASSIGN_OR_RETURN(const Value options, call.Get(0));
  if (options.size() != 1 || !options["with_effects"].is_bool()) {
    return Unexpected(BadArgument("commit", "nothing, or {with_effects = true}"));
  }
  return options["with_effects"].AsBool();
}

// Also of the events that are to be consumed with it.
Status RunCommit(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  RETURN_IF_ERROR(CheckOwnTransactions(session));
  ASSIGN_OR_RETURN(const bool with_effects, WithEffects(call));
  if (!std::exchange(session.begun, false)) return NoTransaction("commit");
  const std::unique_ptr<db::Transaction> transaction = std::move(session.transaction);
  db::Commit commit;
  if (transaction != nullptr) commit = transaction->TakeCommit();
  Status status;
  if (session.consumption != nullptr) {
    status = session.consumption->Commit(std::move(commit));
  } else if (transaction != nullptr) {
    status = session.engine.database().Apply(std::move(commit)).status;
  }
  const int64_t code = session.Note(status);
  call.Return(Value(code));
  if (!with_effects || code != kOk) return OkStatus();
  const Effects& done = session.effects;
  call.Return(Value::Object({{"num_affected", done.inserted + done.updated + done.deleted},
                             {"num_selected", done.selected},
                             {"num_updated", done.updated},
                             {"num_deleted", done.deleted},
                             {"num_inserted", done.inserted}}));
  return OkStatus();
}

Status RunRollback(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  RETURN_IF_ERROR(CheckOwnTransactions(session));
  if (!std::exchange(session.begun, false)) return NoTransaction("rollback");
  session.transaction.reset();
  if (session.consumption != nullptr) session.consumption->Rewind();
  call.Return(Value(kOk));
  return OkStatus();
}

Status RunError(HostObject& object, Call& call) {
  const std::string& error = SessionOf(object).last_error;
  call.Return(error.empty() ? Value() : Value(error));
  return OkStatus();
}

Status RunCreateThread(HostObject& object, Call& call) {
  return StartThread(SessionOf(object), call);
}

// Another procedure, to be called as a function.
Status RunSp(HostObject& object, Call& call) {
  Session& session = SessionOf(object);
  ASSIGN_OR_RETURN(const std::string name, StringArgument(call, 0, "sp"));
  ASSIGN_OR_RETURN(Value version, call.Get(1));
  if (version.is_missing()) version = ChosenVersion(session.request, name);
  if (const auto number = WholeNumber(version)) version = Value(*number);
  ASSIGN_OR_RETURN(auto program, session.store.Find(name, version));
  call.Return(std::make_shared<SpObject>(session, std::move(program)));
  return OkStatus();
}

}  // namespace

std::vector<lua::Method> StatementMethods() {
  return {{"exec", RunExec},
          {"prepare", RunPrepare},
          {"bind", RunBind},
          {"table", RunTable},
          {"begin", RunBegin},
          {"commit", RunCommit},
          {"error", RunError},
          {"sqlerror", RunError},
          {"rollback", RunRollback},
          {"create_thread", RunCreateThread},
          {"sp", RunSp}};
}

}  // namespace sluice::procedure
