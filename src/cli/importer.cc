#include "cli/importer.h"

#include <algorithm>
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

// The record of an error of the server.
Result<uint64_t> RecordNumberOf(const json::Value& told, const std::vector<uint64_t>& numbers) {
  const json::Value& line = told["line"];
  if (line.is_int() && line.AsInt() >= 1 && static_cast<size_t>(line.AsInt()) <= numbers.size()) {
    return numbers[static_cast<size_t>(line.AsInt()) - 1];
  }
  return Fail(Code::kInternal, "cli.bad_answer", "the server reports an unknown line");
}

Result<Status> StatusOf(const json::Value& error) {
  if (error["id"].is_string() && error["message"].is_string()) {
    return Status(Code::kInvalidArgument, error["id"].AsString(),
                  std::string(error["message"].AsString()));
  }
  return Fail(Code::kInternal, "cli.bad_answer", "the server reports an unknown error");
}

}  // namespace

std::string ImportCounts::ToString() const {
  std::string text = fmt::format("{} imported", imported);
  if (replaced > 0) {
    text +=
        fmt::format(" ({} new, {} replaced)", imported - std::min(imported, replaced), replaced);
  }
  if (violated > 0) text += fmt::format(" ({} do not fit their type)", violated);
  if (skipped > 0) text += fmt::format(", {} skipped", skipped);
  if (quarantined > 0) text += fmt::format(", {} in quarantine", quarantined);
  return text + fmt::format(", {} failed", failed);
}

Importer::Importer(Api* api, ImportOptions options, OnProblem on_problem, OnProgress on_progress)
    : api_(api),
      options_(std::move(options)),
      on_problem_(std::move(on_problem)),
      on_progress_(std::move(on_progress)) {}

void Importer::AddProblem(uint64_t number, Status status) {
  ++counts_.failed;
  on_problem_({.number = number, .status = std::move(status)});
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
    return Error(Code::kInternal, "cli.bad_answer",
                 "the server did not report the imported documents");
  }
  counts_.imported += static_cast<uint64_t>(answer["imported"].AsInt());
  if (answer["replaced"].is_int()) {
    counts_.replaced += static_cast<uint64_t>(answer["replaced"].AsInt());
  }
  RETURN_IF_ERROR(AddProblems(answer, numbers));
  RETURN_IF_ERROR(AddViolations(answer, numbers));
  on_progress_(counts_);
  return OkStatus();
}

Status Importer::AddProblems(const json::Value& answer, const std::vector<uint64_t>& numbers) {
  for (const json::Value& error : answer["errors"].items()) {
    ASSIGN_OR_RETURN(const uint64_t number, RecordNumberOf(error, numbers));
    ASSIGN_OR_RETURN(Status status, StatusOf(error));
    if (options_.if_absent && status.id() == "document.exists") {
      ++counts_.skipped;
      continue;
    }
    AddProblem(number, std::move(status));
  }
  return OkStatus();
}

Status Importer::AddViolations(const json::Value& answer, const std::vector<uint64_t>& numbers) {
  if (answer["violated"].is_int()) {
    counts_.violated += static_cast<uint64_t>(answer["violated"].AsInt());
  }
  if (answer["quarantined"].is_int()) {
    counts_.quarantined += static_cast<uint64_t>(answer["quarantined"].AsInt());
  }
  for (const json::Value& each : answer["violations"].items()) {
    ASSIGN_OR_RETURN(const uint64_t number, RecordNumberOf(each, numbers));
    ASSIGN_OR_RETURN(const Status status, StatusOf(each["violation"]));
    const json::Value& where = each["quarantined"];
    const std::string place =
        where.is_string() ? fmt::format("stored as {}", where.AsString()) : "stored all the same";
    on_problem_({.number = number, .status = status.Prefixed(place), .stored = true});
  }
  return OkStatus();
}

Status Importer::Run(std::istream& in) {
  RecordReader reader(in, options_.format, kMaxRecordBytes);
  Record record;
  while (true) {
    auto more = reader.Next(&record);
    counts_.bytes = reader.bytes_read();
    if (!more) {
      RETURN_IF_ERROR(Send());  // the records before the error are good
      return more.error();
    }
    if (!*more) return Send();
    RETURN_IF_ERROR(AddRecord(record));
  }
}

}  // namespace sluice::cli
