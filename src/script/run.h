// One run of user code: its limits and its outcome.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::script {

struct Limits {
  uint64_t heap_bytes = 64ull << 20;    // values of the script
  uint64_t buffer_bytes = 64ull << 20;  // byte buffers, which are not in the heap
  uint64_t stack_bytes = 512ull << 10;
};

// A place in a script's own text; lines and columns begin with 1, 0 for "not known".
struct Place {
  int line = 0;
  int column = 0;
};

enum class Ended : uint8_t {
  kReturned,
  kThrew,
  kTimedOut,
  kOutOfMemory,
  kStopped,  // by Stop, from another thread
};

struct Outcome {
  Ended ended = Ended::kReturned;
  std::string value;    // kReturned, if requested: JSON text, empty for undefined
  std::string type;     // kThrew: the error's class
  std::string message;  // else why it ended
  std::string stack;
  Place place;

  bool ok() const { return ended == Ended::kReturned; }
};

}  // namespace sluice::script
