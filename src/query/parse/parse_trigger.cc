// Lua triggers and consumers:
//
//   CREATE [OR REPLACE] LUA TRIGGER name [WITH SEQUENCE] ON source, ...
//   CREATE [OR REPLACE] [DEFAULT] LUA CONSUMER name [WITH SEQUENCE] ON source, ...
//   DROP LUA TRIGGER|CONSUMER name
//
// where a source is
//
//   (TABLE t FOR INSERT [OF columns] [AND UPDATE [OF columns]] [AND DELETE [OF columns]]
//            [WHEN (condition)] [CHANGED (columns)])
//
// and may also be written as Comdb2's later versions do: FOR (TABLE t ON INSERT [INCLUDE columns]
// ON UPDATE ...).
#include "query/parse/parser_impl.h"

namespace sluice::query {

bool Parser::AtTrigger() const {
  if (!At("CREATE") && !At("DROP")) return false;
  size_t lua = At("CREATE") && IsWordAhead(1, "OR") && IsWordAhead(2, "REPLACE") ? 3 : 1;
  if (IsWordAhead(lua, "DEFAULT")) ++lua;
  return IsWordAhead(lua, "LUA") &&
         (IsWordAhead(lua + 1, "TRIGGER") || IsWordAhead(lua + 1, "CONSUMER"));
}

Result<TriggerStatement> Parser::Trigger() {
  using Action = TriggerStatement::Action;
  TriggerStatement trigger;
  trigger.place = place();
  trigger.action = At("CREATE") ? Action::kCreate : Action::kDrop;
  ++at_;
  const bool creates = trigger.action == Action::kCreate;
  if (creates && AcceptWord("OR")) {
    RETURN_IF_ERROR(ExpectWord("REPLACE"));
    trigger.or_replace = true;
  }
  if (creates) trigger.is_default = AcceptWord("DEFAULT");
  RETURN_IF_ERROR(ExpectWord("LUA"));
  trigger.consumer = AcceptWord("CONSUMER");
  if (!trigger.consumer && trigger.is_default) return Unexpected(Expected("CONSUMER"));
  if (!trigger.consumer) RETURN_IF_ERROR(ExpectWord("TRIGGER"));
  ASSIGN_OR_RETURN(trigger.if_clause,
                   IfClause(creates ? CatalogAction::kCreate : CatalogAction::kDrop));
  ASSIGN_OR_RETURN(trigger.name, Name(trigger.consumer ? "the consumer" : "the trigger"));
  if (!creates) return trigger;
  if (AcceptWord("WITH")) {
    RETURN_IF_ERROR(ExpectWord("SEQUENCE"));
    trigger.with_sequence = true;
  } else if (AcceptWord("WITHOUT")) {
    RETURN_IF_ERROR(ExpectWord("SEQUENCE"));
  }
  RETURN_IF_ERROR(TriggerSources(&trigger));
  return trigger;
}

Status Parser::TriggerSources(TriggerStatement* trigger) {
  if (!AcceptWord("ON") && !AcceptWord("FOR")) {
    return Expected("ON (TABLE name FOR INSERT AND UPDATE AND DELETE)");
  }
  do {
    ASSIGN_OR_RETURN(TriggerStatement::Source source, TriggerSource());
    trigger->sources.push_back(std::move(source));
  } while (Accept(","));
  return OkStatus();
}

Result<TriggerStatement::Source> Parser::TriggerSource() {
  TriggerStatement::Source source;
  RETURN_IF_ERROR(Expect("("));
  RETURN_IF_ERROR(ExpectWord("TABLE"));
  ASSIGN_OR_RETURN(source.keyspace, Keyspace());
  if (!AcceptWord("FOR") && !AcceptWord("ON")) {
    return Unexpected(Expected("FOR INSERT, UPDATE or DELETE"));
  }
  do {
    RETURN_IF_ERROR(TriggerEvent(&source));
  } while (AcceptWord("AND") || AcceptWord("ON"));
  RETURN_IF_ERROR(TriggerFilters(&source));
  if (!At(")")) return Unexpected(Expected("AND, WHEN (condition), CHANGED (columns) or )"));
  ++at_;
  return source;
}

Status Parser::TriggerEvent(TriggerStatement::Source* source) {
  std::optional<TriggerStatement::Event>* event = nullptr;
  if (IsWordAhead(0, "INSERT")) event = &source->inserted;
  if (IsWordAhead(0, "UPDATE")) event = &source->updated;
  if (IsWordAhead(0, "DELETE")) event = &source->deleted;
  if (event == nullptr) return Expected("INSERT, UPDATE or DELETE");
  if (event->has_value()) return Wrong(Here(), "this event was named already");
  ++at_;
  event->emplace();
  if (!AcceptWord("OF") && !AcceptWord("INCLUDE")) return OkStatus();
  do {
    ASSIGN_OR_RETURN(query::ColumnName column, PlacedColumnName());
    (*event)->columns.push_back(std::move(column));
  } while (Accept(","));
  return OkStatus();
}

Status Parser::TriggerFilters(TriggerStatement::Source* source) {
  while (true) {
    if (source->when.empty() && AcceptWord("WHEN")) {
      RETURN_IF_ERROR(Expect("("));
      const size_t from = at_;
      ASSIGN_OR_RETURN(const ExpressionPtr condition, Expr());
      source->when = TextSince(from);
      RETURN_IF_ERROR(Expect(")"));
    } else if (source->changed.empty() && AcceptWord("CHANGED")) {
      RETURN_IF_ERROR(Expect("("));
      ASSIGN_OR_RETURN(source->changed, PlacedColumnNames());
    } else {
      return OkStatus();
    }
  }
}

}  // namespace sluice::query
