// Keys made from documents, in the style of cbimport:
//
//   user::%id%             the field `id` of the document
//   %type%_%address.zip%   fields of fields
//   #UUID#                 a random UUID
//   #MONO_INCR#            1, 2, 3, ...;  #MONO_INCR[100]# starts at 100
//   %% and ##              the characters themselves
//
// A field must be a string, a number or a boolean. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::cli {

class KeyTemplate {
 public:
  // import.bad_key_template says which character is wrong.
  static Result<KeyTemplate> Parse(std::string_view text);

  // The key of the next document. import.no_key if a field is missing or has another type.
  Result<std::string> Make(const json::Value& document);

 private:
  struct Part {
    enum class Kind : uint8_t { kText, kField, kUuid, kCounter };
    Kind kind = Kind::kText;
    std::string text;                // kText; kField: as written
    std::vector<std::string> names;  // kField
    uint64_t next = 1;               // kCounter
  };

  static Result<Part> ParseField(std::string_view name, std::string_view text);
  static Result<Part> ParseGenerator(std::string_view name, std::string_view text);

  std::vector<Part> parts_;
};

}  // namespace sluice::cli
