#include "cli/text_width.h"

#include <algorithm>
#include <cstdint>

namespace sluice::cli {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Blocks as Unicode's EastAsianWidth has them: W and F.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
// Combining marks, joiners and variation selectors.
constexpr Range kZero[] = {{0x0300, 0x036F}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                           {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                           {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                           {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}};

template <size_t n>
bool In(const Range (&ranges)[n], uint32_t c) {
  return std::ranges::any_of(ranges, [&](Range r) { return c >= r.first && c <= r.last; });
}

// Takes one character off the front; a byte that begins none counts as one.
uint32_t NextCharacter(std::string_view* text) {
  const auto first = static_cast<unsigned char>((*text)[0]);
  size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  length = std::min(length, text->size());
  uint32_t c = length == 1 ? first : first & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) c = c << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3F);
  text->remove_prefix(length);
  return c;
}

size_t CharacterWidth(uint32_t c) { return In(kZero, c) ? 0 : In(kWide, c) ? 2 : 1; }

}  // namespace

size_t TextWidth(std::string_view utf8) {
  size_t width = 0;
  while (!utf8.empty()) width += CharacterWidth(NextCharacter(&utf8));
  return width;
}

std::string CutToWidth(std::string_view utf8, size_t width) {
  if (TextWidth(utf8) <= width) return std::string(utf8);
  std::string_view rest = utf8;
  size_t kept = 0;
  size_t used = 0;
  while (!rest.empty()) {
    used += CharacterWidth(NextCharacter(&rest));
    if (used + 1 > width) break;
    kept = utf8.size() - rest.size();
  }
  return std::string(utf8.substr(0, kept)) + "…";
}

}  // namespace sluice::cli
