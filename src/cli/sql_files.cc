#include "cli/sql_files.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/back_quoted.h"
#include "base/file.h"
#include "cli/sql_words.h"
#include "json/value.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using json::Value;

constexpr size_t kMaxSqlFileBytes = 16 << 20;
constexpr std::string_view kVersion = "app";
constexpr uint64_t kRowsAtOnce = 1000;
const std::atomic<bool> kNeverInterrupted = false;

std::vector<fs::path> FilesOf(const fs::path& directory, std::string_view suffix,
                              std::vector<Status>* problems) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;  // editors' own
    if (name.ends_with(suffix)) {
      paths.push_back(it->path());
      continue;
    }
    problems->push_back(
        Error(Code::kInvalidArgument, "app.invalid", "expected a file named NAME{}", suffix)
            .At({it->path().string(), 0, 0}));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    problems->push_back(Error(Code::kIo, "file.unreadable", "can't read {}: {}", directory.string(),
                              error.message()));
  }
  std::ranges::sort(paths);
  return paths;
}

// Words, names in back quotes without them, and single other characters, in lower case.
std::vector<std::string> TokensOf(std::string_view text, size_t most) {
  std::vector<std::string> tokens;
  while (!text.empty() && tokens.size() < most) {
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    size_t size = 1;
    if (text[0] == '`') {
      size = std::min(text.find('`', 1), text.size() - 1) + 1;
      tokens.push_back(LowerCase(text.substr(1, size - 2)));
    } else if (is_word(text[0])) {
      while (size < text.size() && is_word(text[size])) ++size;
      tokens.push_back(LowerCase(text.substr(0, size)));
    } else if (std::isspace(static_cast<unsigned char>(text[0])) == 0) {
      tokens.emplace_back(1, text[0]);
    }
    text.remove_prefix(size);
  }
  return tokens;
}

// Fills in kind and name. False when such statements don't belong into an app.
bool Classify(SqlFileStatement* statement) {
  constexpr size_t kMostTokens = 12;
  std::vector<std::string> tokens = TokensOf(statement->statement.text, kMostTokens);
  size_t at = 0;
  const auto take = [&](std::string_view word) {
    if (at >= tokens.size() || tokens[at] != word) return false;
    ++at;
    return true;
  };
  if (!take("create")) return false;
  take("unique");
  take("default");
  if (take("lua")) {
    if (take("trigger")) statement->kind = "trigger";
    if (take("consumer")) statement->kind = "consumer";
    if (take("scalar") || take("aggregate")) statement->kind = take("function") ? "function" : "";
  } else if (take("table")) {
    statement->kind = "table";
  } else if (take("index")) {
    statement->kind = "index";
  }
  if (take("if")) at += 2;  // NOT EXISTS
  if (statement->kind.empty() || at >= tokens.size()) return false;
  statement->name = tokens[at++];
  if (statement->kind != "index") return true;
  if (!take("on") || at >= tokens.size()) return false;
  statement->name = tokens[at] + "." + statement->name;
  return true;
}

Result<std::vector<Value>> FetchRows(SqlStream* stream, SqlStatement statement, std::string file) {
  std::vector<Value> all;
  const auto sink = [&](const Value& rows) {
    all.insert(all.end(), rows.items().begin(), rows.items().end());
    return OkStatus();
  };
  const SqlStream::Call call{.statement = std::move(statement),
                             .file = std::move(file),
                             .parameters = Value::EmptyObject(),
                             .rows = kRowsAtOnce};
  ASSIGN_OR_RETURN(const SqlAnswer answer, stream->Run(call, sink));
  if (!answer.errors.empty()) return Unexpected(answer.errors[0]);
  return all;
}

// The names of the server's tables, triggers and so on, by kind.
Result<std::map<std::string, std::set<std::string>>> FetchNames(SqlStream* stream) {
  constexpr std::pair<const char*, const char*> kQueries[] = {
      {"table", "SELECT RAW tablename FROM comdb2_tables"},
      {"index", "SELECT RAW tablename || '.' || keyname FROM comdb2_keys"},
      {"trigger", "SELECT DISTINCT RAW name FROM comdb2_triggers"},
      {"function", "SELECT RAW name FROM comdb2_functions WHERE lang = 'lua'"},
  };
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [kind, text] : kQueries) {
    ASSIGN_OR_RETURN(const std::vector<Value> rows, FetchRows(stream, {.text = text}, ""));
    for (const Value& row : rows) names[kind].insert(LowerCase(row.AsString()));
  }
  names["consumer"] = names["trigger"];
  return names;
}

