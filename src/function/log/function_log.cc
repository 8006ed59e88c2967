#include "function/log/function_log.h"

#include <algorithm>

#include "base/log.h"

namespace sluice::function {
namespace {

// How long what is logged waits for more, and what could not be written for another try.
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
  const std::lock_guard lock(files_mutex_);
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
    const std::lock_guard lock(mutex_);
    first = waiting_.empty();
    for (LogRecord& record : records) {
      waiting_bytes_ += BytesOf(record);
      waiting_.push_back(std::move(record));
    }
    Shorten(kMaxWaiting);
  }
  if (first && !in_memory_) all_.Changed(shared_from_this());
}

// The oldest go.
void FunctionLog::Shorten(size_t max_bytes) {
  while (waiting_bytes_ > max_bytes) {
    waiting_bytes_ -= BytesOf(waiting_.front());
    waiting_.pop_front();
    ++lost_;
  }
}

Status FunctionLog::Write() {
  const std::lock_guard lock(files_mutex_);
  return WriteLocked();
}

Status FunctionLog::WriteLocked() {
  std::deque<LogRecord> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(waiting_);
    waiting_bytes_ = 0;
  }
  if (taken.empty() || removed_) return OkStatus();
  std::vector<std::string> printed;
  printed.reserve(taken.size());
  for (const LogRecord& record : taken) printed.push_back(PrintRecord(record) + "\n");
  size_t written = 0;
  Status status = files_.Append(printed, &written);
  if (status.ok()) return status;
  ++failures_;
  taken.erase(taken.begin(), taken.begin() + static_cast<ptrdiff_t>(written));
  const std::lock_guard lock(mutex_);
  for (const LogRecord& record : taken) waiting_bytes_ += BytesOf(record);
  waiting_.insert(waiting_.begin(), std::make_move_iterator(taken.begin()),
                  std::make_move_iterator(taken.end()));
  Shorten(kKeptUnwritten);
  return status;
}

std::vector<std::string> FunctionLog::Read(size_t max_bytes) {
  const std::lock_guard files_lock(files_mutex_);
  if (!in_memory_) (void)WriteLocked();  // what can't be written is read from memory
  std::vector<std::string> records;
  size_t room = max_bytes;
  const auto add = [&](std::string_view record) {
    if (record.size() + 1 > room) return false;
    room -= record.size() + 1;
    records.emplace_back(record);
    return true;
  };
  {
    const std::lock_guard lock(mutex_);
    for (auto record = waiting_.rbegin(); record != waiting_.rend(); ++record) {
      if (!add(PrintRecord(*record))) return records;
    }
  }
  if (in_memory_) return records;
  // One byte more tells whether the first line is whole; if not, it is no beginning of a record.
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
  const std::lock_guard files_lock(files_mutex_);
  removed_ = true;
  if (!in_memory_) files_.Remove();
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  waiting_bytes_ = 0;
}

// --- of all functions ---------------------------------------------------------------------------

FunctionLogs::FunctionLogs(std::filesystem::path directory, const Clock& clock)
    : directory_(std::move(directory)), clock_(clock) {
  if (!directory_.empty()) thread_ = Thread({"fn log"}, [this] { Loop(); });
}

FunctionLogs::~FunctionLogs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<FunctionLog> FunctionLogs::Of(const std::string& location) {
  return std::shared_ptr<FunctionLog>(new FunctionLog(*this, directory_, location));
}

void FunctionLogs::KeepOnly(const std::vector<std::string>& locations) {
  if (!directory_.empty()) LogFiles::RemoveOthers(directory_, locations);
}

void FunctionLogs::Changed(std::shared_ptr<FunctionLog> log) {
  const std::lock_guard lock(mutex_);
  changed_.push_back(std::move(log));
  wake_.notify_one();
}

void FunctionLogs::Loop() {
  std::unique_lock lock(mutex_);
  bool failed = false;
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !changed_.empty(); });
    const auto pause = failed ? std::chrono::milliseconds(kRetry) : kGather;
    wake_.wait_for(lock, pause, [this] { return stopping_; });
    std::vector<std::shared_ptr<FunctionLog>> logs;
    logs.swap(changed_);
    const bool last = stopping_;
    lock.unlock();
    failed = !WriteAll(logs);
    logs.clear();
    lock.lock();
    if (last && (failed || changed_.empty())) return;
  }
}

// What could not be written is taken up again.
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
