#include "flow_engine/file_writer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "base/log.h"
#include "flow_engine/live_run.h"

namespace sluice::flow_engine {
namespace {

using Mode = flow::Files::Mode;

void Complain(const std::string& run, const StepFile& file, const Status& status) {
  log::Error("message of a flow", {{"flow", file.flow}, {"run", run}, {"says", status.ToString()}});
}

bool IsAppend(const StepFile& file) { return file.bytes && file.mode == Mode::kAppend; }

uint64_t SizeOf(const App& app, const StepFile& file) {
  const auto real = app.files->PathOf(file.path);
  std::error_code error;
  const uint64_t size = real ? std::filesystem::file_size(*real, error) : 0;
  return error ? 0 : size;
}

void WriteOne(const App& app, const std::string& run, const StepFile& file) {
  const Status done = file.bytes ? app.files->Write(file.path, *file.bytes, file.mode)
                                 : app.files->Remove(file.path);
  if (!done.ok()) Complain(run, file, done);
}

void WriteAll(const App& app, const std::string& run, const std::vector<StepFile>& files) {
  for (const StepFile& file : files) WriteOne(app, run, file);
}

// The bytes of the file from `at` on.
std::string TailOf(const App& app, const StepFile& file) {
  const auto real = app.files->PathOf(file.path);
  std::ifstream in(real ? *real : std::string(), std::ios::binary);
  if (!in.seekg(static_cast<std::streamoff>(*file.at))) return {};
  std::string tail(std::min<uint64_t>(SizeOf(app, file) - std::min(SizeOf(app, file), *file.at),
                                      flow::Files::kMaxBytes),
                   '\0');
  in.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  tail.resize(static_cast<size_t>(in.gcount()));
  return tail;
}

// The bytes that an append has not written before a crash. Other programs may have appended, too.
std::string MissingOf(const App& app, const StepFile& file) {
  const std::string tail = TailOf(app, file);
  if (tail.find(*file.bytes) != std::string::npos) return {};
  return file.bytes->starts_with(tail) ? file.bytes->substr(tail.size()) : *file.bytes;
}

}  // namespace

void LiveRun::Write(const std::vector<StepFile>& files) {
  if (is_durable()) return file_writer.WriteOnce(*app, id, files);
  file_writer.Write(*app, id, files);
}

void FileWriter::Write(const App& app, const std::string& run, const std::vector<StepFile>& files) {
  if (std::ranges::none_of(files, IsAppend)) return WriteAll(app, run, files);
  const MutexLock lock(append_mutex_);
  WriteAll(app, run, files);
}

void FileWriter::WriteOnce(const App& app, const std::string& run, std::vector<StepFile> files) {
  if (std::ranges::none_of(files, IsAppend)) return WriteAll(app, run, files);
  const MutexLock lock(append_mutex_);
  AppendOnce(app, run, std::move(files));
}

void FileWriter::AppendOnce(const App& app, const std::string& run, std::vector<StepFile> files) {
  const bool again =
      std::ranges::any_of(files, [](const auto& file) { return file.at.has_value(); });
  if (!again && !DecidePlaces(app, run, &files)) return;
  for (StepFile& file : files) {
    if (IsAppend(file) && again) file.bytes = MissingOf(app, file);
    WriteOne(app, run, file);
  }
}

bool FileWriter::DecidePlaces(const App& app, const std::string& run,
                              std::vector<StepFile>* files) {
  const std::string before = EncodeFiles(*files);
  std::map<std::string, uint64_t> sizes;  // after the files before it, by path
  for (StepFile& file : *files) {
    const auto found = sizes.find(file.path);
    const uint64_t size = found != sizes.end() ? found->second : SizeOf(app, file);
    if (IsAppend(file)) file.at = size;
    const uint64_t written = file.bytes ? file.bytes->size() : 0;
    sizes[file.path] = IsAppend(file) ? size + written : written;
  }
  db::Commit commit;
  commit.shard = database_.ShardOfKey(run);
  commit.rows.push_back(RunRow(FilesKey(run), EncodeFiles(*files), before));
  const Status status = database_.Apply(std::move(commit)).status;
  if (!status.ok()) Complain(run, files->front(), status);
  return status.ok();
}

}  // namespace sluice::flow_engine