// The texts of the versions that are the default, if they are this app's; empty for others.
Result<std::map<std::string, std::string>> FetchProcedures(SqlStream* stream) {
  ASSIGN_OR_RETURN(const std::vector<Value> rows,
                   FetchRows(stream,
                             {.text = "SELECT name, version, src FROM comdb2_procedures WHERE "
                                      "`default` = 'Y'"},
                             ""));
  std::map<std::string, std::string> texts;
  for (const Value& row : rows) {
    texts[std::string(row["name"].AsString())] =
        row["version"] == Value(kVersion) ? row["src"].AsString() : "";
  }
  return texts;
}

// Whether a statement names a table, in whatever place.
bool Mentions(const SqlFileStatement& statement, const std::set<std::string>& tables) {
  const std::vector<std::string> tokens =
      TokensOf(statement.statement.text, statement.statement.text.size());
  return std::ranges::any_of(tokens,
                             [&](const std::string& token) { return tables.contains(token); });
}

class SqlPlanner {
 public:
  SqlPlanner(Api* api, DropKeys drop_keys)
      : stream_(api, &kNeverInterrupted), drop_keys_(drop_keys) {}

  Status AddProcedures(const std::vector<ProcedureFile>& files) {
    ASSIGN_OR_RETURN(const auto present, FetchProcedures(&stream_));
    for (const ProcedureFile& file : files) {
      const auto found = present.find(file.name);
      if (found != present.end() && found->second == file.source) continue;
      const std::string name = BackQuoted(file.name);
      plan_.steps.push_back(
          {(found == present.end() ? "create procedure " : "alter procedure ") + file.name,
           file.path,
           {{.text = fmt::format("CREATE PROCEDURE {} VERSION '{}' {{{}}}", name, kVersion,
                                 file.source)},
            {.text = fmt::format("PUT DEFAULT PROCEDURE {} '{}'", name, kVersion)}}});
    }
    return OkStatus();
  }

  Status AddStatements(const std::vector<SqlFileStatement>& statements) {
    ASSIGN_OR_RETURN(auto names, FetchNames(&stream_));
    for (const SqlFileStatement& statement : statements) {
      if (!names[statement.kind].insert(statement.name).second) {
        RETURN_IF_ERROR(Compare(statement));
        continue;
      }
      AddStep("create", "", statement, {statement.statement});
    }
    return OkStatus();
  }

  SqlPlan Take() { return std::move(plan_); }

 private:
  void AddStep(std::string_view verb, std::string_view why, const SqlFileStatement& statement,
               std::vector<SqlStatement> statements) {
    plan_.steps.push_back({fmt::format("{} {} {}{}{}", verb, statement.kind, statement.name,
                                       why.empty() ? "" : ": ", why),
                           statement.path, std::move(statements)});
  }

  // The columns of a trigger's events may be those that its table is about to get.
  bool IsOfAlteredTable(const SqlFileStatement& statement) const {
    return (statement.kind == "trigger" || statement.kind == "consumer") &&
           Mentions(statement, altered_);
  }

  static SqlStatement Replacing(const SqlFileStatement& statement) {
    SqlStatement replacing = statement.statement;
    constexpr std::string_view kCreate = "CREATE";
    replacing.text.insert(kCreate.size(), " OR REPLACE");
    return replacing;
  }

  Status Compare(const SqlFileStatement& statement) {
    if (IsOfAlteredTable(statement)) {
      AddStep("replace", "its table is altered", statement, {Replacing(statement)});
      return OkStatus();
    }
    constexpr std::string_view kExplain = "EXPLAIN ";
    SqlStatement explain = statement.statement;
    explain.text.insert(0, kExplain);
    explain.column -= kExplain.size();  // wraps around and back: places are those in the file
    ASSIGN_OR_RETURN(const std::vector<Value> rows,
                     FetchRows(&stream_, std::move(explain), statement.path));
    if (rows.empty()) return OkStatus();
    for (const Value& change : rows[0]["changes"].items()) Take(change, statement);
    return OkStatus();
  }

