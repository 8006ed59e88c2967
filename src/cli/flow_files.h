// The files of an app directory that flows are made of, and how they get to a server.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/api.h"
#include "cli/output.h"
#include "json/value.h"

namespace sluice::cli {

// {"files": {path: text or {"base64": ...}}}, as PUT /v1/flows/app takes them. Without flows, tasks
// and endpoints there are no files. Problems: file.unreadable.
json::Value ReadFlowFiles(const std::filesystem::path& directory, std::vector<Status>* problems);

// How many files there are.
size_t CountFlowFiles(const json::Value& files);

// kCheck changes nothing and only reports the problems.
enum class SendMode : uint8_t { kReplace, kCheck };

// "warning: file:line:column: message (id)"; as JSON an object with "severity": "warning".
std::string WarningText(const Status& status, OutputFormat format = OutputFormat::kTable);

// Sends the files. Returns every error that the server finds, with its place in the directory;
// prints warnings.
std::vector<Status> SendFlowFiles(Api* api, const std::string& directory, const json::Value& files,
                                  SendMode mode, const std::function<void(std::string_view)>& say,
                                  OutputFormat format = OutputFormat::kTable);

}  // namespace sluice::cli
