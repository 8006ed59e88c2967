// types list|show|apply|delete|history.
#include <algorithm>
#include <memory>

#include "base/time_text.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/keyspace_name.h"
#include "cli/type_files.h"
#include "cli/wait_note.h"
#include "doctype/type_json.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

using json::Value;

struct TypeOptions {
  std::string name;
  std::vector<std::string> files;
  bool dry_run = false;
  std::string keyspace;
  std::string key;
  std::string diff;
  std::string restore;
  bool erase = false;
};

Status ListTypes(Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = "/v1/types"}));
  Value rows = Value::EmptyArray();
  for (const Value& type : answer["types"].items()) {
    Value row = type;
    row.Set("key", type["match"]["key"]);
    row.Set("keep", type["revisions"]["keep"]);
    rows.Append(std::move(row));
  }
  context.output.Rows(rows, {{"TYPE", "type"},
                             {"KEYSPACE", "keyspace"},
                             {"KEY", "key"},
                             {"SCHEMA", "schema"},
                             {"VALIDATE", "validate"},
                             {"REVISIONS", "keep"}});
  return OkStatus();
}

Status ShowType(const TypeOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value type, api->CallJson({.path = TypePath(options.name)}));
  context.output.Raw(json::ToText(type, {.indent = 2}) + "\n");
  return OkStatus();
}

// Rebuilding indexes may take long.
Result<Value> Send(const ApiRequest& request, const TypeSpec& type, Api* api, Context& context) {
  const WaitNote note(&context.output, fmt::format("setting the type {}", type.name));
  return api->CallJson(request);
}

std::string MatchesText(const Value& documents) {
  if (!documents["looked_at"].is_int() || documents["looked_at"] == Value(0)) return "";
  return fmt::format(": {} of the {} documents looked at {} of this type",
                     CellText(documents["matching"]), CellText(documents["looked_at"]),
                     documents["matching"] == Value(1) ? "is" : "are");
}

Status ApplyTypes(const TypeOptions& options, Context& context) {
  std::vector<Status> problems;
  std::vector<TypeSpec> types;
  for (const std::string& file : options.files) {
    const auto type = ReadTypeFile(file, &problems);
    if (type) types.push_back({file, type->name, type->keyspace, doctype::ToJson(*type)});
  }
  if (!problems.empty()) return context.ShowAllButLast(problems);
  ASSIGN_OR_RETURN(Api* const api, context.api());
  for (const TypeSpec& type : types) {
    ApiRequest request = SetTypeRequest(type);
    if (options.dry_run) request.path += Query({{"dry_run", "true"}});
    const Result<Value> answer = Send(request, type, api, context);
    if (!answer) return answer.error().Prefixed(type.path);
    for (const Value& warning : (*answer)["warnings"].items()) {
      context.output.Note(
          fmt::format("warning: {} ({})", CellText(warning["message"]), CellText(warning["id"])));
    }
    context.output.Note(fmt::format("type {} of {} {}{}", type.name, type.keyspace,
                                    options.dry_run ? "is right" : "set",
                                    MatchesText((*answer)["documents"])));
  }
  return OkStatus();
}

Status DeleteType(const TypeOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = TypePath(options.name)}));
  context.output.Note(fmt::format("type {} removed; documents and revisions stay", options.name));
  return OkStatus();
}

// --- history ------------------------------------------------------------------------------------

// "3" or "3..5".
Status ShowDiff(const TypeOptions& options, const std::string& path, Api* api, Context& context) {
  const size_t dots = options.diff.find("..");
  const std::string from = options.diff.substr(0, dots);
  const std::string to = dots == std::string::npos ? "" : options.diff.substr(dots + 2);
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = path + "/" + Segment(from) + "/diff" +
                                                              Query({{"to", to}})}));
  if (context.output.json()) {
    context.output.Object(answer);
  } else if (answer["text"].is_string()) {
    context.output.Raw(std::string(answer["text"].AsString()));
  }
  return OkStatus();
}

Status History(const TypeOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const std::string path =
      "/v1/docs/" + Segment(options.keyspace) + "/" + Segment(options.key) + "/history";
  if (!options.diff.empty()) return ShowDiff(options, path, api, context);
  if (!options.restore.empty()) {
    RETURN_IF_ERROR(
        api->Do({.method = "POST", .path = path + "/" + Segment(options.restore) + "/restore"}));
    context.output.Note(fmt::format("revision {} of {} is the document again, as a new version",
                                    options.restore, options.key));
    return OkStatus();
  }
  if (options.erase) {
    ASSIGN_OR_RETURN(const Value answer, api->CallJson({.method = "DELETE", .path = path}));
    context.output.Note(
        fmt::format("{} revisions of {} erased", CellText(answer["erased"]), options.key));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const Value answer, api->CallJson({.path = path}));
  if (context.output.json()) {
    context.output.Rows(answer["revisions"], {});
    return OkStatus();
  }
  Value rows = Value::EmptyArray();
  for (Value revision : answer["revisions"].items()) {
    const Value& replaced = revision["replaced"];
    if (replaced.is_int()) {
      revision.Set("replaced", UtcText(static_cast<uint64_t>(replaced.AsInt())));
    }
    rows.Append(std::move(revision));
  }
  context.output.Rows(rows, {{"VERSION", "version"},
                             {"KEY", "key"},
                             {"REPLACED", "replaced"},
                             {"BYTES", "bytes"},
                             {"CAS", "cas"}});
  return OkStatus();
}

void AddHistory(Program* program, CLI::App* group, const std::shared_ptr<TypeOptions>& options) {
  CLI::App* history =
      program->AddCommand(group, "history", "List the kept earlier versions of a document",
                          [options](Context& context) { return History(*options, context); });
  history->add_option("keyspace", options->keyspace, "Keyspace")->required();
  history->add_option("key", options->key, "Document's key")->required();
  CLI::Option* diff = history->add_option(
      "--diff", options->diff,
      "Show the differences of two versions: 3..5, or 3 for version 3 and the document");
  CLI::Option* restore = history->add_option("--restore", options->restore,
                                             "Write the content of this revision as a new version");
  CLI::Option* erase = history->add_flag("--erase", options->erase, "Erase all revisions");
  diff->excludes(restore)->excludes(erase);
  restore->excludes(erase);
}

}  // namespace

void AddTypeCommands(Program* program) {
  const auto options = std::make_shared<TypeOptions>();
  CLI::App* group =
      program->AddGroup("types", "Document types: stamps, schemas, migrations, revisions, advice");
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const TypeOptions&, Context&)) {
    return program->AddCommand(group, name, help,
                               [options, run](Context& context) { return run(*options, context); });
  };
  program->AddCommand(group, "list", "List the document types", ListTypes);
  add("show", "Show a type as JSON", ShowType)
      ->add_option("name", options->name, "Type")
      ->required();
  CLI::App* apply = add("apply", "Set types from their files", ApplyTypes);
  apply->add_option("files", options->files, "Type files (YAML)")->required();
  apply->add_flag("--dry-run", options->dry_run, "Check the files without setting the types");
  add("delete", "Remove a type; documents and revisions stay", DeleteType)
      ->add_option("name", options->name, "Type")
      ->required();
  AddHistory(program, group, options);
  AddTypeMigrateCommand(program, group);
  AddTypeAdviceCommands(program, group);
}

}  // namespace sluice::cli
