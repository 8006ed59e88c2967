// Numbers as Comdb2 has them, and what else its dialect adds to Lua.
#include <gtest/gtest.h>

#include "lua/dialect.h"
#include "lua/test_program.h"

namespace sluice::lua {
namespace {

std::string Plain(std::string_view source) {
  const auto dialect = ToPlainLua(source);
  return dialect ? dialect->text : dialect.error().message();
}

TEST(Numbers, LiteralsAreDoubles) {
  EXPECT_EQ(Plain("x = 5 + 0x1F - 2.5 * 1e3 .. .5"), "x = __concat(5.0 + 0x1Fp0 - 2.5 * 1e3 , .5)");
  EXPECT_EQ(Plain("x = 9007199254740993"), "x = 9007199254740993");
  EXPECT_EQ(Plain("for i = 1, #t do f(i) end"), "for i = 1.0, __length(t), 1.0 do f(i) end");
  EXPECT_EQ(Plain("for i = 3, 1, -1 do end"), "for i = 3.0, 1.0, -1.0 do end");
  EXPECT_EQ(Plain("for k, v in pairs{1} do end"), "for k, v in pairs{1.0} do end");
  EXPECT_EQ(Plain("-- 5\nlocal s = '5' --[[6]]"), "-- 5\nlocal s = '5' --[[6]]");
}

TEST(Numbers, ConcatenationsAreCalls) {
  EXPECT_EQ(Plain("return a .. b.c[1 .. 2] .. f(x .. y) == z"),
            "return __concat(a , b.c[__concat(1.0 , 2.0)] , f(__concat(x , y))) == z");
  EXPECT_EQ(Plain("x = not a .. -b ^ 2 and c .. d"),
            "x = __concat(not a , -b ^ 2.0) and __concat(c , d)");
  EXPECT_EQ(Plain("x = #a..#b"), "x = __concat(__length(a),__length(b))");
  EXPECT_EQ(Plain("x = (a .. b):rep(2) .. 'c' y = 1"),
            "x = __concat((__concat(a , b)):rep(2.0) , 'c') y = 1.0");
  EXPECT_EQ(Plain("x = function() return a .. b end z = 'a'\n(f or g)(c .. d)"),
            "x = function() return __concat(a , b) end z = 'a'\n(f or g)(__concat(c , d))");
  EXPECT_EQ(Plain("x := a .. b"), "x = __convert(x, __concat(a , b))");
  EXPECT_EQ(Plain("local x <const> = 5 goto l ::l::"), "local x <const> = 5.0 goto l ::l::");
}

TEST(Numbers, AreWrittenAsInComdb2) {
  EXPECT_EQ(
      Eval("return 'a' .. 5, tostring(5), 10 / 2 .. '', 7 // 2 .. '', 2 ^ 53 .. '', 0.1 .. ''"),
      "a5 5 5 3 9007199254740992 0.1");
  EXPECT_EQ(Eval("return string.format('%s %d %5.1f %x', 5, 5, 5, 255)"), "5 5   5.0 ff");
  EXPECT_EQ(Eval("return table.concat({1, 'a', 2.5}, 0), string.rep(7, 3), (12):len()"),
            "error: test:1: attempt to index a number value");
  EXPECT_EQ(Eval("return table.concat({1, 'a', 2.5}, 0), string.rep(7, 3), string.len(12)"),
            "10a02.5 777 2");
  EXPECT_EQ(Eval("return string.gsub('abc', '%w', {a = 1, b = 2.5})"), "12.5c 3");
  EXPECT_EQ(Eval("return ('x'):gsub('x', 5)"), "5 1");
  EXPECT_EQ(Eval("return nil .. 'a'"), "error: test:1: attempt to concatenate a nil value");
  EXPECT_EQ(Eval("local t = setmetatable({}, {__concat = function(a, b) return 'joined' end}) "
                 "return 1 .. t, t .. 1"),
            "joined joined");
  EXPECT_EQ(Eval("error(5)"), "error: 5");
}

TEST(Numbers, OfTheDatabaseAreIntegers) {
  const Value big(INT64_MAX);
  EXPECT_EQ(Eval("local i = ... return type(i), type(i + 1), type(5), type(#'ab')", {Value(5)}),
            "int number number number");
  const Finished sum = RunText("local function main(i) return i + 1, i end", {big});
  ASSERT_TRUE(sum.ok()) << sum.outcome.message;
  EXPECT_EQ(std::get<Value>(sum.values[0]), Value(9223372036854775808.0));
  EXPECT_EQ(std::get<Value>(sum.values[1]), big);
  EXPECT_EQ(Eval("local i = ... return i .. '', tostring(i), i == 5, i < 5.5, ({10, 20})[i - 4]",
                 {Value(5)}),
            "5 5 true true 10");
  EXPECT_EQ(Eval("local i = ... local s = '' for k = i, 7 do s = s .. k .. type(k) end return s",
                 {Value(5)}),
            "5number6number7number");
  EXPECT_EQ(Eval("declare i 'int' for k = 1, 2 do i := k end return i, type(i), "
                 "string.sub('abc', i, i)"),
            "2 int b");
}

TEST(Numbers, KeysOfTables) {
  EXPECT_EQ(Eval("local s = '' for i, v in ipairs{'a', 'b'} do s = s .. i .. v .. type(i) end "
                 "return s"),
            "1anumber2bnumber");
  EXPECT_EQ(Eval("local t = {'a', 'b', x = 'c'} local n = 0 for k, v in pairs(t) do n = n + 1 "
                 "t[k] = nil end return n, next(t)"),
            "3 nil");
  EXPECT_EQ(Eval("local t = {10, 20} return next(t), next(t, 1), t[1.0], select('#', 1, 2)"),
            "1 2 10 2");
}

TEST(Numbers, ExactOnesAreLuasOwn) {
  const auto program = Program::Compile(
      "p", "local function main() return 5 .. '', 10 / 2 .. '', type(5), #'ab' end",
      Numbers::kExact);
  ASSERT_TRUE(program);
  script::Outcome failed;
  const auto runtime = Runtime::Start({.program = *program}, &failed);
  const Finished finished = runtime->Call({});
  ASSERT_TRUE(finished.ok());
  EXPECT_EQ(std::get<Value>(finished.values[0]), Value("5"));
  EXPECT_EQ(std::get<Value>(finished.values[1]), Value("5.0"));
  EXPECT_EQ(std::get<Value>(finished.values[2]), Value("number"));
  EXPECT_TRUE(std::get<Value>(finished.values[3]).is_int());
}

TEST(Numbers, HostileTextsAreWalkedWithinBounds) {
  for (const std::string_view part : {"(", "{", "[", "- ", "# ", "a .. ", "f(", "do ", "2 ^ ",
                                      "function() ", "if ", "for i = ", ") ", "end "}) {
    std::string text = "local function main() x = ";
    for (int i = 0; i < 20'000; ++i) text += part;
    EXPECT_FALSE(Program::Compile("p", text)) << part;
  }
}

TEST(Dialect, Blobs) {
  EXPECT_EQ(Eval("local b = x'f00D' return type(b), tostring(b), b == X\"f00d\", #x''"),
            "blob f00d true 0");
  EXPECT_EQ(Eval("declare x 'blob' x := x'dbdb' return x == x'dbdb', 'a' .. x'00'"), "true a00");
  EXPECT_EQ(Eval("local function x(s) return s end return x 'ab', x'abc'"), "ab abc");
}

TEST(Dialect, ArgOfLua51) {
  EXPECT_EQ(Eval("return arg.n, arg[2], #arg", {Value(1), Value("b"), Value(3)}), "3 b 3");
  EXPECT_EQ(Eval("local t = {arg = 5} return t.arg"), "5");
  EXPECT_EQ(Eval("local arg = 7 return arg"), "7");
  EXPECT_EQ(RunText("local function main() return arg end").outcome.message,
            "test:1: Global variables not allowed (arg).");
}

TEST(Dialect, GarbageAndTraces) {
  EXPECT_EQ(Eval("return collectgarbage(), collectgarbage('count') > 1, "
                 "debug.traceback('here'):sub(1, 21)"),
            "0 true here\nstack traceback:");
}

}  // namespace
}  // namespace sluice::lua
