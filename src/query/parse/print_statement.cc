#include "json/print.h"
#include "query/parse/print_impl.h"

namespace sluice::query {

void AstPrinter::Print(const IndexKey& key) {
  if (key.each_element) Say(key.distinct ? "DISTINCT " : "ALL ");
  Print(*key.expression);
  if (key.include_missing) Say(" INCLUDE MISSING");
  if (key.descending) Say(" DESC");
}

void AstPrinter::Returning(const std::optional<Projection>& returning) {
  if (!returning) return;
  Say(" RETURNING ");
  Project(*returning);
}

void AstPrinter::Options(const std::optional<json::Value>& options) {
  if (!options) return;
  Say(" WITH ");
  json::Print(*options, out_);
}

void AstPrinter::Let(const std::vector<NamedExpression>& let) {
  if (let.empty()) return;
  Say(" LET ");
  Assign(let);
}

void AstPrinter::Change(const Assignment& assignment) {
  Print(*assignment.target);
  if (assignment.value) {
    Say(" = ");
    Print(*assignment.value);
  }
  for (const UpdateFor& loop : assignment.loops) {
    Say(" FOR ");
    Bindings(loop.bindings);
    Clause("WHEN", loop.when);
  }
  if (!assignment.loops.empty()) Say(" END");
}

void AstPrinter::Changes(const std::vector<Assignment>& set, const std::vector<Assignment>& unset) {
  for (size_t i = 0; i < set.size(); ++i) {
    Say(i == 0 ? " SET " : ", ");
    Change(set[i]);
  }
  for (size_t i = 0; i < unset.size(); ++i) {
    Say(i == 0 ? " UNSET " : ", ");
    Change(unset[i]);
  }
}

void AstPrinter::OnConflict(const ConflictClause& clause) {
  Say(" ON CONFLICT ");
  if (!clause.columns.empty()) {
    Columns(clause.columns);
    Say(" ");
  }
  const bool updates = clause.action == ConflictClause::Action::kUpdate;
  Say(updates ? "DO UPDATE" : "DO NOTHING");
  Changes(clause.set, {});
  Clause("WHERE", clause.where);
}

void AstPrinter::KeyValue(const ExpressionPtr& key, const ExpressionPtr& value,
                          const ExpressionPtr& options) {
  Say(" (KEY ");
  Print(*key);
  if (value) {
    Say(", VALUE ");
    Print(*value);
  }
  if (options) {
    Say(", OPTIONS ");
    Print(*options);
  }
  Say(")");
}

// One overload per kind of statement.
struct AstPrinter::StatementBody {
  AstPrinter& printer;

  void operator()(const QueryPtr& query) const { printer.Print(*query); }

  void operator()(const InsertStatement& insert) const {
    const bool replaces =
        insert.conflict && insert.conflict->action == ConflictClause::Action::kReplace;
    printer.Say(replaces ? "REPLACE INTO " : insert.upsert ? "UPSERT INTO " : "INSERT INTO ");
    printer.Term(insert.target);
    for (size_t i = 0; i < insert.columns.size(); ++i) {
      printer.Say(i == 0 ? " (" : ", ");
      printer.Name(insert.columns[i].name);
    }
    if (!insert.columns.empty()) printer.Say(")");
    if (insert.select) {
      if (insert.select_key) {
        printer.KeyValue(insert.select_key, insert.select_value, insert.select_options);
      }
      printer.Say(" ");
      printer.Print(*insert.select);
    }
    for (size_t i = 0; i < insert.rows.size(); ++i) {
      const InsertValues& row = insert.rows[i];
      printer.Say(i == 0 ? " VALUES (" : ", (");
      if (!row.columns.empty()) {
        printer.List(row.columns);
        printer.Say(")");
        continue;
      }
      printer.Print(*row.key);
      printer.Say(", ");
      printer.Print(*row.value);
      if (row.options) {
        printer.Say(", ");
        printer.Print(*row.options);
      }
      printer.Say(")");
    }
    if (insert.conflict && !replaces) printer.OnConflict(*insert.conflict);
    printer.Returning(insert.returning);
  }

