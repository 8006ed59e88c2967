#include "cli/output.h"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "json/parse.h"

namespace sluice::cli {
namespace {

TEST(Output, TablesAlign) {
  std::ostringstream out, err;
  Output output(out, err);
  output.Rows(json::Parse(R"([{"a":"x","n":1},{"a":"längst","b":[1]}])").value(),
              {{"NAME", "a"}, {"NUMBER", "n"}, {"LIST", "b"}});
  EXPECT_EQ(out.str(),
            "NAME    NUMBER  LIST\n"
            "x       1\n"
            "längst          [1]\n");
}

TEST(Output, ObjectsAreLines) {
  std::ostringstream out, err;
  Output output(out, err);
  output.Object(json::Parse(R"({"key":"a","expiry":null})").value());
  EXPECT_EQ(out.str(), "key     a\nexpiry  null\n");
}

TEST(Output, DataCantDriveTheTerminal) {
  EXPECT_EQ(CellText(json::Value("a\x1b[31m\tb\x7f")), "a\\x1b[31m\\x09b\\x7f");
  EXPECT_EQ(CellText(json::Value("ä")), "ä");
}

TEST(Output, QuietDropsNotesAndKeepsProblems) {
  std::ostringstream out, err;
  Output output(out, err);
  output.set_quiet(true);
  output.Note("hello");
  output.Problem(Error(Code::kNotFound, "x.y", "gone").At({"f", 2, 3}));
  EXPECT_EQ(err.str(), "error: f:2:3: gone (x.y)\n");
  EXPECT_EQ(out.str(), "");
}

TEST(ExitCodes, FollowTheCode) {
  const auto code = [](Code code) {
    return static_cast<int>(ExitCodeOf(Error(code, "x.y", "text")));
  };
  EXPECT_EQ(static_cast<int>(ExitCodeOf(OkStatus())), 0);
  EXPECT_EQ(code(Code::kInternal), 1);
  EXPECT_EQ(code(Code::kNotFound), 3);
  EXPECT_EQ(code(Code::kAlreadyExists), 4);
  EXPECT_EQ(code(Code::kForbidden), 5);
  EXPECT_EQ(code(Code::kUnavailable), 6);
  EXPECT_EQ(code(Code::kInvalidArgument), 7);
  EXPECT_EQ(code(Code::kNoSpace), 8);
  EXPECT_EQ(code(Code::kCorruption), 9);
  EXPECT_EQ(static_cast<int>(ExitCodeOf(Error(Code::kInvalidArgument, "cli.usage", "t"))), 2);
  EXPECT_EQ(static_cast<int>(ExitCodeOf(Error(Code::kInvalidArgument, "import.incomplete", "t"))),
            10);
}

}  // namespace
}  // namespace sluice::cli
