#include "function/source/sql_statement.h"

#include <algorithm>
#include <cctype>

#include "query/parse/parser.h"

namespace sluice::function {
namespace {

// Where a place of the SQL++ parser (which ends lines with \n only, and counts characters) is in
// the handler.
SourcePlace PlaceInHandler(const EmbeddedStatement& statement, const Place& place) {
  const std::string& sql = statement.sql;
  size_t at = 0;
  for (uint32_t line = 1; line < place.line && at < sql.size(); ++at) line += sql[at] == '\n';
  for (uint32_t column = 1; column < place.column && at < sql.size(); ++column) {
    at += CharacterAt(sql, at).length;
  }
  return PlaceAfter(statement.place, std::string_view(sql).substr(0, at));
}

Status SyntaxErrorInHandler(const EmbeddedStatement& statement, const Status& error) {
  const SourcePlace place = PlaceInHandler(statement, error.place());
  const std::string theirs =
      fmt::format("line {}, column {}, ", error.place().line, error.place().column);
  std::string message = error.message();
  if (const size_t at = message.find(theirs); at != std::string::npos) {
    message.replace(at, theirs.size(),
                    fmt::format("line {}, column {}, ", place.line, place.column));
  }
  return Error(Code::kInvalidArgument, "function.sql_syntax", "embedded SQL++: {}", message)
      .At({.file = "", .line = place.line, .column = place.column});
}

void ReadBody(const query::Statement& parsed, EmbeddedStatement* statement) {
  const auto target = [&](const query::FromTerm& term) {
    statement->targets.push_back(
        {.name_space = term.keyspace->name_space, .parts = term.keyspace->parts});
  };
  statement->writes = !std::holds_alternative<query::QueryPtr>(parsed.body) &&
                      !std::holds_alternative<query::ExplainStatement>(parsed.body) &&
                      !std::holds_alternative<query::PrepareStatement>(parsed.body) &&
                      !std::holds_alternative<query::InferStatement>(parsed.body);
  if (const auto* insert = std::get_if<query::InsertStatement>(&parsed.body)) {
    target(insert->target);
  } else if (const auto* update = std::get_if<query::UpdateStatement>(&parsed.body)) {
    target(update->target);
  } else if (const auto* remove = std::get_if<query::DeleteStatement>(&parsed.body)) {
    target(remove->target);
  } else if (const auto* merge = std::get_if<query::MergeStatement>(&parsed.body)) {
    target(merge->target);
  }
}

Status ParameterError(const EmbeddedStatement& statement, std::string_view message) {
  return Error(Code::kInvalidArgument, "function.sql_parameter", "embedded SQL++: {}", message)
      .At({.file = "", .line = statement.place.line, .column = statement.place.column});
}

}  // namespace

std::string UnavailableVerb(std::string_view sql) {
  std::string word;
  for (const char c : sql.substr(0, sql.find_first_of(" \t\r\n"))) {
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return word == "ADVISE" || word == "GRANT" || word == "REVOKE" ? word : "";
}

Status ReadStatement(EmbeddedStatement* statement) {
  const Result<query::Statement> parsed = query::ParseStatement(statement->sql);
  if (!parsed && !UnavailableVerb(statement->sql).empty()) return OkStatus();  // fails when it runs
  if (!parsed) return SyntaxErrorInHandler(*statement, parsed.error());
  ReadBody(*parsed, statement);
  if (parsed->positional_parameters > 0) {
    return ParameterError(*statement,
                          "$1 and ? have no variable to stand for: name one, as in $limit, or call "
                          "N1QL(statement, [values])");
  }
  statement->parameters = parsed->named_parameters;
  std::sort(statement->parameters.begin(), statement->parameters.end());
  const auto end = std::unique(statement->parameters.begin(), statement->parameters.end());
  statement->parameters.erase(end, statement->parameters.end());
  for (const std::string& name : statement->parameters) {
    if (IsPlainName(name)) continue;
    return ParameterError(
        *statement,
        fmt::format("${} stands for a variable, and none can be called {}", name, name));
  }
  return OkStatus();
}

}  // namespace sluice::function
