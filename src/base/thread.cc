#include "base/thread.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mutex.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kKernelNameBytes = 15;

struct Entry {
  std::string kind;
  std::string owner;
  steady_clock::time_point started;
};

// The threads that run, by the kernel's id. Never destroyed: a detached thread may outlive main.
struct Registry {
  Mutex mutex;
  std::map<pid_t, Entry> threads GUARDED_BY(mutex);
};

Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

pid_t ThisThreadId() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

// Registered for as long as it lives.
class Registration {
 public:
  explicit Registration(Entry entry) {
    Registry& registry = TheRegistry();
    const MutexLock lock(registry.mutex);
    registry.threads.insert_or_assign(id_, std::move(entry));
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    Registry& registry = TheRegistry();
    const MutexLock lock(registry.mutex);
    registry.threads.erase(id_);
  }

 private:
  const pid_t id_ = ThisThreadId();
};

// From /proc: the fields 14 and 15 of stat, which count from behind the name in parentheses.
milliseconds CpuTime(pid_t id) {
  constexpr size_t kMaxBytes = 4096;
  const auto stat = ReadFile(fmt::format("/proc/self/task/{}/stat", id), kMaxBytes);
  if (!stat) return {};  // it has just ended
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return {};
  unsigned long user = 0;
  unsigned long system = 0;
  const int read =
      std::sscanf(stat->c_str() + name_end + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  if (read != 2) return {};
  static const long ticks = ::sysconf(_SC_CLK_TCK);
  return milliseconds(static_cast<int64_t>(user + system) * 1000 / ticks);
}

}  // namespace

std::string ThreadName::Short() const {
  std::string text(kind);
  if (!owner.empty()) text += ":" + owner;
  text.resize(std::min(text.size(), kKernelNameBytes));
  return text;
}

Thread::Thread(ThreadName name, std::move_only_function<void()> run)
    : thread_([shown = name.Short(), kind = std::string(name.kind), owner = std::move(name.owner),
               run = std::move(run)]() mutable {
        ::pthread_setname_np(::pthread_self(), shown.c_str());
        const Registration registration({kind, owner, steady_clock::now()});
        run();
      }) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (joinable()) join();
  thread_ = std::move(other.thread_);
  return *this;
}

Thread::~Thread() {
  if (joinable()) join();
}

std::vector<RunningThread> RunningThreads() {
  std::vector<RunningThread> threads;
  {
    Registry& registry = TheRegistry();
    const MutexLock lock(registry.mutex);
    const auto now = steady_clock::now();
    for (const auto& [id, entry] : registry.threads) {
      threads.push_back({entry.kind,
                         entry.owner,
                         id,
                         {},
                         std::chrono::duration_cast<milliseconds>(now - entry.started)});
    }
  }
  for (RunningThread& thread : threads) thread.cpu = CpuTime(thread.id);
  std::ranges::sort(threads, {}, [](const RunningThread& thread) {
    return std::tie(thread.kind, thread.owner, thread.id);
  });
  return threads;
}

}  // namespace sluice
