#include "cli/flow_files.h"

#include <algorithm>
#include <system_error>

#include "base/base64.h"
#include "base/file.h"
#include "cli/app_directory.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDirectories[] = {"flows", "tasks", "resources"};
constexpr std::string_view kNames[] = {"rest.yaml", "flows.yaml", "preload-override.yaml"};
constexpr size_t kMaxFlowFileBytes = 16ull << 20;

json::Value TextOrBase64(const std::string& bytes) {
  const bool text = std::ranges::all_of(
      bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\0'; });
  return text ? json::Value(bytes) : json::Value::Object({{"base64", ToBase64(bytes)}});
}

void AddFlowFile(const fs::path& root, const fs::path& path, json::Value* files,
                 std::vector<Status>* problems) {
  auto bytes = ReadFile(path.string(), kMaxFlowFileBytes);
  if (!bytes) return problems->push_back(bytes.error());
  files->Set(fs::relative(path, root).generic_string(), TextOrBase64(*bytes));
}

}  // namespace

json::Value ReadFlowFiles(const fs::path& directory, std::vector<Status>* problems) {
  json::Value files = json::Value::EmptyObject();
  std::error_code error;
  for (const std::string_view name : kDirectories) {
    std::vector<fs::path> paths;
    for (fs::recursive_directory_iterator it(directory / name, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file(error)) paths.push_back(it->path());
    }
    std::ranges::sort(paths);
    for (const fs::path& path : paths) AddFlowFile(directory, path, &files, problems);
  }
  for (const std::string_view name : kNames) {
    if (fs::exists(directory / name, error))
      AddFlowFile(directory, directory / name, &files, problems);
  }
  if (files.size() > 0) AddFlowFile(directory, directory / kAppFile, &files, problems);
  return json::Value::Object({{"files", std::move(files)}});
}

size_t CountFlowFiles(const json::Value& files) { return files["files"].size(); }

std::string WarningText(const Status& status, OutputFormat format) {
  const Place& place = status.place();
  if (format == OutputFormat::kJson) {
    return json::ToText(json::Value::Object({{"severity", "warning"},
                                             {"id", status.id()},
                                             {"message", status.message()},
                                             {"file", place.file},
                                             {"line", json::Value::Unsigned(place.line)},
                                             {"column", json::Value::Unsigned(place.column)}}));
  }
  return fmt::format("warning: {}:{}:{}: {} ({})", place.file, place.line, place.column,
                     status.message(), status.id());
}

std::vector<Status> SendFlowFiles(Api* api, const std::string& directory, const json::Value& files,
                                  SendMode mode, const std::function<void(std::string_view)>& say,
                                  OutputFormat format) {
  const std::string query = Query({{"check", mode == SendMode::kCheck ? "true" : ""}});
  ApiRequest request{.method = "PUT", .path = "/v1/flows/app" + query, .body = json::ToText(files)};
  request.headers.emplace_back("Content-Type", "application/json");
  const auto response = api->CallAny(std::move(request));
  if (!response) return {response.error()};
  const auto body = JsonOf(*response);
  if (!body || !(*body)["problems"].is_array()) {
    return {ErrorOf(response->status, response->body)};
  }
  std::vector<Status> problems;
  const auto text = [](const json::Value& value) {
    return value.is_string() ? std::string(value.AsString()) : std::string();
  };
  const auto number = [](const json::Value& value) {
    return value.is_int() ? static_cast<uint32_t>(value.AsInt()) : 0;
  };
  for (const json::Value& problem : (*body)["problems"].items()) {
    const Place place{directory + "/" + text(problem["file"]), number(problem["line"]),
                      number(problem["column"])};
    Status status =
        Error(Code::kInvalidArgument, text(problem["id"]), "{}", text(problem["message"]))
            .At(place);
    if (problem["severity"] == json::Value("error")) {
      problems.push_back(std::move(status));
    } else {
      say(WarningText(status, format));
    }
  }
  return problems;
}

}  // namespace sluice::cli
