// consume NAME: a consumer's rows as they come, each acknowledged when it is printed.
#include <algorithm>
#include <atomic>
#include <memory>

#include "base/back_quoted.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/sql_stream.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

// Rows that the server may send before they are printed.
constexpr uint64_t kAhead = 256;

struct ConsumeOptions {
  std::string name;
  std::string options;
  uint64_t batch = 0;
  uint64_t timeout_ms = 0;
  uint64_t max = 0;
  std::string format = "json";
  std::string time_zone = "UTC";
};

// The argument of a default consumer; missing for none.
Result<json::Value> ArgumentOf(const ConsumeOptions& options) {
  json::Value argument = json::Value::EmptyObject();
  if (!options.options.empty()) {
    Result<json::Value> given = json::Parse(options.options);
    if (!given || !given->is_object()) {
      return Unexpected(
          UsageError("--options: expected a JSON object, found '{}'", options.options));
    }
    argument = std::move(*given);
  }
  if (options.batch > 0) argument.Set("batch_consume", true);
  return argument.size() == 0 ? json::Value() : argument;
}

// Whether another row of the same event follows: those of an update are two.
bool IsOldRow(const json::Value& row) {
  if (row.is_string()) return row.AsString().starts_with("(comdb2_event='old'");
  return row["comdb2_event"] == json::Value("old");
}

Status Consume(const ConsumeOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const json::Value argument, ArgumentOf(options));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const std::atomic<bool> interrupted = false;  // Ctrl-C ends the process
  SqlStream stream(api, &interrupted);
  const bool given = !argument.is_missing();
  SqlStream::Call call{
      .statement = {.text = fmt::format("EXEC PROCEDURE {}({})", BackQuoted(options.name),
                                        given ? "$1" : "")},
      .file = "",
      .parameters = json::Value::Object({{"row_format", options.format}}),
      .rows = options.batch == 0 ? kAhead : options.batch,
      .timeout_ms = options.timeout_ms};
  if (options.format == "cdb2") call.parameters.Set("timezone", options.time_zone);
  if (given) call.parameters.Set("args", json::Value::Array({json::ToText(argument)}));
  uint64_t left = options.max > 0 ? options.max : UINT64_MAX;  // events
  call.rows = std::min(call.rows, left);
  const Result<SqlAnswer> answer =
      stream.RunAhead(call, [&](const json::Value& rows) -> Result<SqlStream::Taken> {
        uint64_t printed = 0;
        for (const json::Value& row : rows.items()) {
          if (left == 0) break;
          ++printed;
          if (!IsOldRow(row)) --left;
          context.output.Line(row.is_string() ? std::string(row.AsString()) : json::ToText(row));
        }
        context.output.Flush();
        // Rows that were not written are not acknowledged.
        if (context.output.DataFailed()) {
          return Fail(Code::kIo, "cli.output", "can't write to standard output");
        }
        return SqlStream::Taken{.rows = printed, .enough = left == 0};
      });
  if (!answer && options.timeout_ms > 0 && answer.error().id() == "client.timeout") {
    return OkStatus();
  }
  if (!answer) return answer.error();
  return context.ShowAllButLast(answer->errors);
}

}  // namespace

void AddConsumeCommand(Program* program) {
  const auto options = std::make_shared<ConsumeOptions>();
  CLI::App* consume =
      program->AddCommand(&program->app(), "consume",
                          "Print the rows of a consumer as they arrive, and acknowledge them",
                          [options](Context& context) { return Consume(*options, context); });
  consume->add_option("name", options->name, "Consumer")->required();
  consume
      ->add_option("--batch", options->batch,
                   "Take up to N rows at once; a default consumer consumes by transaction")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  consume->add_option("--timeout", options->timeout_ms, "End when no row arrives for this long")
      ->type_name("MS");
  consume
      ->add_option("--max", options->max,
                   "End after this many events; an update is one event with two rows")
      ->type_name("N");
  consume
      ->add_option("--options", options->options,
                   "Options of a default consumer, such as '{\"with_tid\": true}'")
      ->type_name("JSON");
  consume
      ->add_option("--format", options->format, "Format of rows; cdb2 prints them as cdb2sql does")
      ->check(CLI::IsMember({"json", "cdb2"}))
      ->capture_default_str();
  consume->add_option("--timezone", options->time_zone, "Time zone of datetimes in the format cdb2")
      ->type_name("ZONE")
      ->capture_default_str();
}

}  // namespace sluice::cli
