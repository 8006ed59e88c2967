#include "doctype/document_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "json/print.h"
#include "json/skim.h"
#include "json/text.h"

namespace sluice::doctype {
namespace {

bool NameIs(std::string_view inside, bool escaped, std::string_view name) {
  return escaped ? json::InsideEquals(inside, name) : inside == name;
}

// One of 64 for each length; 0 for an empty name, which stands for none.
uint64_t LengthBit(std::string_view name) {
  return name.empty() ? 0 : uint64_t{1} << (name.size() % 64);
}

Status NotObject(std::string_view what) {
  return Error(Code::kInvalidArgument, "type.not_object",
               "{}: expected an object, as this document type has", what);
}

// Names of stamped properties that may be there once more; JSON lets the last one count.
constexpr size_t kMostDoubles = 16;

Status TooManyDoubles() {
  return Error(Code::kInvalidArgument, "type.repeated_property",
               "the document repeats a property of its type more than {} times", kMostDoubles);
}

// Walks the fields of the object whose '{' is at `at`; `visit(inside, escaped, name, value, end)`.
template <typename Visit>
bool ForEachField(std::string_view text, size_t at, const Visit& visit) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* cursor = json::SkimSpace(begin + at + 1, end);
  while (cursor < end && *cursor == '"') {
    const char* const name = cursor;
    bool escaped = false;
    cursor = json::SkimString(name, end, &escaped);
    if (cursor == nullptr) return false;
    const std::string_view inside(name + 1, static_cast<size_t>(cursor - name - 2));
    cursor = json::SkimSpace(cursor, end);
    if (cursor == end || *cursor != ':') return false;
    const char* const value = json::SkimSpace(cursor + 1, end);
    if (value == end) return false;
    cursor = json::SkimValue(value, end);
    if (cursor == nullptr) return false;
    visit(inside, escaped, static_cast<size_t>(name - begin), static_cast<size_t>(value - begin),
          static_cast<size_t>(cursor - begin));
    cursor = json::SkimSpace(cursor, end);
    if (cursor < end && *cursor == ',') cursor = json::SkimSpace(cursor + 1, end);
  }
  return cursor < end && *cursor == '}';
}

}  // namespace

bool StampSpans::ScanObject(size_t at, const Properties& properties) {
  open_ = at + 1;
  size_t fields = 0;
  // Most names of a document differ from all of ours in their length.
  uint64_t lengths = 0;
  for (const std::string& name : properties.names) lengths |= LengthBit(name);
  const bool ok = ForEachField(
      text_, at, [&](std::string_view inside, bool escaped, size_t name, size_t value, size_t end) {
        ++fields;
        if (!escaped && (lengths & LengthBit(inside)) == 0) return;
        for (size_t i = 0; i < kStamps; ++i) {
          if (properties.names[i].empty() || !NameIs(inside, escaped, properties.names[i]))
            continue;
          if (spans_[i].end != 0) doubles_.push_back(spans_[i]);
          spans_[i] = {name, value, end};
        }
      });
  empty_ = fields == 0;
  return ok;
}

Result<StampSpans> StampSpans::Find(std::string_view document, const Properties& properties) {
  StampSpans spans;
  spans.text_ = document;
  const size_t root = json::SkipSpace(document, 0);
  if (root >= document.size() || document[root] != '{') return Unexpected(NotObject("document"));
  spans.root_ = root + 1;
  if (properties.object.empty()) {
    if (!spans.ScanObject(root, properties)) return Unexpected(NotObject("document"));
    spans.root_empty_ = spans.empty_;
    if (spans.doubles_.size() > kMostDoubles) return Unexpected(TooManyDoubles());
    return spans;
  }
  size_t fields = 0;
  const bool ok = ForEachField(
      document, root,
      [&](std::string_view inside, bool escaped, size_t name, size_t value, size_t end) {
        ++fields;
        if (!NameIs(inside, escaped, properties.object)) return;
        if (spans.holder_.end != 0) spans.doubles_.push_back(spans.holder_);
        spans.holder_ = {name, value, end};
      });
  spans.root_empty_ = fields == 0;
  if (spans.doubles_.size() > kMostDoubles) return Unexpected(TooManyDoubles());
  if (!ok) return Unexpected(NotObject("document"));
  if (spans.holder_.end == 0) return spans;
  if (document[spans.holder_.value] != '{' || !spans.ScanObject(spans.holder_.value, properties)) {
    return Unexpected(NotObject(properties.object));
  }
  if (spans.doubles_.size() > kMostDoubles) return Unexpected(TooManyDoubles());
  return spans;
}

