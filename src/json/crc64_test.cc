#include "json/crc64.h"

#include <gtest/gtest.h>

namespace sluice::json {
namespace {

TEST(Crc64, VectorsOfGoIso) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "0000000000000000"},
      {"hello", "3c3eeee2d8100000"},
      {"1", "4320000000000000"},
      {"[1,2,3,4]", "3b8002901291a293"},
      {R"({"my_key":"my_value"})", "756fe1c0128e6be0"},
      {"null", "3eeef9ddb0000000"},
      {"false", "32cc7ee410300000"},
      {"undefined", "fcd0dd899002d36d"},
      {R"("hello")", "5acc3eeee2d84af0"},
      {R"({"a":1,"b":2})", "7559eea588aea293"},
      {R"({"b":2,"a":1})", "da5b3d6a8a7ea291"},
      {"{}", "2441c00000000000"},
      {R"("")", "5aaaf00000000000"},
  };
  for (const auto& [bytes, hex] : cases) EXPECT_EQ(Crc64IsoHex(bytes), hex) << bytes;
}

}  // namespace
}  // namespace sluice::json