  void operator()(const UpdateStatement& update) const {
    printer.Say("UPDATE ");
    printer.Term(update.target);
    printer.Let(update.let);
    printer.Changes(update.set, update.unset);
    printer.Clause("WHERE", update.where);
    printer.Clause("LIMIT", update.limit);
    printer.Clause("OFFSET", update.offset);
    printer.Returning(update.returning);
  }

  void operator()(const DeleteStatement& statement) const {
    printer.Say("DELETE FROM ");
    printer.Term(statement.target);
    printer.Let(statement.let);
    printer.Clause("WHERE", statement.where);
    printer.Clause("LIMIT", statement.limit);
    printer.Clause("OFFSET", statement.offset);
    printer.Returning(statement.returning);
  }

  void operator()(const MergeStatement& merge) const {
    printer.Say("MERGE INTO ");
    printer.Term(merge.target);
    printer.Say(" USING ");
    printer.Term(merge.source);
    printer.Clause("ON", merge.on);
    printer.Clause("ON KEY", merge.on_key);
    printer.Let(merge.let);
    if (merge.has_update) {
      printer.Say(" WHEN MATCHED THEN UPDATE");
      printer.Changes(merge.set, merge.unset);
      printer.Clause("WHERE", merge.update_where);
    }
    if (merge.has_delete) {
      printer.Say(" WHEN MATCHED THEN DELETE");
      printer.Clause("WHERE", merge.delete_where);
    }
    if (merge.has_insert) {
      printer.Say(" WHEN NOT MATCHED THEN INSERT");
      if (merge.insert_key) {
        printer.KeyValue(merge.insert_key, merge.insert_value, merge.insert_options);
      } else {
        printer.Say(" ");
        printer.Print(*merge.insert_value);
      }
      printer.Clause("WHERE", merge.insert_where);
    }
    printer.Clause("LIMIT", merge.limit);
    printer.Returning(merge.returning);
  }

  void operator()(const CreateIndexStatement& index) const {
    printer.Say(index.primary  ? "CREATE PRIMARY INDEX"
                : index.unique ? "CREATE UNIQUE INDEX"
                               : "CREATE INDEX");
    if (index.if_not_exists) printer.Say(" IF NOT EXISTS");
    if (!index.name.empty()) {
      printer.Say(" ");
      printer.Name(index.name);
    }
    printer.Say(" ON ");
    printer.Keyspace(index.keyspace);
    for (size_t i = 0; i < index.keys.size(); ++i) {
      printer.Say(i == 0 ? " (" : ", ");
      printer.Print(index.keys[i]);
    }
    if (!index.keys.empty()) printer.Say(")");
    if (!index.partition_by.empty()) {
      printer.Say(" PARTITION BY HASH(");
      printer.List(index.partition_by);
      printer.Say(")");
    }
    printer.Clause("WHERE", index.where);
    if (!index.using_kind.empty()) printer.Say(" USING GSI");
    printer.Options(index.with);
  }

  void operator()(const DropIndexStatement& drop) const {
    printer.Say(drop.primary ? "DROP PRIMARY INDEX" : "DROP INDEX");
    if (drop.if_exists) printer.Say(" IF EXISTS");
    if (!drop.name.empty()) {
      printer.Say(" ");
      printer.Name(drop.name);
    }
    printer.Say(" ON ");
    printer.Keyspace(drop.keyspace);
  }

  void operator()(const AlterIndexStatement& alter) const {
    printer.Say("ALTER INDEX ");
    printer.Name(alter.name);
    printer.Say(" ON ");
    printer.Keyspace(alter.keyspace);
    printer.Options(alter.with);
  }

  void operator()(const BuildIndexStatement& build) const {
    printer.Say("BUILD INDEX ON ");
    printer.Keyspace(build.keyspace);
    printer.Say(" (");
    printer.List(build.names);
    printer.Say(")");
  }

