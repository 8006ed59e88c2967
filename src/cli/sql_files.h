// The Lua procedures and the SQL of an app directory, and how a server differs from it.
//
//   procedures/NAME.lua  the text of the procedure NAME: its version 'app', which is made the
//                        default
//   sql/*.sql            CREATE statements of tables, their indexes, triggers, consumers and
//                        functions of SQL, by the files' names
//
// If a table or trigger already exists, the server compares it (EXPLAIN of the statement). A
// difference that loses no data is altered; any other is reported.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/sql_splitter.h"
#include "cli/sql_stream.h"

namespace sluice::cli {

struct ProcedureFile {
  std::string path;
  std::string name;
  std::string source;
};

struct SqlFileStatement {
  std::string path;
  SqlStatement statement;
  std::string kind;  // table, index, trigger, consumer, function
  std::string name;  // of an index with its table: t.i
};

// Sorted by path; none when there is no such directory. Problems: app.invalid, file.unreadable.
std::vector<ProcedureFile> ReadProcedureFiles(const std::filesystem::path& directory,
                                              std::vector<Status>* problems);
std::vector<SqlFileStatement> ReadSqlFiles(const std::filesystem::path& directory,
                                           std::vector<Status>* problems);

// Statements that create something that the server lacks, or change a difference.
struct SqlStep {
  std::string what;  // "create table orders"
  std::string path;
  std::vector<SqlStatement> statements;
};
struct SqlPlan {
  std::vector<SqlStep> steps;            // in order
  std::vector<std::string> kept;         // keys and constraints that only --prune would drop
  std::vector<std::string> differences;  // that only the user can resolve, with place and advice
};
enum class DropKeys : uint8_t { kNo, kYes };
Result<SqlPlan> PlanSql(Api* api, const std::vector<ProcedureFile>& procedures,
                        const std::vector<SqlFileStatement>& statements, DropKeys drop_keys);
// Every error of the first statement that fails, with its place.
std::vector<Status> CarryOutSql(SqlStream* stream, const SqlStep& step);

}  // namespace sluice::cli
