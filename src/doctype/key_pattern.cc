#include "doctype/key_pattern.h"

#include <algorithm>

#include "json/print.h"

namespace sluice::doctype {
namespace {

Status BadPattern(std::string_view text, size_t at, std::string_view message) {
  return Error(Code::kInvalidArgument, "type.bad_pattern", "key pattern '{}', character {}: {}",
               text, at + 1, message);
}

bool IsWordByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

Result<KeyPattern> KeyPattern::Parse(std::string_view text) {
  KeyPattern pattern;
  pattern.text_ = text;
  if (text.empty() || text.size() > kMaxBytes) {
    return Unexpected(BadPattern(text.substr(0, 40), 0,
                                 fmt::format("a pattern has 1 to {} characters", kMaxBytes)));
  }
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool doubled = at + 1 < text.size() && text[at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      pattern.literals_.back() += c;
      ++at;
    } else if (c == '}') {
      return Unexpected(BadPattern(text, at, "'}' without '{' (a brace itself is '}}')"));
    } else if (c == '{') {
      const size_t end = text.find('}', at);
      if (end == std::string_view::npos) return Unexpected(BadPattern(text, at, "'{' has no '}'"));
      const std::string name(text.substr(at + 1, end - at - 1));
      const auto path = json::Path::Parse(name);
      if (name.empty() || !path) {
        return Unexpected(BadPattern(text, at, "expected a property's name in braces"));
      }
      if (std::ranges::count(pattern.variables_, name) > 0) {
        return Unexpected(BadPattern(text, at, fmt::format("{{{}}} appears twice", name)));
      }
      if (!pattern.variables_.empty() && pattern.literals_.back().empty()) {
        return Unexpected(BadPattern(text, at, "two variables need a delimiter between them"));
      }
      pattern.variables_.push_back(name);
      pattern.paths_.push_back(*path);
      pattern.literals_.emplace_back();
      at = end;
    } else {
      pattern.literals_.back() += c;
    }
  }
  if (pattern.variables_.size() > kMaxVariables) {
    return Unexpected(BadPattern(text, 0, "too many variables"));
  }
  RETURN_IF_ERROR(pattern.FindDelimiters());
  return pattern;
}

Status KeyPattern::FindDelimiters() {
  const auto add = [this](char c) {
    if (!IsWordByte(c) && !IsDelimiter(c)) delimiters_ += c;
  };
  for (size_t i = 0; i < variables_.size(); ++i) {
    const std::string& before = literals_[i];
    const std::string& after = literals_[i + 1];
    if (!before.empty()) add(before.back());
    if (after.empty()) continue;
    add(after.front());
    if (IsWordByte(after.front())) {
      return BadPattern(text_, 0,
                        fmt::format("'{}' follows {{{}}}: a delimiter must", after, variables_[i]));
    }
  }
  return OkStatus();
}

bool KeyPattern::Read(std::string_view key, Bindings* bindings) const {
  if (!key.starts_with(literals_.front())) return false;
  key.remove_prefix(literals_.front().size());
  for (size_t i = 0; i < variables_.size(); ++i) {
    size_t size = 0;
    while (size < key.size() && !IsDelimiter(key[size])) ++size;
    if (size == 0) return false;
    if (bindings != nullptr) bindings->emplace_back(variables_[i], key.substr(0, size));
    key.remove_prefix(size);
    if (!key.starts_with(literals_[i + 1])) return false;
    key.remove_prefix(literals_[i + 1].size());
  }
  return key.empty();
}

std::optional<KeyPattern::Bindings> KeyPattern::Extract(std::string_view key) const {
  Bindings bindings;
  if (!Read(key, &bindings)) return std::nullopt;
  return bindings;
}

Result<std::string> KeyPattern::Build(const json::Value& document) const {
  std::string key = literals_.front();
  for (size_t i = 0; i < variables_.size(); ++i) {
    const json::Value& value = paths_[i].Get(document);
    std::string part;
    if (value.is_string()) {
      part = value.AsString();
    } else if (value.is_int() || value.is_bool()) {
      part = json::ToText(value);
    } else {
      return Fail(Code::kInvalidArgument, "type.no_key",
                  "key pattern '{}': expected a string or a whole number at '{}', found {}", text_,
                  variables_[i], json::TypeName(value.type()));
    }
    if (part.empty() || std::ranges::any_of(part, [this](char c) { return IsDelimiter(c); })) {
      return Fail(Code::kInvalidArgument, "type.no_key",
                  "key pattern '{}': '{}' is '{}', which is empty or holds a delimiter", text_,
                  variables_[i], part);
    }
    key.append(part).append(literals_[i + 1]);
  }
  return key;
}

}  // namespace sluice::doctype
