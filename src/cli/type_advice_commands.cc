// types test|lint|report|infer: tests of migrations with examples, and advice on documents. Only
// reading a keyspace needs a server.
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/keyspace_name.h"
#include "cli/progress_bar.h"
#include "cli/type_files.h"
#include "doctype/advice/advice.h"
#include "doctype/advice/infer.h"
#include "doctype/fixture.h"
#include "doctype/loaded_type.h"
#include "doctype/migration_runner.h"
#include "doctype/type_reader.h"
#include "json/extract.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using json::Value;

constexpr size_t kMaxSampleFileBytes = 256ull << 20;
constexpr size_t kMaxSampleLineBytes = 64ull << 20;

struct AdviceOptions {
  std::string type_file;
  std::vector<std::string> files;
  std::string keyspace;
  uint64_t sample = 0;  // 0: all documents, unless the keyspace is large
  bool full = false;
  bool synchronised = false;
  std::string directory;
};

// --- test ---------------------------------------------------------------------------------------

// A file, or the name of a type of the app directory that this is.
std::string TypeFileOf(const std::string& text) {
  std::error_code error;
  const std::string in_app = (fs::path("types") / (text + ".yaml")).string();
  return !fs::exists(text, error) && fs::exists(in_app, error) ? in_app : text;
}

Result<std::shared_ptr<const doctype::LoadedType>> LoadFile(const std::string& file,
                                                            Context& context) {
  std::vector<Status> problems;
  auto type = ReadTypeFile(file, &problems);
  doctype::Problems found;
  std::shared_ptr<const doctype::LoadedType> loaded;
  if (type) {
    loaded =
        doctype::LoadedType::Load(std::make_shared<const doctype::Type>(std::move(*type)), &found);
    problems.insert(problems.end(), found.errors.begin(), found.errors.end());
  }
  if (loaded == nullptr) return Unexpected(context.ShowAllButLast(problems));
  if (loaded->migrations() == nullptr) {
    return Unexpected(UsageError("{} has no migrations to test", file));
  }
  return loaded;
}

// Beside the type file: tests/NAME.json.
std::vector<std::string> FixtureFiles(const AdviceOptions& options, const std::string& type_file,
                                      const std::string& type) {
  if (!options.files.empty()) return options.files;
  return {(fs::path(type_file).parent_path() / "tests" / (type + ".json")).string()};
}

Status Test(const AdviceOptions& options, Context& context) {
  const std::string type_file = TypeFileOf(options.type_file);
  ASSIGN_OR_RETURN(const auto loaded, LoadFile(type_file, context));
  const SystemClock clock;
  doctype::MigrationRunner runner(loaded->migrations(), {}, clock);
  size_t passed = 0;
  size_t failed = 0;
  for (const std::string& file : FixtureFiles(options, type_file, loaded->type().name)) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxSampleFileBytes));
    auto fixtures = json::Parse(text);
    if (!fixtures) return fixtures.error().Prefixed(file);
    if (!fixtures->is_array()) {
      Value one = Value::EmptyArray();
      one.Append(std::move(*fixtures));
      fixtures = std::move(one);
    }
    for (size_t i = 0; i < fixtures->size(); ++i) {
      const Status ran = doctype::RunFixture(runner, (*fixtures)[i]);
      ++(ran.ok() ? passed : failed);
      if (!ran.ok()) context.output.Problem(ran.Prefixed(fmt::format("{} [{}]", file, i)));
    }
  }
  context.output.Note(fmt::format("{} passed, {} failed", passed, failed));
  if (failed == 0) return OkStatus();
  return Error(Code::kInvalidArgument, std::string(kTestFailedId), "{} of {} fixtures failed",
               failed, passed + failed);
}

// --- reading documents --------------------------------------------------------------------------

using DocumentVisitor = std::function<Status(std::string_view key, std::string_view document)>;

// A row of `sluice export --rows`, or a document alone, without a known key.
Status VisitRow(const Value& row, const DocumentVisitor& visit) {
  if (row["key"].is_string() && !row["value"].is_missing()) {
    return visit(row["key"].AsString(), json::ToText(row["value"]));
  }
  return visit("", json::ToText(row));
}

