// fn import|export: definitions as Couchbase Eventing exports them.
#include <fstream>
#include <iterator>
#include <memory>

#include "base/file.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/function_path.h"
#include "cli/output.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

using json::Value;

constexpr size_t kMaxFunctionsFileBytes = 64 << 20;

Result<std::string> ReadFunctionsInput(const std::string& file, Context& context) {
  if (file != "-") return ReadFile(file, kMaxFunctionsFileBytes);
  return std::string(std::istreambuf_iterator<char>(context.in), {});
}

Status ImportFunctions(const std::string& file, Context& context) {
  ASSIGN_OR_RETURN(const std::string text, ReadFunctionsInput(file, context));
  const auto parsed = json::Parse(text);
  if (!parsed) return parsed.error().At({file, 0, 0});
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const Value list = parsed->is_array() ? *parsed : Value::Array({*parsed});
  std::vector<Status> problems;
  // One by one, so that an error can name the function.
  for (const Value& definition : list.items()) {
    const Value& name = definition["appname"];
    const std::string shown = name.is_string() ? std::string(name.AsString()) : "?";
    const auto stored = api->CallJson({.method = "POST",
                                       .path = FunctionPath("import"),
                                       .headers = {{"Content-Type", "application/json"}},
                                       .body = json::ToText(definition)});
    if (!stored) {
      problems.push_back(stored.error().Prefixed("function " + shown));
      continue;
    }
    context.output.Note(fmt::format("function {} imported", shown));
    for (const Value& warning : (*stored)[0]["warning_info"]["warnings"].items()) {
      context.output.Note(fmt::format("warning: function {}: {}", shown, CellText(warning)));
    }
  }
  return context.ShowAllButLast(problems);
}

struct FunctionExportOptions {
  std::vector<std::string> names;
  std::string file;
};

Status ExportFunctions(const FunctionExportOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  Value list = Value::EmptyArray();
  if (options.names.empty()) {
    ASSIGN_OR_RETURN(list, api->CallJson({.path = FunctionPath("export")}));
  }
  for (const std::string& name : options.names) {
    ASSIGN_OR_RETURN(const Value one, api->CallJson({.path = FunctionPath("functions", name)}));
    list.Append(one);
  }
  const std::string text = json::ToText(list, {.indent = 2}) + "\n";
  if (options.file.empty()) {
    context.output.Raw(text);
    return OkStatus();
  }
  std::ofstream file(options.file, std::ios::binary);
  file << text << std::flush;
  if (!file) return Error(Code::kIo, "file.unwritable", "can't write {}", options.file);
  context.output.Note(fmt::format("{} functions written to {}", list.size(), options.file));
  return OkStatus();
}

}  // namespace

void AddFnTransferCommands(Program* program, CLI::App* group) {
  const auto file = std::make_shared<std::string>();
  program
      ->AddCommand(group, "import", "Store exported functions of Sluice or Couchbase",
                   [file](Context& context) { return ImportFunctions(*file, context); })
      ->add_option("file", *file,
                   "File with a definition or a list of definitions; - reads standard input")
      ->required();
  const auto options = std::make_shared<FunctionExportOptions>();
  CLI::App* command = program->AddCommand(
      group, "export", "Print definitions as a JSON list; secrets are masked",
      [options](Context& context) { return ExportFunctions(*options, context); });
  command->add_option("names", options->names, "Functions; without a name, all");
  command->add_option("--file", options->file, "Write to this file instead");
}

}  // namespace sluice::cli
