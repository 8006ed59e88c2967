#include "json/simd.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <simdjson.h>

#include "json/text.h"
#include "json/text_index.h"
#include "json/value.h"

namespace sluice::json {
namespace {

// Memory that a larger document needed is given back after it.
constexpr size_t kKeptBytes = 1 << 20;

constexpr std::array<int8_t, 256> MakeDepthChange() {
  std::array<int8_t, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  return change;
}
constexpr std::array<int8_t, 256> kDepthChange = MakeDepthChange();

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

size_t RoomFor(size_t size) { return std::max(std::min(size * 2, kKeptBytes), size); }

// simdjson's parser reads up to SIMDJSON_PADDING bytes past the end, so the text is copied: some 20
// ns per KB, and reading past a caller's buffer is not ours to do.
struct ThreadParser {
  bool Accepts(std::string_view text) {
    if (text.size() > capacity && !Reserve(RoomFor(text.size()))) return false;
    std::memcpy(buffer.get(), text.data(), text.size());
    std::memset(buffer.get() + text.size(), ' ', simdjson::SIMDJSON_PADDING);
    const bool accepted = !parser.parse(buffer.get(), text.size(), false).error();
    if (capacity > kKeptBytes) *this = ThreadParser();
    return accepted;
  }

  bool Reserve(size_t size) {
    if (parser.allocate(size, kMaxDepth) != simdjson::SUCCESS) return false;
    buffer = std::make_unique_for_overwrite<char[]>(size + simdjson::SIMDJSON_PADDING);
    capacity = size;
    return true;
  }

  simdjson::dom::parser parser;
  std::unique_ptr<char[]> buffer;
  size_t capacity = 0;
};

}  // namespace

bool SimdAccepts(std::string_view text) {
  static thread_local ThreadParser parser;
  return !text.empty() && parser.Accepts(text);
}

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

struct TextIndex::Memory {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;

  bool Reserve(size_t size) {
    if (stage != nullptr && stage->capacity() >= size) return true;
    return simdjson::get_active_implementation()->create_dom_parser_implementation(
               RoomFor(size), kMaxDepth, stage) == simdjson::SUCCESS;
  }
};

namespace {
// Memory that no TextIndex of this thread uses now.
thread_local std::unique_ptr<TextIndex::Memory> spare_memory;
}  // namespace

// Only simdjson's first stage, which divides the text into tokens. It reads no further than the end
// of the text: the last block is copied first.
TextIndex::TextIndex(std::string_view text) : text_(text), memory_(std::move(spare_memory)) {
  if (memory_ == nullptr) memory_ = std::make_unique<Memory>();
  if (text.empty() || !memory_->Reserve(text.size())) return;
  auto& stage = *memory_->stage;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  if (stage.stage1(bytes, text.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) return;
  positions_ = stage.structural_indexes.get();
  size_ = stage.n_structural_indexes;
  ok_ = size_ > 0;
}

TextIndex::~TextIndex() {
  const bool keep = memory_->stage != nullptr && memory_->stage->capacity() <= kKeptBytes;
  if (keep) spare_memory = std::move(memory_);
}

// By table and not by branches: brackets come at random, and mistaken branches would cost most.
size_t TextIndex::SkipBrackets(size_t token) const {
  int64_t depth = 0;
  while (token < size_) {
    depth += kDepthChange[static_cast<unsigned char>(text_[positions_[token++]])];
    if (depth <= 0) return depth == 0 ? token : kNoToken;
  }
  return kNoToken;
}

size_t TextIndex::EndOf(size_t token, size_t next) const {
  const char c = At(token);
  if (c == '{' || c == '[') return Position(next - 1) + 1;
  // Only white space is between a scalar and the next token.
  const size_t start = Position(token);
  size_t end = Position(token + 1);
  while (end > start && IsSpace(text_[end - 1])) --end;
  return end;
}

}  // namespace sluice::json