// One document, a list of them, or one per line.
Status VisitFile(const std::string& file, const DocumentVisitor& visit) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxSampleFileBytes));
  const auto whole = json::Parse(text, {.max_bytes = kMaxSampleFileBytes});
  if (whole) {
    if (!whole->is_array()) return VisitRow(*whole, visit);
    for (const Value& row : whole->items()) RETURN_IF_ERROR(VisitRow(row, visit));
    return OkStatus();
  }
  uint32_t number = 0;
  LineSplitter lines(kMaxSampleLineBytes, [&](std::string_view line) -> Status {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return OkStatus();
    const auto row = json::Parse(line);
    if (!row) return row.error().At({file, number, 0});
    return VisitRow(*row, visit);
  });
  RETURN_IF_ERROR(lines.Feed(text));
  return lines.Finish();
}

// About how many documents a run over all of them reads.
Result<uint64_t> CountDocuments(const std::string& keyspace, Api* api) {
  ASSIGN_OR_RETURN(const KeyspaceName parts, KeyspaceName::Parse(keyspace));
  ASSIGN_OR_RETURN(const Value collection,
                   api->CallJson({.path = "/v1/buckets/" + Segment(parts.bucket) + "/scopes/" +
                                          Segment(parts.scope) + "/collections/" +
                                          Segment(parts.collection) + "?counts=true"}));
  const Value& count = collection["documents"];
  return count.is_int() ? static_cast<uint64_t>(count.AsInt()) : 0;
}

// Documents of a keyspace as they are stored: all, or some from all over it. `there` is how many
// the keyspace has.
Status VisitKeyspace(const AdviceOptions& options, Context& context, uint64_t there,
                     const DocumentVisitor& visit) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ProgressBar bar(&context.output);
  const uint64_t of = options.full || options.sample == 0 ? there : std::min(there, options.sample);
  uint64_t read = 0;
  const json::Extractor value({json::Path({"value"})});
  LineSplitter lines(kMaxSampleLineBytes, [&](std::string_view line) -> Status {
    ASSIGN_OR_RETURN(const Value row, json::Parse(line, {.max_bytes = kMaxSampleLineBytes}));
    bar.Show(++read, of, "documents");
    if (row["value"].is_missing()) return OkStatus();   // binary
    ASSIGN_OR_RETURN(const auto raw, value.Raw(line));  // with the blanks that it is stored with
    return visit(row["key"].AsString(), raw.front());
  });
  const std::string sample = options.full          ? std::to_string(INT64_MAX)
                             : options.sample == 0 ? std::string("auto")
                                                   : std::to_string(options.sample);
  RETURN_IF_ERROR(api->Stream({.path = "/v1/docs/" + Segment(options.keyspace) +
                                       Query({{"stored", "true"}, {"sample", sample}}),
                               .headers = {{"Accept", "application/x-ndjson"}}},
                              [&](std::string_view bytes) { return lines.Feed(bytes); }));
  return lines.Finish();
}

Result<uint64_t> CountKeyspace(const AdviceOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  return CountDocuments(options.keyspace, api);
}

// --- advice -------------------------------------------------------------------------------------

// The use of the keyspace that the server observed.
Result<doctype::Observed> ObservedOf(const AdviceOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(
      const Value answer,
      api->CallJson({.path = "/v1/advice/" + Segment(options.keyspace) + "/observed"}));
  return doctype::ObservedFromJson(answer);
}

doctype::LintOptions LintOptionsOf(const AdviceOptions& options, uint64_t there) {
  return {
      .synchronised = options.synchronised, .keyspace = options.keyspace, .documents_there = there};
}

Value AdviceJson(const doctype::Advice& advice, const AdviceOptions& options, uint64_t there,
                 const doctype::Observed* observed) {
  Value all = advice.ToJson(LintOptionsOf(options, there), observed);
  if (!options.keyspace.empty()) all.Set("keyspace", options.keyspace);
  return all;
}