std::optional<std::string> StampSpans::Text(Stamp stamp) const {
  const std::string_view raw = Raw(stamp);
  if (raw.empty()) return std::nullopt;
  if (raw.front() == '"') {
    std::string text;
    if (json::Unescape(raw.substr(1, raw.size() - 2), &text) != json::kNoPosition) {
      return std::nullopt;
    }
    return text;
  }
  const bool number = raw.front() == '-' || (raw.front() >= '0' && raw.front() <= '9');
  return number ? std::optional<std::string>(raw) : std::nullopt;
}

uint64_t StampSpans::Count(Stamp stamp) const {
  const std::string_view raw = Raw(stamp);
  uint64_t count = 0;
  const auto [rest, error] = std::from_chars(raw.data(), raw.data() + raw.size(), count);
  constexpr uint64_t kMost = uint64_t{1} << 53;
  const bool whole = error == std::errc() && rest == raw.data() + raw.size();
  return whole && count <= kMost ? count : 0;
}

void StampEdit::Set(Stamp stamp, std::string value) {
  if (properties_.uses(stamp)) values_[static_cast<size_t>(stamp)] = std::move(value);
}

std::string StampEdit::Added() const {
  std::string added;
  for (size_t i = 0; i < kStamps; ++i) {
    if (!values_[i] || values_[i]->empty() || spans_.spans_[i].end != 0) continue;
    if (!added.empty()) added += ',';
    json::AppendQuoted(properties_.names[i], &added);
    added.append(":").append(*values_[i]);
  }
  return added;
}

// A field goes with the comma before it, or, if it is the first one, with the one after it.
std::string StampEdit::Without(const StampSpans::Span& span) const {
  const std::string_view text = spans_.text_;
  size_t begin = span.name;
  while (begin > 0 && text[begin - 1] != ',' && text[begin - 1] != '{') --begin;
  size_t end = span.end;
  if (begin > 0 && text[begin - 1] == ',') {
    --begin;
  } else {
    const size_t next = json::SkipSpace(text, span.end);
    if (next < text.size() && text[next] == ',') end = next + 1;
  }
  return std::string(text.substr(0, begin)).append(text.substr(end));
}

const StampSpans::Span* StampEdit::FirstRemoval() const {
  if (!spans_.doubles_.empty()) return &spans_.doubles_.front();
  for (size_t i = 0; i < kStamps; ++i) {
    if (values_[i] && values_[i]->empty() && spans_.spans_[i].end != 0) return &spans_.spans_[i];
  }
  return nullptr;
}

// Removals are rare, and few (kMostDoubles): each one by itself, then the text is looked at again.
std::string StampEdit::Apply() const {
  const StampSpans::Span* const removed = FirstRemoval();
  if (removed == nullptr) return Replaced();
  const std::string shorter = Without(*removed);
  const Result<StampSpans> spans = StampSpans::Find(shorter, properties_);
  CHECK(spans.has_value());  // a field less
  StampEdit rest(properties_, *spans);
  for (size_t i = 0; i < kStamps; ++i) rest.values_[i] = values_[i];
  return rest.Apply();
}

std::string StampEdit::Replaced() const {
  std::vector<Change> changes;
  for (size_t i = 0; i < kStamps; ++i) {
    const StampSpans::Span& span = spans_.spans_[i];
    if (values_[i] && span.end != 0) changes.push_back({span.value, span.end, *values_[i]});
  }
  std::string added = Added();
  if (!added.empty() && spans_.open_ != 0) {
    if (!spans_.empty_) added += ',';
    changes.push_back({spans_.open_, spans_.open_, std::move(added)});
  } else if (!added.empty()) {
    std::string holder;
    json::AppendQuoted(properties_.object, &holder);
    holder.append(":{").append(added).append(spans_.root_empty_ ? "}" : "},");
    changes.push_back({spans_.root_, spans_.root_, std::move(holder)});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.begin < b.begin; });
  std::string out;
  out.reserve(spans_.text_.size() + 256);
  size_t at = 0;
  for (const Change& change : changes) {
    out.append(spans_.text_.substr(at, change.begin - at)).append(change.text);
    at = change.end;
  }
  return out.append(spans_.text_.substr(at));
}

}  // namespace sluice::doctype
