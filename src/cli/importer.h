// Sends a stream of documents to a keyspace, in pieces, with memory that depends on the largest
// document only. An error of one document is reported, and the import continues.
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/key_template.h"
#include "cli/record_reader.h"
#include "json/value.h"

namespace sluice::cli {

struct ImportOptions {
  std::string keyspace;
  RecordFormat format = RecordFormat::kLines;
  // Without it each record is {"key":...,"value":...|"base64":...,"expiry":...}, as export --rows
  // writes it; with it each record is a document.
  std::optional<KeyTemplate> key = std::nullopt;
  std::vector<std::string> ignored_fields = {};  // top level; with `key` only
  std::string expiry = {};                       // of every document; with `key` only
  bool if_absent = false;                        // skip documents that already exist
};

struct ImportCounts {
  uint64_t imported = 0;
  uint64_t replaced = 0;  // of them, those whose key was there
  uint64_t skipped = 0;   // there already, with if_absent
  uint64_t failed = 0;
  uint64_t violated = 0;     // imported, although they do not fit their document types
  uint64_t quarantined = 0;  // not imported but stored in another keyspace for that reason
  uint64_t bytes = 0;        // read

  std::string ToString() const;
};

// A document that was not imported, or does not fit its document type.
struct ImportProblem {
  uint64_t number = 0;  // line, or place in the list
  Status status;
  bool stored = false;  // all the same, or in quarantine
};

class Importer {
 public:
  using OnProblem = std::function<void(const ImportProblem&)>;
  using OnProgress = std::function<void(const ImportCounts&)>;

  Importer(Api* api, ImportOptions options, OnProblem on_problem, OnProgress on_progress);

  // Reads to the end. An error means that the rest was not imported (the server can't be reached,
  // the list is broken); counts() has the number of documents so far.
  Status Run(std::istream& in);
  const ImportCounts& counts() const { return counts_; }

 private:
  Result<std::string> LineOf(const Record& record);
  Status AddRecord(const Record& record);
  Status Send();
  Status AddProblems(const json::Value& answer, const std::vector<uint64_t>& numbers);
  Status AddViolations(const json::Value& answer, const std::vector<uint64_t>& numbers);
  void AddProblem(uint64_t number, Status status);

  Api* const api_;
  ImportOptions options_;
  const OnProblem on_problem_;
  const OnProgress on_progress_;
  ImportCounts counts_;
  std::string batch_;
  std::vector<uint64_t> numbers_;  // of the batch's lines
};

}  // namespace sluice::cli
