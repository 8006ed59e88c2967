#include "cli/importer.h"

#include <utility>

#include "json/parse.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

// A piece. The server lists the errors of at most kBatchRecords lines of a request, so that with
// this many each one is known.
constexpr size_t kBatchRecords = 100;
constexpr size_t kBatchBytes = 4 << 20;
// A document and its envelope.
constexpr size_t kMaxRecordBytes = 22 << 20;

}  // namespace

std::string ImportCounts::ToString() const {
  std::string text = fmt::format("{} imported", imported);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  return text + fmt::format(", {} failed", failed);
}

Importer::Importer(Api* api, ImportOptions options, OnProblem on_problem, OnProgress on_progress)
    : api_(api),
      options_(std::move(options)),
      on_problem_(std::move(on_problem)),
      on_progress_(std::move(on_progress)) {}

void Importer::AddProblem(uint64_t number, Status status) {
  ++counts_.failed;
  on_problem_({number, std::move(status)});
}

// The line that the server gets for a record.
Result<std::string> Importer::LineOf(const Record& record) {
  RETURN_IF_ERROR(record.problem);
  if (!options_.key) return record.text;
  ASSIGN_OR_RETURN(json::Value document, json::Parse(record.text));
  ASSIGN_OR_RETURN(const std::string key, options_.key->Make(document));
  std::string line = R"({"key":)";
  json::AppendQuoted(key, &line);
  if (!options_.expiry.empty()) {
    line += R"(,"expiry":)";
    json::AppendQuoted(options_.expiry, &line);
  }
  line += R"(,"value":)";
  bool changed = false;
  for (const std::string& name : options_.ignored_fields) {
    if (document.is_object()) changed |= document.Remove(name);
  }
  if (changed) {
    json::Print(document, &line);
  } else {
    line += record.text;
  }
  line += '}';
  return line;
}

Status Importer::AddRecord(const Record& record) {
  const auto line = LineOf(record);
  if (!line) {
    AddProblem(record.number, line.error());
    return OkStatus();
  }
  if (!batch_.empty() && batch_.size() + line->size() > kBatchBytes) RETURN_IF_ERROR(Send());
  batch_ += *line;
  batch_ += '\n';
  numbers_.push_back(record.number);
  return numbers_.size() == kBatchRecords ? Send() : OkStatus();
}

Status Importer::Send() {
  if (numbers_.empty()) return OkStatus();
  const std::string path = "/v1/import/" + Segment(options_.keyspace) +
                           Query({{"mode", options_.if_absent ? "insert" : ""}});
  ASSIGN_OR_RETURN(const json::Value answer,
                   api_->CallJson({.method = "POST",
                                   .path = path,
                                   .headers = {{"Content-Type", "application/x-ndjson"}},
                                   .body = std::exchange(batch_, {})}));
  const std::vector<uint64_t> numbers = std::exchange(numbers_, {});
  if (!answer["imported"].is_int()) {
    return Error(Code::kInternal, "cli.bad_answer", "the server did not say what it imported");
  }
  counts_.imported += static_cast<uint64_t>(answer["imported"].AsInt());
  for (const json::Value& error : answer["errors"].items()) {
    const bool known = error["line"].is_int() && error["line"].AsInt() >= 1 &&
                       static_cast<size_t>(error["line"].AsInt()) <= numbers.size();
    if (!known || !error["id"].is_string() || !error["message"].is_string()) {
      return Error(Code::kInternal, "cli.bad_answer", "the server reports an unknown line");
    }
    if (options_.if_absent && error["id"].AsString() == "document.exists") {
      ++counts_.skipped;
      continue;
    }
    AddProblem(numbers[static_cast<size_t>(error["line"].AsInt()) - 1],
               Status(Code::kInvalidArgument, error["id"].AsString(),
                      std::string(error["message"].AsString())));
  }
  on_progress_(counts_);
  return OkStatus();
}

Status Importer::Run(std::istream& in) {
  RecordReader reader(in, options_.format, kMaxRecordBytes);
  Record record;
  while (true) {
    auto more = reader.Next(&record);
    counts_.bytes = reader.bytes_read();
    if (!more) {
      RETURN_IF_ERROR(Send());  // what came before the break is good
      return more.error();
    }
    if (!*more) return Send();
    RETURN_IF_ERROR(AddRecord(record));
  }
}

}  // namespace sluice::cli
