// Threads that have names. Every thread of the server is made here: operators see its name in `top
// -H`, in a debugger and in GET /v1/status?threads=true, and docs/threads.md has a row for its
// kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace sluice {

// A thread of one kind ("committer", "fn worker") and of one owner ("0", "orders"), which may be
// empty.
struct ThreadName {
  std::string_view kind;
  std::string owner = {};

  // The name that the kernel shows: at most 15 bytes, "fn worker:orders" cut short.
  std::string Short() const;
};

// Its destructor, and an assignment to it, wait for its end.
class Thread {
 public:
  Thread() = default;
  Thread(ThreadName name, std::move_only_function<void()> run);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }
  std::thread::id get_id() const { return thread_.get_id(); }

 private:
  std::thread thread_;
};

// A thread that runs now.
struct RunningThread {
  std::string kind;
  std::string owner;
  pid_t id = 0;                     // the kernel's
  std::chrono::milliseconds cpu{};  // time it has used so far
  std::chrono::milliseconds age{};  // since it was started
};

// All of them, by kind, owner and id. Threads of libraries (RocksDB, V8) are not among them.
std::vector<RunningThread> RunningThreads();

}  // namespace sluice
