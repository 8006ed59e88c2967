#include <charconv>

#include "doctype/schema/compiler.h"
#include "json/members.h"
#include "json/text.h"

namespace sluice::doctype {
namespace {

// Takes "/step" from the front.
bool TakeStep(std::string_view* pointer, std::string* step) {
  if (pointer->empty() || pointer->front() != '/') return false;
  pointer->remove_prefix(1);
  step->clear();
  while (!pointer->empty() && pointer->front() != '/') {
    if (pointer->starts_with("~1")) {
      *step += '/';
      pointer->remove_prefix(2);
    } else if (pointer->starts_with("~0")) {
      *step += '~';
      pointer->remove_prefix(2);
    } else {
      *step += pointer->front();
      pointer->remove_prefix(1);
    }
  }
  return true;
}

}  // namespace

std::string PointerBelow(const std::string& pointer, std::string_view step) {
  std::string out = pointer + '/';
  for (const char c : step) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

const json::Value* ValueAt(const json::Value& root, std::string_view pointer) {
  const json::Value* at = &root;
  std::string step;
  while (!pointer.empty()) {
    if (!TakeStep(&pointer, &step)) return nullptr;
    if (at->is_object()) {
      at = at->Find(step);
    } else if (at->is_array()) {
      size_t index = 0;
      const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      const bool number = error == std::errc() && end == step.data() + step.size();
      at = number && index < at->size() ? &at->items()[index] : nullptr;
    } else {
      at = nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

Place PlaceAt(std::string_view text, const std::string& file, std::string_view pointer) {
  size_t at = json::SkipSpace(text, 0);
  std::string step;
  while (!pointer.empty() && at < text.size() && TakeStep(&pointer, &step)) {
    if (text[at] != '{' && text[at] != '[') return {file, 0, 0};
    json::Members members(text, at);
    size_t found = text.size();
    size_t index = 0;
    for (json::Member member; members.Next(&member); ++index) {
      const bool fits =
          text[at] == '{' ? json::InsideEquals(member.name, step) : step == std::to_string(index);
      // At the keyword itself rather than at its value.
      if (fits) found = pointer.empty() ? member.start : member.begin;
    }
    at = found;
  }
  if (at >= text.size()) return {file, 0, 0};
  Place place{file, 1, 1};
  for (const char c : text.substr(0, at)) {
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace sluice::doctype
