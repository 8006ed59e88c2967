#include "function/log/function_log.h"

#include <algorithm>

#include "base/log.h"

namespace sluice::function {
namespace {

// How long lines wait for more lines, and after a failed write for the next try.
constexpr std::chrono::milliseconds kGather(50);
constexpr std::chrono::seconds kRetry(1);
constexpr size_t kStampBytes = 64;  // more than the time and the level have

size_t BytesOf(const LogRecord& record) { return record.text.size() + kStampBytes; }

}  // namespace

FunctionLog::FunctionLog(FunctionLogs& all, const std::filesystem::path& directory,
                         const std::string& location)
    : all_(all), in_memory_(directory.empty()), files_(directory, location) {}

void FunctionLog::Configure(const LogSettings& settings) {
  level_ = settings.level;
  const MutexLock lock(files_mutex_);
  files_.SetLimits(settings.files);
}

void FunctionLog::Add(LogLevel level, std::string_view text) {
  Add({LogRecord{all_.clock().WallMs(), level, std::string(text)}});
}

void FunctionLog::Add(std::vector<LogRecord> records) {
  std::erase_if(records, [&](const LogRecord& record) { return record.level > level_.load(); });
  if (records.empty()) return;
  bool first = false;
  {
    const auto waiting = waiting_.Lock();
    first = waiting->records.empty();
    for (LogRecord& record : records) {
      waiting->bytes += BytesOf(record);
      waiting->records.push_back(std::move(record));
    }
    Shorten(*waiting, kMaxWaiting);
  }
  if (first && !in_memory_) all_.Changed(shared_from_this());
}

void FunctionLog::Shorten(Waiting& waiting, size_t max_bytes) {
  while (waiting.bytes > max_bytes) {
    waiting.bytes -= BytesOf(waiting.records.front());
    waiting.records.pop_front();
    ++lost_;
  }
}

Status FunctionLog::Write() {
  const MutexLock lock(files_mutex_);
  return WriteWaiting();
}

Status FunctionLog::WriteWaiting() {
  std::deque<LogRecord> taken = waiting_.Exchange({}).records;
  if (taken.empty() || removed_) return OkStatus();
  std::vector<std::string> printed;
  printed.reserve(taken.size());
  for (const LogRecord& record : taken) printed.push_back(PrintRecord(record) + "\n");
  size_t written = 0;
  Status status = files_.Append(printed, &written);
  if (status.ok()) return status;
  ++failures_;
  taken.erase(taken.begin(), taken.begin() + static_cast<ptrdiff_t>(written));
  const auto waiting = waiting_.Lock();
  for (const LogRecord& record : taken) waiting->bytes += BytesOf(record);
  waiting->records.insert(waiting->records.begin(), std::make_move_iterator(taken.begin()),
                          std::make_move_iterator(taken.end()));
  Shorten(*waiting, kKeptUnwritten);
  return status;
}

std::vector<std::string> FunctionLog::Read(size_t max_bytes) {
  const MutexLock files_lock(files_mutex_);
  if (!in_memory_) (void)WriteWaiting();  // unwritten lines are read from memory
  std::vector<std::string> records;
  size_t room = max_bytes;
  const auto add = [&](std::string_view record) {
    if (record.size() + 1 > room) return false;
    room -= record.size() + 1;
    records.emplace_back(record);
    return true;
  };
  {
    const auto waiting = waiting_.Lock();
    for (auto record = waiting->records.rbegin(); record != waiting->records.rend(); ++record) {
      if (!add(PrintRecord(*record))) return records;
    }
  }
  if (in_memory_) return records;
  // If there is one byte more, the first line may be cut; then it is no beginning of a record.
  const std::string tail = files_.Tail(room + 1);
  std::string_view part = tail;
  if (part.size() > room) part.remove_prefix(std::min(part.find('\n'), part.size() - 1) + 1);
  std::vector<std::string_view> written = SplitRecords(part);
  for (auto record = written.rbegin(); record != written.rend(); ++record) {
    if (!add(*record)) break;
  }
  return records;
}

void FunctionLog::Remove() {
  const MutexLock files_lock(files_mutex_);
  removed_ = true;
  if (!in_memory_) files_.Remove();
  waiting_.Set({});
}

// --- of all functions ---------------------------------------------------------------------------

FunctionLogs::FunctionLogs(std::filesystem::path directory, const Clock& clock, Signal* progress)
    : directory_(std::move(directory)), clock_(clock), progress_(progress), wake_(clock) {
  if (!directory_.empty()) thread_ = Thread({"fn log"}, [this] { Loop(); });
}

FunctionLogs::~FunctionLogs() {
  wake_.Close();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<FunctionLog> FunctionLogs::Of(const std::string& location) {
  return std::shared_ptr<FunctionLog>(new FunctionLog(*this, directory_, location));
}

void FunctionLogs::KeepOnly(const std::vector<std::string>& locations) {
  if (!directory_.empty()) LogFiles::RemoveOthers(directory_, locations);
}

void FunctionLogs::Changed(std::shared_ptr<FunctionLog> log) {
  changed_.Lock()->push_back(std::move(log));
  wake_.Wake();
}

void FunctionLogs::Loop() {
  bool failed = false;
  while (true) {
    const uint64_t seen = wake_.news();
    // Two statements: a temporary of Lock() would hold the lock until the end of the condition.
    const bool nothing = changed_.Lock()->empty();
    if (nothing && wake_.Wait(seen) != Signal::Waited::kClosed) continue;
    const Clock::Time until = clock_.Now() + (failed ? std::chrono::milliseconds(kRetry) : kGather);
    while (wake_.Wait(wake_.news(), until) == Signal::Waited::kNews) {
    }
    const bool last = wake_.closed();
    failed = !WriteAll(changed_.Exchange({}));
    if (progress_ != nullptr) progress_->Wake();
    if (last && (failed || changed_.Lock()->empty())) return;
  }
}

// Logs that could not be written stay in the list.
bool FunctionLogs::WriteAll(const std::vector<std::shared_ptr<FunctionLog>>& logs) {
  Status failed;
  for (const std::shared_ptr<FunctionLog>& log : logs) {
    Status status = log->Write();
    if (status.ok()) continue;
    failed = std::move(status);
    Changed(log);
  }
  if (failed.ok()) {
    complained_ = false;
  } else if (!complained_) {
    complained_ = true;
    log::Warn("logs of functions can't be written; their newest lines are kept in memory",
              {{"error", failed.ToString()}});
  }
  return failed.ok();
}

}  // namespace sluice::function
