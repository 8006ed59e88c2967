// Skims JSON text: skips strings and values sixteen bytes at a time, without an index of the text.
// For few paths of small documents this costs a third of TextIndex. Nothing is read at or after
// `end`, whatever the text holds. Skipped text is not checked.
//
// Positions are pointers into the text; null stands for a text that ends too early.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sluice::json {

inline constexpr ptrdiff_t kSkimBytes = 16;

// Which of the sixteen bytes at `at` end a run inside a string, a bit for each: quotes and
// backslashes.
inline uint32_t StringMarks(const char* at) {
#ifdef __SSE2__
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  return static_cast<uint32_t>(_mm_movemask_epi8(marks));
#else
  uint32_t marks = 0;
  for (unsigned i = 0; i < kSkimBytes; ++i) marks |= (at[i] == '"' || at[i] == '\\') << i;
  return marks;
#endif
}

// The same outside of strings: the bytes that end a number or a word. Opening brackets are left
// out, because JSON has none there.
inline uint32_t WordMarks(const char* at) {
#ifdef __SSE2__
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // ']' to '}'
  const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(',')),
                                    _mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  const __m128i spaces = _mm_cmplt_epi8(bytes, _mm_set1_epi8('!'));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(ends, spaces)));
#else
  uint32_t marks = 0;
  for (unsigned i = 0; i < kSkimBytes; ++i) {
    marks |= (at[i] == ',' || (at[i] | 0x20) == '}' || static_cast<signed char>(at[i]) < '!') << i;
  }
  return marks;
#endif
}

inline const char* SkimSpace(const char* at, const char* end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

// The position after the string whose first quote is at `at`. Sets `*escaped` if it has a
// backslash.
inline const char* SkimString(const char* at, const char* end, bool* escaped) {
  ++at;
  while (end - at >= kSkimBytes) {
    const uint32_t marks = StringMarks(at);
    if (marks == 0) {
      at += kSkimBytes;
      continue;
    }
    at += std::countr_zero(marks);
    if (*at == '"') return at + 1;
    *escaped = true;
    at += 2;
  }
  while (at < end) {
    if (*at == '"') return at + 1;
    *escaped |= *at == '\\';
    at += *at == '\\' ? 2 : 1;
  }
  return nullptr;
}

// The position after the array or object that starts at `at`. Brackets are counted, not matched.
const char* SkimBrackets(const char* at, const char* end);

// The position after the number or word that starts at `at`.
inline const char* SkimWord(const char* at, const char* end) {
  const char* const start = at;
  while (end - at >= kSkimBytes) {
    const uint32_t marks = WordMarks(at);
    at += marks == 0 ? kSkimBytes : std::countr_zero(marks);
    if (marks != 0) return at > start ? at : nullptr;
  }
  while (at < end && *at != ',' && (*at | 0x20) != '}' && static_cast<signed char>(*at) >= '!')
    ++at;
  return at > start ? at : nullptr;
}

// The position after the value that starts at `at`, which is before `end`.
inline const char* SkimValue(const char* at, const char* end) {
  if (*at == '"') {
    bool escaped = false;
    return SkimString(at, end, &escaped);
  }
  if (*at == '{' || *at == '[') return SkimBrackets(at, end);
  return SkimWord(at, end);
}

}  // namespace sluice::json