  void Take(const Value& change, const SqlFileStatement& statement) {
    const std::string what(change["what"].AsString());
    const std::string effect(change["effect"].AsString());
    std::vector<SqlStatement> statements;
    std::vector<std::string> texts;
    for (const Value& text : change["statements"].items()) {
      texts.emplace_back(text.AsString());
      statements.push_back({.text = texts.back(),
                            .line = statement.statement.line,
                            .column = statement.statement.column});
    }
    if (effect == "by_hand") {
      plan_.differences.push_back(
          fmt::format("{}:{}:{}: {} {} differs: {}{}{}", statement.path, statement.statement.line,
                      statement.statement.column, statement.kind, statement.name, what,
                      texts.empty() ? "" : ". If that is meant: ", fmt::join(texts, "; ")));
      return;
    }
    if (effect == "drops" && drop_keys_ == DropKeys::kNo) {
      plan_.kept.push_back(fmt::format("{} {}: {}", statement.kind, statement.name, what));
      return;
    }
    if (statement.kind == "table" && effect == "adds") altered_.insert(statement.name);
    const bool made_anew = statement.kind != "table";
    AddStep(made_anew ? "replace" : "alter", what, statement, std::move(statements));
  }

  SqlStream stream_;
  const DropKeys drop_keys_;
  std::set<std::string> altered_;  // tables
  SqlPlan plan_;
};

}  // namespace

std::vector<ProcedureFile> ReadProcedureFiles(const fs::path& directory,
                                              std::vector<Status>* problems) {
  std::vector<ProcedureFile> files;
  for (const fs::path& path : FilesOf(directory, ".lua", problems)) {
    auto source = ReadFile(path.string(), kMaxSqlFileBytes);
    if (source) {
      files.push_back({path.string(), path.stem().string(), std::move(*source)});
    } else {
      problems->push_back(source.error());
    }
  }
  return files;
}

std::vector<SqlFileStatement> ReadSqlFiles(const fs::path& directory,
                                           std::vector<Status>* problems) {
  std::vector<SqlFileStatement> statements;
  for (const fs::path& path : FilesOf(directory, ".sql", problems)) {
    const auto text = ReadFile(path.string(), kMaxSqlFileBytes);
    if (!text) {
      problems->push_back(text.error());
      continue;
    }
    SqlSplitter splitter;
    splitter.Feed(*text);
    while (true) {
      auto statement = splitter.Next();
      if (!statement) statement = splitter.Finish();
      if (!statement) break;
      SqlFileStatement made{path.string(), std::move(*statement), "", ""};
      if (Classify(&made)) {
        statements.push_back(std::move(made));
        continue;
      }
      problems->push_back(
          Error(Code::kInvalidArgument, "app.invalid",
                "expected CREATE TABLE, INDEX of a table, LUA TRIGGER, LUA CONSUMER or LUA "
                "FUNCTION, found {}",
                made.statement.text.substr(0, made.statement.text.find('\n')))
              .At({made.path, made.statement.line, made.statement.column}));
    }
  }
  return statements;
}

Result<SqlPlan> PlanSql(Api* api, const std::vector<ProcedureFile>& procedures,
                        const std::vector<SqlFileStatement>& statements, DropKeys drop_keys) {
  if (procedures.empty() && statements.empty()) return SqlPlan();
  SqlPlanner planner(api, drop_keys);
  RETURN_IF_ERROR(planner.AddProcedures(procedures));
  RETURN_IF_ERROR(planner.AddStatements(statements));
  return planner.Take();
}

std::vector<Status> CarryOutSql(SqlStream* stream, const SqlStep& step) {
  for (const SqlStatement& statement : step.statements) {
    const SqlStream::Call call{.statement = statement,
                               .file = step.path,
                               .parameters = Value::EmptyObject(),
                               .rows = kRowsAtOnce};
    const Result<SqlAnswer> answer = stream->Run(call, [](const Value&) { return OkStatus(); });
    if (!answer) return {answer.error()};
    if (!answer->errors.empty()) return answer->errors;
  }
  return {};
}

}  // namespace sluice::cli
