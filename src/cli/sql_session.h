// Statements sent to a server, one after the other, and their results printed.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/output.h"
#include "cli/sql_answer.h"
#include "cli/sql_splitter.h"
#include "cli/sql_stream.h"
#include "json/value.h"

namespace sluice::cli {

enum class SqlFormat : uint8_t {
  kTable,
  kJson,   // one array, indented
  kLines,  // one value per line
  kCdb2,   // as cdb2sql prints rows and errors
};

struct SqlSettings {
  SqlFormat format = SqlFormat::kTable;
  bool timing = false;
  size_t max_cell_width = 0;      // of tables; 0 for no limit
  std::string context;            // bucket.scope that short keyspace names are looked up in
  std::string time_zone;          // of the datetimes of kCdb2
  std::vector<json::Value> args;  // $1, $2, ...
  std::map<std::string, json::Value> named;  // $name
};

// One thread. Between BEGIN and COMMIT or ROLLBACK the statements run in that transaction. Rows of
// a consumer are printed first; the request for the next rows acknowledges them.
class SqlSession {
 public:
  // `interrupted` becomes true when the user gave up waiting (sql_interrupt.h).
  SqlSession(Api* api, Output* output, SqlSettings settings, const std::atomic<bool>* interrupted);

  // Prints the results to standard output, warnings and times to standard error. If there are
  // several errors, prints all but the last and returns the last. query.cancelled when interrupted.
  Status Run(const SqlStatement& statement, const std::string& file);
  // The results alone, nothing printed.
  Result<json::Value> Fetch(const std::string& statement);
  // Rolls back an open transaction.
  void End();

  SqlSettings& settings() { return settings_; }
  const SqlSettings& settings() const { return settings_; }
  bool in_transaction() const { return stream_.in_transaction(); }

 private:
  json::Value ParametersOf(const std::string& statement) const;
  // Whether rows are printed as they come, one by one.
  bool PrintsLines(const std::string& statement);
  // Rows of this message; an error when they can't be written.
  Status PrintLines(const json::Value& rows);
  void PrintRows(const SqlAnswer& answer);
  // As cdb2sql does: "(rows inserted=2)".
  void PrintRowsChanged(const std::string& statement, const SqlAnswer& answer);
  void PrintSummary(const SqlAnswer& answer, uint64_t rows, uint64_t elapsed_us);

  Output* const output_;
  SqlSettings settings_;
  SqlStream stream_;
};

}  // namespace sluice::cli
