#include "cli/record_reader.h"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "number:text", "number!id", and at the end "!id: message" when reading failed.
std::vector<std::string> ReadAll(const std::string& input, RecordFormat format,
                                 size_t max_bytes = 1 << 20) {
  std::istringstream in(input);
  RecordReader reader(in, format, max_bytes);
  std::vector<std::string> all;
  Record record;
  while (true) {
    const auto more = reader.Next(&record);
    if (!more) {
      all.push_back("!" + more.error().id() + ": " + more.error().message());
      return all;
    }
    if (!*more) return all;
    all.push_back(record.problem.ok() ? fmt::format("{}:{}", record.number, record.text)
                                      : fmt::format("{}!{}", record.number, record.problem.id()));
  }
}

TEST(RecordReader, Lines) {
  EXPECT_THAT(ReadAll("{\"a\":1}\r\n\n  \n{\"b\":2}", RecordFormat::kLines),
              ElementsAre("1:{\"a\":1}", "4:{\"b\":2}"));
  EXPECT_THAT(ReadAll("\xEF\xBB\xBF{}\n", RecordFormat::kLines), ElementsAre("1:{}"));
  EXPECT_THAT(ReadAll("", RecordFormat::kLines), IsEmpty());
}

TEST(RecordReader, LongLinesAcrossBuffers) {
  const std::string line(700'000, 'x');
  const auto all = ReadAll(line + "\n" + line, RecordFormat::kLines);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], "1:" + line);
  EXPECT_EQ(all[1], "2:" + line);
}

TEST(RecordReader, ALineThatIsTooLongIsReportedAndSkipped) {
  EXPECT_THAT(ReadAll("12345\n123456\n1\n", RecordFormat::kLines, 5),
              ElementsAre("1:12345", "2!import.record_too_large", "3:1"));
}

TEST(RecordReader, Lists) {
  EXPECT_THAT(ReadAll("[]", RecordFormat::kList), IsEmpty());
  EXPECT_THAT(ReadAll(" [ {\"a\":[1,2]} , 3,\n\"x,]\\\"\" ]\n", RecordFormat::kList),
              ElementsAre("1:{\"a\":[1,2]} ", "2:3", "3:\"x,]\\\"\" "));
  EXPECT_THAT(ReadAll("[{\n\"a\": 1\n}]", RecordFormat::kList), ElementsAre("1:{ \"a\": 1 }"));
}

TEST(RecordReader, AListElementThatIsTooLongIsReportedAndSkipped) {
  EXPECT_THAT(
      ReadAll("[1234,\"123456\",{\"a\":[12]},2]", RecordFormat::kList, 5),
      ElementsAre("1:1234", "2!import.record_too_large", "3!import.record_too_large", "4:2"));
}

TEST(RecordReader, BrokenLists) {
  EXPECT_THAT(ReadAll("{\"a\":1}", RecordFormat::kList),
              ElementsAre("!import.bad_list: expected a JSON array that begins with '[', found "
                          "'{'; is it one document per line (--format lines)?"));
  EXPECT_THAT(ReadAll("[1 2]", RecordFormat::kList), ElementsAre("1:1 2"));  // the parser's problem
  EXPECT_THAT(ReadAll("[1,", RecordFormat::kList),
              ElementsAre("1:1",
                          "!import.bad_list: expected ',' or ']' after element 2, found the "
                          "end of the input"));
  EXPECT_THAT(ReadAll("[,1]", RecordFormat::kList),
              ElementsAre("!import.bad_list: expected an element after element 1, found ','"));
  EXPECT_THAT(ReadAll("[1] x", RecordFormat::kList),
              ElementsAre("1:1", "!import.bad_list: expected nothing after element 1, found 'x'"));
  EXPECT_THAT(ReadAll("[\"abc", RecordFormat::kList),
              ElementsAre("!import.bad_list: expected the end of a string after element 1, found "
                          "the end of the input"));
}

TEST(RecordReader, DeepNestingTakesNoStack) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  const auto all = ReadAll("[" + deep + "]", RecordFormat::kList);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size(), deep.size() + 2);
}

}  // namespace
}  // namespace sluice::cli
