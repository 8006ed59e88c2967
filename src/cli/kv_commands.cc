// kv get|put|rm|scan: single documents.
#include <iterator>
#include <memory>

#include "base/file.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/keyspace_name.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxDocumentBytes = 20 << 20;
constexpr size_t kMaxScanLineBytes = 64 << 20;

struct KvOptions {
  std::string keyspace;
  std::string key;
  std::string value;  // put: the document; "-" is standard input, "@FILE" a file
  std::string cas;
  std::string expiry;
  bool if_absent = false;
  bool binary = false;
  std::string prefix;
  std::string from;
  uint64_t limit = 100;
  bool keys_only = false;
};

Result<std::string> DocumentPath(const KvOptions& options) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  return "/v1/docs/" + Segment(options.keyspace) + "/" + Segment(options.key);
}

Headers Conditions(const KvOptions& options) {
  Headers headers;
  if (!options.cas.empty()) headers.emplace_back("If-Match", "\"" + options.cas + "\"");
  if (options.if_absent) headers.emplace_back("If-None-Match", "*");
  return headers;
}

std::string CasOf(const ApiResponse& response) {
  std::string_view tag = response.Header("ETag");
  if (tag.size() >= 2 && tag.front() == '"') tag = tag.substr(1, tag.size() - 2);
  return std::string(tag);
}

Status Get(const KvOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const std::string path, DocumentPath(options));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  if (context.output.json()) {
    ASSIGN_OR_RETURN(const json::Value row, api->CallJson({.path = path + "?xattrs=true"}));
    context.output.Object(row);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const ApiResponse response, api->Call({.path = path}));
  context.output.Raw(response.body);
  const bool json = response.Header("Content-Type").starts_with("application/json");
  if (json && !response.body.ends_with('\n')) context.output.Raw("\n");
  return OkStatus();
}

Result<std::string> ReadValue(const KvOptions& options, Context& context) {
  if (options.value.starts_with('@')) return ReadFile(options.value.substr(1), kMaxDocumentBytes);
  if (options.value != "-") return options.value;
  std::string body(std::istreambuf_iterator<char>(context.in), {});
  return body;
}

Status PutDocument(const KvOptions& options, Context& context) {
  ASSIGN_OR_RETURN(std::string path, DocumentPath(options));
  ASSIGN_OR_RETURN(std::string body, ReadValue(options, context));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  Headers headers = Conditions(options);
  headers.emplace_back("Content-Type",
                       options.binary ? "application/octet-stream" : "application/json");
  ASSIGN_OR_RETURN(const ApiResponse response,
                   api->Call({.method = "PUT",
                              .path = path + Query({{"expiry", options.expiry}}),
                              .headers = std::move(headers),
                              .body = std::move(body)}));
  context.output.Object(json::Value::Object({{"key", options.key}, {"cas", CasOf(response)}}));
  return OkStatus();
}

Status Remove(const KvOptions& options, Context& context) {
  ASSIGN_OR_RETURN(const std::string path, DocumentPath(options));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const ApiResponse response,
                   api->Call({.method = "DELETE", .path = path, .headers = Conditions(options)}));
  context.output.Object(json::Value::Object({{"key", options.key}, {"cas", CasOf(response)}}));
  return OkStatus();
}

// A table row of a scan: the key, a tab, the document on one line.
Status PrintRow(std::string_view line, const KvOptions& options, Output* output) {
  const auto row = json::Parse(line, {.max_bytes = kMaxScanLineBytes});
  if (!row) return Error(Code::kInternal, "cli.bad_answer", "{}", row.error().message());
  if (output->json() && !options.keys_only) {
    output->Line(line);
  } else if (output->json()) {
    output->Line(json::ToText((*row)["key"]));
  } else if (options.keys_only) {
    output->Line(CellText((*row)["key"]));
  } else if (row->Find("error") != nullptr) {
    constexpr int kOfDocument = 422;
    output->Problem(ErrorOf(kOfDocument, line));
  } else {
    const json::Value* value = row->Find("value");
    output->Line(
        fmt::format("{}\t{}", CellText((*row)["key"]),
                    value ? json::ToText(*value) : "base64:" + CellText((*row)["base64"])));
  }
  return OkStatus();
}

Status Scan(const KvOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const std::string query = Query({{"prefix", options.prefix},
                                   {"from", options.from},
                                   {"limit", std::to_string(options.limit)}});
  LineSplitter splitter(kMaxScanLineBytes, [&](std::string_view line) {
    return PrintRow(line, options, &context.output);
  });
  RETURN_IF_ERROR(api->Stream({.path = "/v1/docs/" + Segment(options.keyspace) + query,
                               .headers = {{"Accept", "application/x-ndjson"}}},
                              [&](std::string_view bytes) { return splitter.Feed(bytes); }));
  return splitter.Finish();
}

CLI::App* AddKvCommand(Program* program, CLI::App* group, const std::string& name,
                       const std::string& help, const std::shared_ptr<KvOptions>& options,
                       Status (*action)(const KvOptions&, Context&)) {
  CLI::App* command = program->AddCommand(
      group, name, help, [options, action](Context& context) { return action(*options, context); });
  command->add_option("keyspace", options->keyspace, "Keyspace: shop or shop.inventory.items")
      ->required();
  return command;
}

}  // namespace

void AddKvCommands(Program* program) {
  CLI::App* kv = program->AddGroup("kv", "Read and write documents");
  const auto options = std::make_shared<KvOptions>();

  CLI::App* get = AddKvCommand(program, kv, "get", "Print a document", options, &Get);
  get->add_option("key", options->key, "Key")->required();

  CLI::App* put = AddKvCommand(program, kv, "put", "Write a document", options, &PutDocument);
  put->add_option("key", options->key, "Key")->required();
  put->add_option("value", options->value, "The document; - reads standard input, @FILE a file")
      ->required();
  put->add_option("--cas", options->cas, "Only if the document has this CAS");
  put->add_flag("--if-absent", options->if_absent, "Only if the document does not exist");
  put->add_option("--expiry", options->expiry, "When it expires: 30s, 7d, 2030-01-01T00:00:00Z");
  put->add_flag("--binary", options->binary, "The document is bytes, not JSON");

  CLI::App* rm = AddKvCommand(program, kv, "rm", "Delete a document", options, &Remove);
  rm->add_option("key", options->key, "Key")->required();
  rm->add_option("--cas", options->cas, "Only if the document has this CAS");

  CLI::App* scan =
      AddKvCommand(program, kv, "scan", "Print documents in key order", options, &Scan);
  scan->add_option("--prefix", options->prefix, "Only keys that begin with this");
  scan->add_option("--from", options->from, "Start at this key");
  scan->add_option("--limit", options->limit, "At most this many")->capture_default_str();
  scan->add_flag("--keys", options->keys_only, "Keys without documents");
}

}  // namespace sluice::cli
