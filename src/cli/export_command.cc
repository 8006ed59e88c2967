// export --keyspace K: documents as JSON lines or as one list.
#include <memory>
#include <optional>

#include "cli/api.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/keyspace_name.h"
#include "json/extract.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxExportLineBytes = 64 << 20;

struct ExportOptions {
  std::string keyspace;
  std::string format = "lines";
  std::string include_key;
  std::string prefix;
  bool rows = false;
  bool stored = false;
};

// Rows as they come from the server become records of the output.
class Exporter {
 public:
  Exporter(const ExportOptions& options, Output* output)
      : options_(options),
        output_(output),
        value_path_(json::Path({"value"})),
        error_path_(json::Path({"error"})) {}

  Status OnRow(std::string_view row) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> error, json::FindRaw(row, error_path_));
    if (error) return TellUnreadable(row);
    if (options_.rows) return Write(row);
    ASSIGN_OR_RETURN(const std::optional<std::string_view> value, json::FindRaw(row, value_path_));
    if (!value) return Skip();  // binary
    if (options_.include_key.empty()) return Write(*value);
    ASSIGN_OR_RETURN(const json::Value whole, json::Parse(row, {.max_bytes = kMaxExportLineBytes}));
    json::Value document = whole["value"];
    if (!document.is_object()) return Skip();
    document.Set(options_.include_key, whole["key"]);
    return Write(json::ToText(document));
  }

  Status Finish() {
    if (options_.format == "list") output_->Raw(written_ == 0 ? "[]\n" : "\n]\n");
    output_->Note(fmt::format("{} documents exported", written_));
    if (unreadable_ > 0) {
      return Error(Code::kInvalidArgument, kExportIncompleteId,
                   "{} documents were left out, because they can't be brought to the current "
                   "version of their type; --stored exports all as they are",
                   unreadable_);
    }
    if (skipped_ == 0) return OkStatus();
    return Error(Code::kInvalidArgument, kExportIncompleteId,
                 "{} documents were left out, because they are not JSON{}; --rows exports all",
                 skipped_, options_.include_key.empty() ? "" : " objects");
  }

 private:
  Status Write(std::string_view record) {
    if (options_.format == "list") output_->Raw(written_ == 0 ? "[\n" : ",\n");
    output_->Raw(record);
    if (options_.format == "lines") output_->Raw("\n");
    ++written_;
    if (!output_->DataFailed()) return OkStatus();
    return Error(Code::kIo, "cli.output", "can't write to standard output");
  }
  Status Skip() {
    ++skipped_;
    return OkStatus();
  }
  Status TellUnreadable(std::string_view row) {
    constexpr int kOfDocument = 422;
    output_->Problem(ErrorOf(kOfDocument, row));
    ++unreadable_;
    return OkStatus();
  }

  const ExportOptions& options_;
  Output* const output_;
  const json::Path value_path_;
  const json::Path error_path_;
  uint64_t written_ = 0;
  uint64_t skipped_ = 0;
  uint64_t unreadable_ = 0;
};

Status ExportDocuments(const ExportOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  if (options.rows && !options.include_key.empty()) {
    return UsageError("--rows has the keys already: it does not go with --include-key");
  }
  ASSIGN_OR_RETURN(Api* const api, context.api());
  Exporter exporter(options, &context.output);
  LineSplitter splitter(kMaxExportLineBytes,
                        [&](std::string_view row) { return exporter.OnRow(row); });
  RETURN_IF_ERROR(api->Stream(
      {.path = "/v1/docs/" + Segment(options.keyspace) +
               Query({{"prefix", options.prefix}, {"stored", options.stored ? "true" : ""}}),
       .headers = {{"Accept", "application/x-ndjson"}}},
      [&](std::string_view bytes) { return splitter.Feed(bytes); }));
  RETURN_IF_ERROR(splitter.Finish());
  return exporter.Finish();
}

}  // namespace

void AddExportCommand(Program* program) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command = program->AddCommand(
      &program->app(), "export", "Print all documents of a keyspace, as of one moment",
      [options](Context& context) { return ExportDocuments(*options, context); });
  command->add_option("--keyspace", options->keyspace, "Keyspace")->required();
  command->add_option("--format", options->format, "lines: a document per line; list: an array")
      ->check(CLI::IsMember({"lines", "list"}))
      ->capture_default_str();
  command->add_option("--include-key", options->include_key,
                      "Add each document's key to it, as this field");
  command->add_option("--prefix", options->prefix, "Only keys that begin with this");
  command->add_flag("--stored", options->stored,
                    "Print the stored documents, not the current version of their type");
  command->add_flag("--rows", options->rows,
                    "Print key, value, expiry and flags of each document, also of binary ones, for "
                    "import without --key");
}

}  // namespace sluice::cli
