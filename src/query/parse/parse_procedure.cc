// Lua procedures:
//
//   CREATE PROCEDURE name [VERSION 'text'] { Lua }
//   DROP PROCEDURE name [[VERSION] number | 'text']
//   PUT DEFAULT PROCEDURE name number | 'text'
//   EXEC[UTE] PROCEDURE name(arguments)
//   CREATE LUA SCALAR FUNCTION name [DETERMINISTIC]
//   CREATE LUA AGGREGATE FUNCTION name
//   DROP LUA SCALAR | AGGREGATE FUNCTION name
#include "json/number.h"
#include "query/parse/parser_impl.h"

namespace sluice::query {

bool Parser::AtLuaFunction() const {
  return (At("CREATE") || At("DROP")) && IsWordAhead(1, "LUA") &&
         (IsWordAhead(2, "SCALAR") || IsWordAhead(2, "AGGREGATE"));
}

Result<ProcedureStatement> Parser::LuaFunction() {
  using Action = ProcedureStatement::Action;
  ProcedureStatement function;
  function.place = place();
  function.action = At("CREATE") ? Action::kCreateFunction : Action::kDropFunction;
  at_ += 2;
  function.aggregate = AtWord("AGGREGATE");
  ++at_;
  RETURN_IF_ERROR(Expect("FUNCTION"));
  ASSIGN_OR_RETURN(function.name, Name("the function"));
  if (function.action == Action::kCreateFunction && !function.aggregate &&
      AtWord("DETERMINISTIC")) {
    function.deterministic = true;
    ++at_;
  }
  return function;
}

bool Parser::AtProcedureCall() const {
  return (At("EXECUTE") || AtWord("EXEC")) && IsAhead(1, "PROCEDURE");
}

Result<ProcedureStatement> Parser::Procedure(ProcedureStatement::Action action) {
  using Action = ProcedureStatement::Action;
  ProcedureStatement procedure;
  procedure.place = place();
  procedure.action = action;
  ++at_;
  if (action == Action::kPutDefault) RETURN_IF_ERROR(Expect("DEFAULT"));
  RETURN_IF_ERROR(Expect("PROCEDURE"));
  ASSIGN_OR_RETURN(procedure.name, Name("the procedure"));
  if (action == Action::kExecute) {
    RETURN_IF_ERROR(Expect("("));
    if (!At(")")) {
      ASSIGN_OR_RETURN(procedure.arguments, ExprList());
    }
    RETURN_IF_ERROR(Expect(")"));
    return procedure;
  }
  const bool version = AtWord("VERSION");
  if (version) ++at_;
  RETURN_IF_ERROR(ProcedureVersion(&procedure, version || action == Action::kPutDefault));
  if (action != Action::kCreate) return procedure;
  if (Here().kind != TokenKind::kBody)
    return Unexpected(Expected("{ and the text of the procedure"));
  const std::string_view body = TextOf(tokens_[at_++]);
  procedure.source = body.substr(1, body.size() - 2);
  return procedure;
}

Status Parser::ProcedureVersion(ProcedureStatement* procedure, bool required) {
  if (Here().kind == TokenKind::kString) {
    procedure->version = json::Value(TakeString());
    return OkStatus();
  }
  if (Here().kind == TokenKind::kNumber &&
      procedure->action != ProcedureStatement::Action::kCreate) {
    const json::Value number = json::NumberFromLiteral(TextOf(Here()));
    if (!number.is_int()) return Expected("the number of a version");
    ++at_;
    procedure->version = number;
    return OkStatus();
  }
  const bool creates = procedure->action == ProcedureStatement::Action::kCreate;
  return required ? Expected(creates ? "the version, a string in quotes"
                                     : "the version: a string in quotes or a number")
                  : OkStatus();
}

}  // namespace sluice::query
