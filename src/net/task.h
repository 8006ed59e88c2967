// Task: the coroutine type of requests' handlers. Lazy: it runs when awaited or started, on the
// connection's thread from beginning to end. An exception that leaves it is thrown again in the
// coroutine that awaits it.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace sluice::net {

template <typename T = void>
class Task;

namespace internal {

struct PromiseBase {
  // Continues the coroutine that awaited the task. A started (outermost) task has none.
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      const std::coroutine_handle<> next = self.promise().continuation;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() { exception = std::current_exception(); }
  void Rethrow() {
    if (exception) std::rethrow_exception(std::exchange(exception, nullptr));
  }

  std::coroutine_handle<> continuation;
  std::exception_ptr exception;
};

template <typename T>
struct Promise : PromiseBase {
  Task<T> get_return_object();
  template <typename U>
  void return_value(U&& from) {
    value.emplace(std::forward<U>(from));
  }
  T Take() {
    Rethrow();
    return std::move(*value);
  }
  std::optional<T> value;
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void Take() { Rethrow(); }
};

}  // namespace internal

template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // There is nothing to run.
  bool empty() const { return !handle_; }

  // For the outermost task: runs it to its first suspension. Once done() is true, Take() gives the
  // result or throws.
  void Start() { handle_.resume(); }
  bool done() const { return !handle_ || handle_.done(); }
  T Take() { return handle_.promise().Take(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    return handle_;
  }
  T await_resume() { return handle_.promise().Take(); }

 private:
  Handle handle_;
};

namespace internal {
template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace internal

}  // namespace sluice::net
