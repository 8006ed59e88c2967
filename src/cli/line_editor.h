// Lines typed at a terminal, with editing, history and completion. The only file that knows
// libedit.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

// One thread; one editor at a time, on standard input.
class LineEditor {
 public:
  // The completions of the last word before the cursor; each begins with that word.
  using Completer = std::function<std::vector<std::string>(std::string_view before_cursor)>;

  // `history_file` keeps the lines of earlier sessions; empty for no history. A handler of SIGINT
  // sets `interrupted`.
  LineEditor(std::string history_file, Completer completer, const std::atomic<bool>* interrupted);
  ~LineEditor();

  enum class Outcome : uint8_t { kLine, kInterrupted, kEnd };
  // Without its line end.
  Outcome Read(const std::string& prompt, std::string* line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::cli