  void operator()(const CatalogStatement& catalog) const {
    constexpr std::string_view kActions[] = {"CREATE ", "DROP ", "ALTER ", "FLUSH "};
    constexpr std::string_view kObjects[] = {"BUCKET ", "SCOPE ", "COLLECTION "};
    printer.Say(kActions[static_cast<size_t>(catalog.action)]);
    printer.Say(kObjects[static_cast<size_t>(catalog.object)]);
    if (catalog.if_clause) {
      printer.Say(catalog.action == CatalogAction::kCreate ? "IF NOT EXISTS " : "IF EXISTS ");
    }
    printer.Keyspace(catalog.name);
    printer.Options(catalog.with);
  }

  void operator()(const CreateTableStatement& create) const { printer.Table(create); }
  void operator()(const DropTableStatement& drop) const { printer.Table(drop); }
  void operator()(const AlterTableStatement& alter) const { printer.Table(alter); }

  void operator()(const PrepareStatement& prepare) const {
    printer.Say(prepare.force ? "PREPARE FORCE " : "PREPARE ");
    if (!prepare.name.empty()) {
      json::AppendQuoted(prepare.name, printer.out_);
      printer.Say(" AS ");
    }
    printer.Print(*prepare.statement);
  }

  void operator()(const ExecuteStatement& execute) const {
    printer.Say("EXECUTE ");
    json::AppendQuoted(execute.name, printer.out_);
    printer.Clause("USING", execute.using_arguments);
  }

  void operator()(const ExplainStatement& explain) const {
    printer.Say("EXPLAIN ");
    printer.Print(*explain.statement);
  }

  void operator()(const InferStatement& infer) const {
    if (infer.keyspace) {
      printer.Say("INFER KEYSPACE ");
      printer.Keyspace(*infer.keyspace);
    } else {
      printer.Say("INFER (");
      printer.Print(*infer.expression);
      printer.Say(")");
    }
    printer.Options(infer.with);
  }

  void operator()(const TransactionStatement& transaction) const {
    constexpr std::string_view kActions[] = {
        "BEGIN TRANSACTION",
        "COMMIT TRANSACTION",
        "ROLLBACK TRANSACTION",
        "SAVEPOINT",
        "ROLLBACK TRANSACTION TO SAVEPOINT",
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    };
    printer.Say(kActions[static_cast<size_t>(transaction.action)]);
    if (transaction.savepoint.empty()) return;
    printer.Say(" ");
    printer.Name(transaction.savepoint);
  }

  void operator()(const ProcedureStatement& procedure) const {
    constexpr std::string_view kActions[] = {
        "CREATE PROCEDURE ",  "DROP PROCEDURE ", "PUT DEFAULT PROCEDURE ",
        "EXECUTE PROCEDURE ", "CREATE LUA ",     "DROP LUA "};
    printer.Say(kActions[static_cast<size_t>(procedure.action)]);
    using Action = ProcedureStatement::Action;
    if (procedure.action == Action::kCreateFunction || procedure.action == Action::kDropFunction) {
      printer.Say(procedure.aggregate ? "AGGREGATE FUNCTION " : "SCALAR FUNCTION ");
    }
    printer.Name(procedure.name);
    if (procedure.deterministic) printer.Say(" DETERMINISTIC");
    if (!procedure.version.is_missing()) {
      printer.Say(" VERSION ");
      printer.Say(json::ToText(procedure.version));
    }
    if (procedure.action == Action::kCreate) {
      printer.Say(" {");
      printer.Say(procedure.source);
      printer.Say("}");
    } else if (procedure.action == Action::kExecute) {
      printer.Say("(");
      printer.List(procedure.arguments);
      printer.Say(")");
    }
  }

  void operator()(const TriggerStatement& trigger) const { printer.Trigger(trigger); }

  void operator()(const StatisticsStatement& statistics) const {
    printer.Say("UPDATE STATISTICS FOR ");
    printer.Keyspace(statistics.keyspace);
  }
};

void AstPrinter::Print(const Statement& statement) {
  std::visit(StatementBody{*this}, statement.body);
}

std::string ToText(const IndexKey& key) {
  std::string text;
  AstPrinter(&text).Print(key);
  return text;
}

std::string ToText(const Statement& statement) {
  std::string text;
  AstPrinter(&text).Print(statement);
  return text;
}

}  // namespace sluice::query
