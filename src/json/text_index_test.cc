#include "json/text_index.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::json {
namespace {

TEST(TextIndex, DividesIntoTokens) {
  const std::string text = R"( {"a\"]" : [1.5, true],"b":{}} )";
  const TextIndex index(text);
  ASSERT_TRUE(index.ok());
  std::string starts;
  for (size_t i = 0; i < index.size(); ++i) starts += index.At(i);
  EXPECT_EQ(starts, R"({":[1,t],":{}})");
  EXPECT_EQ(index.Inside(1), R"(a\"])");
  EXPECT_EQ(index.Skip(0), index.size());
  EXPECT_EQ(index.Skip(3), 8u);
  EXPECT_EQ(text.substr(index.Position(3), index.EndOf(3, 8) - index.Position(3)), "[1.5, true]");
  EXPECT_EQ(text.substr(index.Position(4), index.EndOf(4, 5) - index.Position(4)), "1.5");
  EXPECT_EQ(text.substr(index.Position(1), index.EndOf(1, 2) - index.Position(1)), R"("a\"]")");
  EXPECT_EQ(index.At(index.size()), '\0');
  EXPECT_EQ(index.Position(index.size()), text.size());
}

TEST(TextIndex, SkipStopsAtUnbalancedBrackets) {
  EXPECT_EQ(TextIndex("[[1]").Skip(0), TextIndex::kNoToken);
  EXPECT_EQ(TextIndex("]").Skip(0), TextIndex::kNoToken);
  EXPECT_EQ(TextIndex("1").Skip(1), TextIndex::kNoToken);
}

TEST(TextIndex, RefusesWhatHasNoTokens) {
  for (const char* text : {"", "  ", "\"abc", "\"\xff\"", "\"a\nb\""}) {
    EXPECT_FALSE(TextIndex(text).ok()) << text;
  }
}

TEST(TextIndex, SeveralAtOnceKeepTheirTokens) {
  const TextIndex first("[1,2,3]");
  {
    const TextIndex second("{}");
    EXPECT_EQ(second.size(), 2u);
  }
  const TextIndex third("\"x\"");
  EXPECT_EQ(first.Skip(0), 7u);
  EXPECT_EQ(third.Inside(0), "x");
}

TEST(TextIndex, NeverReadsPastTheText) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  char* end = static_cast<char*>(map) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  for (size_t size = 2; size < 300; ++size) {
    char* text = end - size;
    std::memset(text, '1', size);
    text[0] = '[';
    text[size - 1] = ']';
    const TextIndex index({text, size});
    ASSERT_TRUE(index.ok());
    EXPECT_EQ(index.Skip(0), size == 2 ? 2u : 3u);
  }
  munmap(map, 2 * page);
}

}  // namespace
}  // namespace sluice::json
