// What a client sends on a stream: JSON objects, each with the "id" of the statement that it is
// about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "json/value.h"

namespace sluice::service {

struct StreamMessage {
  enum class Kind : uint8_t {
    kStatement,  // begins one, and asks for rows
    kNext,
    kClose,
  };
  Kind kind = Kind::kNext;
  std::string id;     // as JSON text
  uint64_t rows = 1;  // how many are asked for, or acknowledged
  // How many rows a statement may be sent before they are acknowledged; 0: none unasked.
  uint64_t ahead = 0;
  json::Value body;  // the whole object
  size_t bytes = 0;  // of its text
};

// Error stream.bad_message.
Result<StreamMessage> ReadStreamMessage(std::string_view text);

// SET name [=] value: the name in lower case and the value without quotes. None when the statement
// is another one, SET TRANSACTION ISOLATION LEVEL among them.
std::optional<std::pair<std::string, std::string>> ReadSetStatement(std::string_view statement);

}  // namespace sluice::service
