#include "function/code_error.h"

#include <gtest/gtest.h>

#include "function/source/characters.h"

namespace sluice::function {
namespace {

script::Outcome FailedAt(int line, int column) {
  script::Outcome outcome;
  outcome.ended = script::Ended::kThrew;
  outcome.message = "SyntaxError: no";
  outcome.place.line = line;
  outcome.place.column = column;
  return outcome;
}

std::string Described(const Status& error) {
  const auto& fields = error.fields();
  return error.id() + " | " + error.message() + " | " + fields.at("area") + " " +
         fields.at("line") + ":" + fields.at("column") + " " + fields.at("index");
}

TEST(CodeErrorTest, SaysWhereTheEngineStopped) {
  Definition definition;
  definition.name = "f";
  definition.code = "function OnUpdate() {\n  x\n}";
  PreparedSource source;
  source.first_line = -1;  // two lines of headers
  EXPECT_EQ(Described(CodeError(definition, source, FailedAt(2, 3))),
            "function.compile | f.js:2:3: SyntaxError: no | handlerCode 2:3 24");
  EXPECT_EQ(Described(CodeError(definition, source, FailedAt(0, 5))),
            "function.compile | handler_headers:2:5: SyntaxError: no | handlerHeaders 2:5 0");
  EXPECT_EQ(Described(CodeError(definition, source, FailedAt(4, 1))),
            "function.compile | f.js:4:1: SyntaxError: no | handlerCode 4:1 27")
      << "the text ended too early";
  definition.settings.handler_footers = {"function last() {}"};
  EXPECT_EQ(Described(CodeError(definition, source, FailedAt(4, 1))),
            "function.compile | handler_footers:1:1: SyntaxError: no | handlerFooters 1:1 0");
}

TEST(CodeErrorTest, HasTheFirstPlaceOfAllProblems) {
  Definition definition;
  definition.name = "f";
  definition.code = "var a;\nvar b;";
  const Status problems[] = {
      Error(Code::kInvalidArgument, "function.top_level", "no a").At({"", 1, 1}),
      Error(Code::kInvalidArgument, "function.eval", "no b").At({"", 2, 1})};
  EXPECT_EQ(Described(CodeError(definition, problems)),
            "function.top_level | f.js:1:1: no a\nf.js:2:1: no b | handlerCode 1:1 0");
  const Status footers[] = {Error(Code::kInvalidArgument, "function.eval", "handler_footers: no")};
  EXPECT_EQ(Described(CodeError(definition, footers)),
            "function.eval | handler_footers: no | handlerFooters 0:0 0");
}

TEST(CodeErrorTest, IndexesCountUnitsOfUtf16) {
  const std::string_view text = "a\r\n\xf0\x9f\x98\x80x\rz";
  EXPECT_EQ(UnitsBefore(text, {.line = 1, .column = 2}), 1u);
  EXPECT_EQ(UnitsBefore(text, {.line = 2, .column = 1}), 3u);
  EXPECT_EQ(UnitsBefore(text, {.line = 2, .column = 3}), 5u);
  EXPECT_EQ(UnitsBefore(text, {.line = 3, .column = 1}), 7u);
  EXPECT_EQ(UnitsBefore(text, {.line = 9, .column = 1}), 8u);
}

}  // namespace
}  // namespace sluice::function
