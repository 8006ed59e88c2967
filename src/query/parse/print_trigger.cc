#include "query/parse/print_impl.h"

namespace sluice::query {

void AstPrinter::Trigger(const TriggerStatement& trigger) {
  const bool creates = trigger.action == TriggerStatement::Action::kCreate;
  Say(creates ? "CREATE " : "DROP ");
  if (trigger.or_replace) Say("OR REPLACE ");
  if (trigger.is_default) Say("DEFAULT ");
  Say(trigger.consumer ? "LUA CONSUMER " : "LUA TRIGGER ");
  if (trigger.if_clause) Say(creates ? "IF NOT EXISTS " : "IF EXISTS ");
  Name(trigger.name);
  if (trigger.with_sequence) Say(" WITH SEQUENCE");
  for (size_t i = 0; i < trigger.sources.size(); ++i) {
    Say(i == 0 ? " ON " : ", ");
    TriggerSource(trigger.sources[i]);
  }
}

void AstPrinter::TriggerSource(const TriggerStatement::Source& source) {
  Say("(TABLE ");
  Keyspace(source.keyspace);
  bool first = true;
  TriggerEvent("INSERT", source.inserted, &first);
  TriggerEvent("UPDATE", source.updated, &first);
  TriggerEvent("DELETE", source.deleted, &first);
  if (!source.when.empty()) {
    Say(" WHEN (");
    Say(source.when);
    Say(")");
  }
  if (!source.changed.empty()) {
    Say(" CHANGED ");
    Columns(source.changed);
  }
  Say(")");
}

void AstPrinter::TriggerEvent(std::string_view word,
                              const std::optional<TriggerStatement::Event>& event, bool* first) {
  if (!event) return;
  Say(std::exchange(*first, false) ? " FOR " : " AND ");
  Say(word);
  for (size_t i = 0; i < event->columns.size(); ++i) {
    Say(i == 0 ? " OF " : ", ");
    QuotedName(event->columns[i].name, false);  // it may be any word
  }
}

}  // namespace sluice::query
