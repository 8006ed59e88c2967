// Brackets are found 64 bytes at a time, without a branch for each string: a byte is inside a
// string if the number of quotes up to it is odd. Where there are backslashes, string by string.
#include "json/skim.h"

namespace sluice::json {
namespace {

constexpr ptrdiff_t kBlockBytes = 64;

// The properties of 64 bytes, a bit for each.
struct Block {
  uint64_t quotes = 0;
  uint64_t backslashes = 0;
  uint64_t brackets = 0;
};

Block ReadBlock(const char* at) {
  Block block;
#ifdef __SSE2__
  for (unsigned i = 0; i < kBlockBytes; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // '[', ']' to '{', '}'
    const auto marks = [i](__m128i found) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(found))) << i;
    };
    block.quotes |= marks(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    block.backslashes |= marks(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    block.brackets |= marks(_mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')),
                                         _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))));
  }
#else
  for (unsigned i = 0; i < kBlockBytes; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if (at[i] == '"') block.quotes |= bit;
    if (at[i] == '\\') block.backslashes |= bit;
    if ((at[i] | 0x20) == '{' || (at[i] | 0x20) == '}') block.brackets |= bit;
  }
#endif
  return block;
}

// Each bit becomes the parity of itself and those below it.
uint64_t Parities(uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// From `at`, outside of strings, with `depth` brackets open.
const char* SkimSlowly(const char* at, const char* end, int64_t depth) {
  while (at < end) {
    if (*at == '"') {
      bool escaped = false;
      at = SkimString(at, end, &escaped);
      if (at == nullptr) return nullptr;
      continue;
    }
    const char folded = *at++ | 0x20;
    if (folded == '{') ++depth;
    if (folded == '}' && --depth == 0) return at;
  }
  return nullptr;
}

}  // namespace

const char* SkimBrackets(const char* at, const char* end) {
  int64_t depth = 0;
  uint64_t in_string = 0;   // all bits set if the last block ended in a string,
  const char* string = at;  // which starts here
  for (; end - at >= kBlockBytes; at += kBlockBytes) {
    const Block block = ReadBlock(at);
    if (block.backslashes != 0) break;
    const uint64_t inside = Parities(block.quotes) ^ in_string;
    for (uint64_t marks = block.brackets & ~inside; marks != 0; marks &= marks - 1) {
      const int mark = std::countr_zero(marks);
      depth += (at[mark] | 0x20) == '{' ? 1 : -1;
      if (depth == 0) return at + mark + 1;
    }
    in_string = static_cast<uint64_t>(static_cast<int64_t>(inside) >> 63);
    if (in_string != 0 && block.quotes != 0) string = at + 63 - std::countl_zero(block.quotes);
  }
  return SkimSlowly(in_string != 0 ? string : at, end, depth);
}

}  // namespace sluice::json
