// Keys of revisions: "{key}:v:{version}" makes "user:123:v:1" of the key "user:123" and version 1.
// Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::doctype {

class RevisionKey {
 public:
  static constexpr std::string_view kDefault = "{key}:v:{version}";

  // {key} first and {version} after it, each once, with something between that does not end with a
  // digit; type.bad_pattern.
  static Result<RevisionKey> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string Make(std::string_view key, uint64_t version) const;
  // The common prefix of the keys of a document's revisions. Other keys may have it, too: Read
  // decides.
  std::string Prefix(std::string_view key) const;
  struct Parts {
    std::string_view key;
    uint64_t version = 0;
  };
  // Nothing if `revision` is not the key of a revision.
  std::optional<Parts> Read(std::string_view revision) const;

 private:
  std::string text_;
  std::string before_;   // the key
  std::string between_;  // key and version
  std::string after_;    // the version
};

}  // namespace sluice::doctype
