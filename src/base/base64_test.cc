#include "base/base64.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Base64, RoundTrip) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
      {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xfe", "+//+"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(ToBase64(bytes), text);
    EXPECT_EQ(FromBase64(text), bytes);
  }
}

TEST(Base64, RefusesOtherText) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "Zh==", "Zm9=", "Zm 8", "Zg==Zg==", "Zm-_"}) {
    const auto bytes = FromBase64(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().id(), "base64.invalid");
  }
}

}  // namespace
}  // namespace sluice