void ShowAdvice(const doctype::Advice& advice, const AdviceOptions& options, uint64_t there,
                const doctype::Observed* observed, Output* output) {
  if (output->json()) return output->Object(AdviceJson(advice, options, there, observed));
  output->Raw(advice.ToText(LintOptionsOf(options, there), observed));
}

Status Lint(const AdviceOptions& options, Context& context) {
  doctype::TypeSet::Types types;
  if (!options.type_file.empty()) {
    std::vector<Status> problems;
    auto type = ReadTypeFile(TypeFileOf(options.type_file), &problems);
    if (!type) return context.ShowAllButLast(problems);
    types.push_back(std::make_shared<const doctype::Type>(std::move(*type)));
  }
  doctype::Advice advice(std::move(types));
  for (const std::string& file : options.files) {
    RETURN_IF_ERROR(VisitFile(
        file, [&](std::string_view, std::string_view text) { return advice.Look(text); }));
  }
  for (const std::string& file : options.files) {
    RETURN_IF_ERROR(VisitFile(
        file, [&](std::string_view key, std::string_view text) { return advice.Add(key, text); }));
  }
  ShowAdvice(advice, options, 0, nullptr, &context.output);
  return OkStatus();
}

// The types that the server has for a keyspace.
Result<doctype::TypeSet::Types> TypesOf(const std::string& keyspace, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const KeyspaceName wanted, KeyspaceName::Parse(keyspace));
  ASSIGN_OR_RETURN(const Value all, api->CallJson({.path = "/v1/types"}));
  doctype::TypeSet::Types types;
  for (const Value& summary : all["types"].items()) {
    if (!summary["keyspace"].is_string() || !summary["type"].is_string()) continue;
    ASSIGN_OR_RETURN(const KeyspaceName has, KeyspaceName::Parse(summary["keyspace"].AsString()));
    if (has.bucket != wanted.bucket || has.scope != wanted.scope ||
        has.collection != wanted.collection) {
      continue;
    }
    const std::string name(summary["type"].AsString());
    ASSIGN_OR_RETURN(const Value text, api->CallJson({.path = "/v1/types/" + Segment(name)}));
    doctype::Problems problems;
    auto type = doctype::ReadTypeJson(text, name, &problems);
    if (type) types.push_back(std::make_shared<const doctype::Type>(std::move(*type)));
  }
  return types;
}

// As JSON it becomes one of a list, if there is one.
Status ReportKeyspace(const AdviceOptions& options, Context& context, Value* list) {
  ASSIGN_OR_RETURN(doctype::TypeSet::Types types, TypesOf(options.keyspace, context));
  doctype::Advice advice(std::move(types));
  ASSIGN_OR_RETURN(const uint64_t there, CountKeyspace(options, context));
  RETURN_IF_ERROR(
      VisitKeyspace(options, context, there,
                    [&](std::string_view, std::string_view text) { return advice.Look(text); }));
  RETURN_IF_ERROR(VisitKeyspace(
      options, context, there,
      [&](std::string_view key, std::string_view text) { return advice.Add(key, text); }));
  ASSIGN_OR_RETURN(const doctype::Observed observed, ObservedOf(options, context));
  if (list != nullptr && context.output.json()) {
    list->Append(AdviceJson(advice, options, there, &observed));
  } else {
    ShowAdvice(advice, options, there, &observed, &context.output);
  }
  return OkStatus();
}

// Reports on every keyspace if none is named.
Status Report(const AdviceOptions& options, Context& context) {
  if (!options.keyspace.empty()) return ReportKeyspace(options, context, nullptr);
  Value list = Value::EmptyArray();
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const Value all, api->CallJson({.path = "/v1/buckets"}));
  for (const Value& bucket : all["buckets"].items()) {
    for (const Value& scope : bucket["scopes"].items()) {
      for (const Value& collection : scope["collections"].items()) {
        if (!collection["keyspace"].is_string()) continue;
        AdviceOptions one = options;
        one.keyspace = collection["keyspace"].AsString();
        if (!context.output.json()) context.output.Raw("\n" + one.keyspace + "\n");
        RETURN_IF_ERROR(ReportKeyspace(one, context, &list));
      }
    }
  }
  if (context.output.json()) context.output.Raw(json::ToText(list, {.indent = 2}) + "\n");
  return OkStatus();
}

