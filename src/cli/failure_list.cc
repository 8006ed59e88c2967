#include "cli/failure_list.h"

#include "cli/api.h"

namespace sluice::cli {

using json::Value;

Status ListFailures(const std::string& path, size_t limit, const FailureRow& row,
                    const std::vector<Column>& columns, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = path}));
  if (context.output.json()) {
    context.output.Rows(answer["failures"], {});
  } else {
    Value rows = Value::EmptyArray();
    for (const Value& failure : answer["failures"].items()) rows.Append(row(failure));
    context.output.Rows(rows, columns);
  }
  if (!answer["next"].is_missing()) {
    context.output.Note(fmt::format("there are more than {}; see --limit", limit));
  }
  return OkStatus();
}

Status Order(const std::string& method, const std::string& path, const std::string& done,
             Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = method, .path = path}));
  context.output.Note(done);
  return OkStatus();
}

Status OrderAll(const std::string& method, const std::string& path, std::string_view done,
                Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.method = method, .path = path}));
  const int64_t count = answer["count"].is_int() ? answer["count"].AsInt() : 0;
  context.output.Note(fmt::format("{} failures {}", count, done));
  return OkStatus();
}

void ExcludeEachOther(const std::vector<CLI::Option*>& options) {
  for (CLI::Option* option : options) {
    for (CLI::Option* other : options) {
      if (option != other) option->excludes(other);
    }
  }
}

void AddLimitOption(CLI::App* command, size_t* limit) {
  command->add_option("--limit", *limit, "List at most this many, the oldest first")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
}

std::string FirstLine(const Value& value) {
  const std::string text(value.is_string() ? value.AsString() : "");
  return text.substr(0, text.find('\n'));
}

}  // namespace sluice::cli
