// The stamped properties in a document's text: found without making values, changed without
// touching a byte of anything else. Texts are JSON that somebody has validated; nothing outside of
// them is read, whatever they hold.
//
// One thread; the text outlives both classes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/type.h"

namespace sluice::doctype {

// The places of the stamps in one text.
class StampSpans {
 public:
  // type.not_object if the document, or the part of it that holds the properties, is not an object;
  // type.repeated_property.
  static Result<StampSpans> Find(std::string_view document, const Properties& properties);

  // The text of the value; empty if the property is missing.
  std::string_view Raw(Stamp stamp) const {
    const Span& span = spans_[static_cast<size_t>(stamp)];
    return text_.substr(span.value, span.end - span.value);
  }
  // A string's value or a number's literal; nullopt for a missing value or another type.
  std::optional<std::string> Text(Stamp stamp) const;
  // A whole number above 0; else 0.
  uint64_t Count(Stamp stamp) const;

 private:
  friend class StampEdit;
  struct Span {
    size_t name = 0;  // of the quote before the field's name
    size_t value = 0;
    size_t end = 0;  // 0 if there is no such field
  };

  bool ScanObject(size_t at, const Properties& properties);

  std::string_view text_;
  Span spans_[kStamps];
  std::vector<Span> doubles_;  // fields whose name comes again later
  Span holder_;                // of the object with the properties, if that is not the root
  size_t open_ = 0;            // the position after the '{' of their object; 0 if that is missing
  size_t root_ = 0;            // the position after the root's '{'
  bool empty_ = false;         // nothing else is in the object at open_
  bool root_empty_ = false;
};

// Collects changes and makes the new text.
class StampEdit {
 public:
  StampEdit(const Properties& properties, const StampSpans& spans)
      : properties_(properties), spans_(spans) {}

  // `value` is JSON text; an empty text removes the property. Other properties stay unchanged.
  void Set(Stamp stamp, std::string value);
  std::string Apply() const;

 private:
  struct Change {
    size_t begin = 0;
    size_t end = 0;
    std::string text;
  };
  // The text to insert at the front of the object: the properties that it does not have yet.
  std::string Added() const;
  std::string Replaced() const;
  std::string Without(const StampSpans::Span& span) const;
  const StampSpans::Span* FirstRemoval() const;

  const Properties& properties_;
  const StampSpans& spans_;
  std::optional<std::string> values_[kStamps];
};

}  // namespace sluice::doctype
