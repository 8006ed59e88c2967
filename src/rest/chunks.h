// How much a streaming answer reads at a time: a worker fills a chunk, the connection sends it, and
// only when there is room the next one is read. Memory per stream is bounded by one chunk and one
// document.
#pragma once

#include <cstddef>

namespace sluice::rest {

inline constexpr size_t kChunkBytes = 128 << 10;
inline constexpr size_t kChunkRows = 1000;

}  // namespace sluice::rest
