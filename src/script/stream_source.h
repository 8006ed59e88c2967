// Bodies that are too large for a value, as user code reads them: by pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::script {

inline constexpr uint64_t kDefaultPieceBytes = 64 << 10;
inline constexpr uint64_t kMaxPieceBytes = 1 << 20;

struct StreamPiece {
  std::string bytes;   // fewer than asked for at the end only
  uint64_t total = 0;  // of the stream
};

class StreamSource {
 public:
  // Waits for the disk. Errors flow.no_stream, route.argument (a size out of bounds),
  // file.unreadable.
  virtual Result<StreamPiece> ReadPiece(std::string_view id, uint64_t offset,
                                        uint64_t size) const = 0;

 protected:
  ~StreamSource() = default;
};

}  // namespace sluice::script
