#include "json/skim.h"

namespace sluice::json {

const char* SkimBrackets(const char* at, const char* end) {
  int64_t depth = 0;
  while (at < end) {
    // The marks of one block; a string ends the block, because what is inside it does not count.
    const bool whole = end - at >= kSkimBytes;
    uint32_t marks = whole ? BracketMarks(at) : 1;
    const char* const block = at;
    at += whole ? kSkimBytes : 1;
    for (; marks != 0; marks &= marks - 1) {
      const char* const mark = block + std::countr_zero(marks);
      if (*mark == '"') {
        bool escaped = false;
        at = SkimString(mark, end, &escaped);
        if (at == nullptr) return nullptr;
        break;
      }
      const char folded = *mark | 0x20;
      if (folded == '{') {
        ++depth;
      } else if (folded == '}' && --depth == 0) {
        return mark + 1;
      }
    }
  }
  return nullptr;
}

}  // namespace sluice::json