Status WriteText(const fs::path& path, std::string_view text, Output* output) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error(Code::kIo, "file.unwritable", "can't write {}", path.string());
  output->Note(path.string() + " written");
  return OkStatus();
}

Status WriteTypes(const std::vector<doctype::InferredType>& types, const fs::path& directory,
                  Output* output) {
  std::error_code error;
  fs::create_directories(directory / "schemas", error);
  for (const doctype::InferredType& type : types) {
    RETURN_IF_ERROR(WriteText(directory / (type.name + ".yaml"), type.type_file, output));
    RETURN_IF_ERROR(WriteText(directory / "schemas" / (type.name + "-1.json"),
                              json::ToText(type.schema, {.indent = 2}) + "\n", output));
    RETURN_IF_ERROR(WriteText(directory / (type.name + ".d.ts"), type.declaration, output));
  }
  return OkStatus();
}

Status Infer(const AdviceOptions& options, Context& context) {
  doctype::ShapeInference inference;
  ASSIGN_OR_RETURN(const uint64_t there, CountKeyspace(options, context));
  RETURN_IF_ERROR(VisitKeyspace(
      options, context, there,
      [&](std::string_view key, std::string_view text) { return inference.Add(key, text); }));
  const auto types = inference.Finish(options.keyspace);
  if (!options.directory.empty()) return WriteTypes(types, options.directory, &context.output);
  if (context.output.json()) {
    context.output.Raw(json::ToText(doctype::ToJson(types)) + "\n");
  } else {
    context.output.Raw(doctype::ToText(types));
  }
  return OkStatus();
}

void AddSampling(CLI::App* command, const std::shared_ptr<AdviceOptions>& options) {
  command
      ->add_option("--sample", options->sample,
                   "Read this many random documents (default: all of up to a million documents or "
                   "1 GB, otherwise 10000)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--full", options->full, "Read all documents");
}

}  // namespace

void AddTypeAdviceCommands(Program* program, CLI::App* group) {
  const auto options = std::make_shared<AdviceOptions>();
  const auto add = [&](const std::string& name, const std::string& help,
                       Status (*run)(const AdviceOptions&, Context&)) {
    return program->AddCommand(group, name, help,
                               [options, run](Context& context) { return run(*options, context); });
  };
  CLI::App* test = add("test", "Run a type's migrations over examples", Test);
  test->add_option("type", options->type_file,
                   "Type file (YAML), or the name of a type in ./types/")
      ->required();
  test->add_option("fixtures", options->files,
                   "Files of {key, before, after}; without any, tests/NAME.json beside the type");
  CLI::App* lint =
      add("lint", "Report what documents in files cost, and their likely problems", Lint);
  lint->add_option("files", options->files, "JSON: a document, a list, or one per line")
      ->required();
  lint->add_option("--type", options->type_file,
                   "Type of the documents: a type file, or the name of a type in ./types/");
  CLI::App* report = add(
      "report", "Report what the documents of a keyspace cost, and how to improve them", Report);
  for (CLI::App* command : {lint, report}) {
    command->add_flag("--mobile", options->synchronised,
                      "Documents are synchronised with mobile devices");
  }
  report->add_option("keyspace", options->keyspace, "Keyspace; without one, all of them");
  AddSampling(report, options);
  CLI::App* infer =
      add("infer", "Propose types, schemas and TypeScript for the documents of a keyspace", Infer);
  infer->add_option("keyspace", options->keyspace, "Keyspace")->required();
  AddSampling(infer, options);
  infer->add_option("--out", options->directory, "Write the files to this directory");
}

}  // namespace sluice::cli
