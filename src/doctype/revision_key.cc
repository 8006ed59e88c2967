#include "doctype/revision_key.h"

#include <charconv>

namespace sluice::doctype {

Result<RevisionKey> RevisionKey::Parse(std::string_view text) {
  constexpr std::string_view kKey = "{key}";
  constexpr std::string_view kVersion = "{version}";
  const auto bad = [text](std::string_view message) {
    return Fail(Code::kInvalidArgument, "type.bad_pattern", "revision key '{}': {}", text, message);
  };
  const size_t key = text.find(kKey);
  const size_t version = text.find(kVersion);
  if (key == std::string_view::npos || version == std::string_view::npos || version < key) {
    return bad("expected {key} and after it {version}");
  }
  RevisionKey made;
  made.text_ = text;
  made.before_ = text.substr(0, key);
  made.between_ = text.substr(key + kKey.size(), version - key - kKey.size());
  made.after_ = text.substr(version + kVersion.size());
  if ((made.before_ + made.between_ + made.after_).find_first_of("{}") != std::string::npos) {
    return bad("expected nothing else in braces, and both once");
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (made.between_.empty() || is_digit(made.between_.back())) {
    return bad("expected a delimiter between {key} and {version}");
  }
  if (!made.after_.empty() && is_digit(made.after_.front())) {
    return bad("a digit can't follow {version}");
  }
  return made;
}

std::string RevisionKey::Prefix(std::string_view key) const {
  return fmt::format("{}{}{}", before_, key, between_);
}

std::string RevisionKey::Make(std::string_view key, uint64_t version) const {
  return fmt::format("{}{}{}{}{}", before_, key, between_, version, after_);
}

std::optional<RevisionKey::Parts> RevisionKey::Read(std::string_view revision) const {
  if (!revision.starts_with(before_) || !revision.ends_with(after_) ||
      revision.size() < before_.size() + after_.size()) {
    return std::nullopt;
  }
  revision.remove_prefix(before_.size());
  revision.remove_suffix(after_.size());
  size_t digits = 0;
  while (digits < revision.size() && revision[revision.size() - 1 - digits] >= '0' &&
         revision[revision.size() - 1 - digits] <= '9') {
    ++digits;
  }
  const std::string_view number = revision.substr(revision.size() - digits);
  Parts parts;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), parts.version);
  if (error != std::errc() || number.front() == '0') return std::nullopt;
  parts.key = revision.substr(0, revision.size() - digits);
  if (!parts.key.ends_with(between_)) return std::nullopt;
  parts.key.remove_suffix(between_.size());
  if (parts.key.empty()) return std::nullopt;
  return parts;
}

}  // namespace sluice::doctype
