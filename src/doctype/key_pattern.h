// Patterns of document keys: "user:{userId}", "order:{customer}:{number}".
//
// A variable stands for one or more characters, none of them a delimiter: a character other than a
// letter or a digit beside a variable in the pattern. So "user:{id}" has the key "user:7" and not
// the key "user:7:v:1". The text after a variable begins with a delimiter, so a key can be read in
// only one way. {{ and }} stand for the braces themselves. A KeyPattern is immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/path.h"
#include "json/value.h"

namespace sluice::doctype {

class KeyPattern {
 public:
  static constexpr size_t kMaxBytes = 512;
  static constexpr size_t kMaxVariables = 16;

  // type.bad_pattern says which character is wrong, from 1.
  static Result<KeyPattern> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  bool Matches(std::string_view key) const { return Read(key, nullptr); }
  // The variables' names and values in the order of the pattern; nothing if the key does not match.
  using Bindings = std::vector<std::pair<std::string_view, std::string_view>>;
  std::optional<Bindings> Extract(std::string_view key) const;
  // The key of a document that has the variables as properties (paths): strings, whole numbers or
  // booleans. type.no_key if one is missing or can't be part of a key.
  Result<std::string> Build(const json::Value& document) const;

  // Whether both have the same keys: they differ at most in the names of variables.
  bool SameKeys(const KeyPattern& other) const {
    return literals_ == other.literals_ && delimiters_ == other.delimiters_;
  }
  // The prefix of every key.
  std::string_view prefix() const { return literals_.front(); }
  const std::string& delimiters() const { return delimiters_; }
  const std::vector<std::string>& variables() const { return variables_; }

 private:
  bool Read(std::string_view key, Bindings* bindings) const;
  bool IsDelimiter(char c) const { return delimiters_.find(c) != std::string::npos; }
  Status FindDelimiters();

  std::string text_;
  // literals_[0] variables_[0] literals_[1] ... : one more literal than variables.
  std::vector<std::string> literals_ = {""};
  std::vector<std::string> variables_;
  std::vector<json::Path> paths_;  // of the variables
  std::string delimiters_;
};

}  // namespace sluice::doctype
