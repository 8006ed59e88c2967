// import FILE|- --keyspace K.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/importer.h"
#include "cli/keyspace_name.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

constexpr uint64_t kShownProblems = 10;
constexpr auto kProgressInterval = std::chrono::milliseconds(200);

struct CommandOptions {
  std::string file;
  std::string keyspace;
  std::string format = "lines";
  std::string key;
  std::vector<std::string> ignored_fields;
  std::string expiry;
  std::string error_log;
  bool if_absent = false;
};

// One line that is overwritten, on a terminal only.
class ProgressLine {
 public:
  // `bytes` of the file; 0 if unknown.
  ProgressLine(Output* output, uint64_t bytes)
      : output_(output), bytes_(bytes), shown_(!output->quiet() && isatty(STDERR_FILENO)) {}
  ~ProgressLine() { Clear(); }

  void Show(const ImportCounts& counts) {
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < kProgressInterval) return;
    last_ = now;
    drawn_ = true;
    const std::string share =
        bytes_ == 0 ? "" : fmt::format(" ({} %)", std::min(counts.bytes, bytes_) * 100 / bytes_);
    output_->notes() << fmt::format("\r\x1b[K{}, {} MB read{}", counts.ToString(),
                                    counts.bytes / 1'000'000, share)
                     << std::flush;
  }
  void Clear() {
    if (drawn_) output_->notes() << "\r\x1b[K" << std::flush;
    drawn_ = false;
  }

 private:
  Output* const output_;
  const uint64_t bytes_;
  const bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

Result<ImportOptions> MakeOptions(const CommandOptions& options) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  ImportOptions made;
  made.keyspace = options.keyspace;
  made.format = options.format == "list" ? RecordFormat::kList : RecordFormat::kLines;
  made.ignored_fields = options.ignored_fields;
  made.expiry = options.expiry;
  made.if_absent = options.if_absent;
  if (!options.key.empty()) {
    ASSIGN_OR_RETURN(made.key, KeyTemplate::Parse(options.key));
  } else if (!options.expiry.empty() || !options.ignored_fields.empty()) {
    return Unexpected(UsageError("--expiry and --ignore-fields go with --key"));
  }
  return made;
}

// Every problem goes to the error log, the first ones to the terminal.
class ProblemLog {
 public:
  explicit ProblemLog(RecordFormat format) : list_(format == RecordFormat::kList) {}

  Status Open(const std::string& path) {
    if (path.empty()) return OkStatus();
    file_.open(path, std::ios::binary | std::ios::trunc);
    if (!file_) return Error(Code::kIo, "file.unwritable", "can't write {}", path);
    path_ = path;
    return OkStatus();
  }

  void Add(const ImportProblem& problem, const std::string& input, Output* output) {
    ++count_;
    if (count_ <= kShownProblems) {
      const Status& status = problem.status;
      // The place in a list is no line.
      output->Problem(list_ ? status.Prefixed(fmt::format("{}: element {}", input, problem.number))
                            : status.At({input, static_cast<uint32_t>(problem.number), 0}));
    } else if (count_ == kShownProblems + 1) {
      output->Note(path_.empty() ? "further errors are not shown; --error-log FILE keeps them all"
                                 : "further errors are in " + path_);
    }
    if (!file_.is_open()) return;
    file_ << json::ToText(json::Value::Object(
                 {{list_ ? "element" : "line", json::Value::Unsigned(problem.number)},
                  {"id", problem.status.id()},
                  {"message", problem.status.message()}}))
          << '\n';
  }

  Status Close() {
    if (!file_.is_open()) return OkStatus();
    file_.close();
    return file_ ? OkStatus() : Error(Code::kIo, "file.unwritable", "can't write {}", path_);
  }

 private:
  const bool list_;
  std::ofstream file_;
  std::string path_;
  uint64_t count_ = 0;
};

void ShowSummary(const ImportCounts& counts, Output* output) {
  if (!output->json()) {
    output->Line(counts.ToString());
    return;
  }
  json::Value summary = json::Value::Object({{"imported", json::Value::Unsigned(counts.imported)},
                                             {"skipped", json::Value::Unsigned(counts.skipped)},
                                             {"failed", json::Value::Unsigned(counts.failed)}});
  if (counts.replaced > 0) summary.Set("replaced", json::Value::Unsigned(counts.replaced));
  if (counts.violated + counts.quarantined > 0) {
    summary.Set("violated", json::Value::Unsigned(counts.violated));
    summary.Set("quarantined", json::Value::Unsigned(counts.quarantined));
  }
  output->Object(summary);
}

Status ImportDocuments(const CommandOptions& options, Context& context) {
  ASSIGN_OR_RETURN(ImportOptions import, MakeOptions(options));
  std::ifstream file;
  if (options.file != "-") {
    file.open(options.file, std::ios::binary);
    if (!file) {
      return Error(Code::kNotFound, "file.unreadable", "can't read {}: {}", options.file,
                   std::strerror(errno));
    }
  }
  ProblemLog problems(import.format);
  RETURN_IF_ERROR(problems.Open(options.error_log));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  std::error_code unknown;
  const uint64_t bytes =
      options.file == "-" ? 0 : std::filesystem::file_size(options.file, unknown);
  ProgressLine progress(&context.output, unknown ? 0 : bytes);
  Importer importer(
      api, std::move(import),
      [&](const ImportProblem& problem) {
        progress.Clear();
        problems.Add(problem, options.file, &context.output);
      },
      [&](const ImportCounts& counts) { progress.Show(counts); });
  const Status ended = importer.Run(options.file == "-" ? context.in : file);
  progress.Clear();
  ShowSummary(importer.counts(), &context.output);
  RETURN_IF_ERROR(ended);
  RETURN_IF_ERROR(problems.Close());
  if (importer.counts().failed == 0) return OkStatus();
  return Error(Code::kInvalidArgument, kImportIncompleteId, "{} documents were not imported",
               importer.counts().failed);
}

}  // namespace

void AddImportCommand(Program* program) {
  const auto options = std::make_shared<CommandOptions>();
  CLI::App* command = program->AddCommand(
      &program->app(), "import", "Write the documents of a file to a keyspace",
      [options](Context& context) { return ImportDocuments(*options, context); });
  command->add_option("file", options->file, "File; - reads standard input")->required();
  command->add_option("--keyspace", options->keyspace, "Keyspace")->required();
  command->add_option("--format", options->format, "lines: a document per line; list: an array")
      ->check(CLI::IsMember({"lines", "list"}))
      ->capture_default_str();
  command->add_option("--key", options->key,
                      "How to make keys: user::%id%, %a.b%, #UUID#, #MONO_INCR#. Without it each "
                      "record has a key and a value, as export --rows writes them");
  command->add_option("--ignore-fields", options->ignored_fields, "Fields to leave out")
      ->delimiter(',');
  command->add_option("--expiry", options->expiry, "When the documents expire: 30d");
  command->add_flag("--if-absent", options->if_absent, "Skip documents that already exist");
  command->add_option("--error-log", options->error_log, "File for all errors, as JSON lines")
      ->type_name("FILE");
}

}  // namespace sluice::cli
