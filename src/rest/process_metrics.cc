#include "rest/process_metrics.h"

#include <filesystem>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include "rest/metrics.h"

namespace sluice::rest {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

uint64_t OpenFiles() {
  std::error_code error;
  uint64_t count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

// Pages of /proc/self/statm: whole size, then resident.
uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void AppendProcessMetrics(std::string* out) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  AppendMetricHead("process_cpu_seconds_total", MetricType::kCounter,
                   "User and system CPU time spent.", out);
  AppendSample("process_cpu_seconds_total", "", Seconds(usage.ru_utime) + Seconds(usage.ru_stime),
               out);
  AppendMetricHead("process_resident_memory_bytes", MetricType::kGauge, "Resident memory.", out);
  AppendSample("process_resident_memory_bytes", "", ResidentBytes(), out);
  AppendMetricHead("process_open_fds", MetricType::kGauge, "Open file descriptors.", out);
  AppendSample("process_open_fds", "", OpenFiles(), out);
  AppendMetricHead("process_max_fds", MetricType::kGauge, "Most open file descriptors.", out);
  AppendSample("process_max_fds", "", static_cast<uint64_t>(files.rlim_cur), out);
}

}  // namespace sluice::rest
