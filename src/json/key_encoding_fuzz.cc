// Any bytes: reading them as key parts never fails badly, and what they hold encodes to bytes that
// read back equal and order as the values do.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/compare.h"
#include "json/key_encoding.h"

namespace sluice::json {
namespace {

std::string Encoded(const Value& value, Direction direction) {
  std::string key;
  CHECK(AppendKeyPart(value, direction, &key).ok());
  return key;
}

void Run(std::string_view bytes) {
  for (const Direction direction : {Direction::kAscending, Direction::kDescending}) {
    std::string_view rest = bytes;
    Value previous;
    while (!rest.empty()) {
      const auto value = TakeKeyPart(&rest, direction);
      if (!value) break;
      const std::string key = Encoded(*value, direction);
      std::string_view read = key;
      const auto again = TakeKeyPart(&read, direction);
      CHECK(again.has_value() && read.empty());
      CHECK(*again == *value);
      const auto order = key.compare(Encoded(previous, direction)) <=> 0;
      const auto expected = Compare(*value, previous);
      CHECK(order == (direction == Direction::kAscending ? expected : 0 <=> expected));
      previous = *value;
    }
  }
}

}  // namespace
}  // namespace sluice::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::json::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
