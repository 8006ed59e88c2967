// Programs that try to run for ever, to take all memory, or to get out.
#include <chrono>
#include <latch>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "lua/test_program.h"

namespace sluice::lua {
namespace {

using script::Ended;

struct Hostile {
  const char* name;
  const char* body;
};

void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

RuntimeOptions Small(uint64_t instructions, uint64_t time_ms) {
  RuntimeOptions options;
  options.limits = {.instructions = instructions, .memory_bytes = 16 << 20, .time_ms = time_ms};
  return options;
}

std::string Main(std::string_view body) {
  return "local function main() " + std::string(body) + "\nend";
}

// None of these ends by itself.
constexpr Hostile kEndless[] = {
    {"loop", "while true do end"},
    {"recursion_in_tail", "local function f() return f() end f()"},
    {"pcall", "while true do pcall(function() while true do end end) end"},
    {"pcall_of_pcall", "while true do pcall(pcall, pcall, function() while true do end end) end"},
    {"xpcall_handler",
     "xpcall(function() while true do end end, function() while true do end end)"},
    {"xpcall_nested",
     "while true do xpcall(function() error() end, function() while true do end "
     "end) end"},
    {"coroutine", "coroutine.wrap(function() while true do end end)()"},
    {"coroutines",
     "while true do local c = coroutine.create(function() while true do end end) "
     "coroutine.resume(c) end"},
    {"many_short_coroutines",
     "while true do coroutine.wrap(function() for i = 1, 20 do end end)() end"},
    {"coroutine_pcall",
     "coroutine.wrap(function() while true do pcall(function() while true do "
     "end end) end end)()"},
    {"yields",
     "local c = coroutine.wrap(function() while true do coroutine.yield() end end) "
     "while true do c() end"},
    {"close",
     "do local x <close> = setmetatable({}, {__close = function() while true do end end}) "
     "while true do end end"},
    {"close_in_coroutine",
     "local c = coroutine.create(function() local x <close> = setmetatable({}, {__close = "
     "function() while true do end end}) while true do end end) coroutine.resume(c) "
     "coroutine.close(c)"},
    {"wrap_close",
     "coroutine.wrap(function() local x <close> = setmetatable({}, {__close = "
     "function() while true do end end}) while true do end end)()"},
    {"tostring",
     "return tostring(setmetatable({}, {__tostring = function() while true do end "
     "end}))"},
    {"index",
     "local t = setmetatable({}, {__index = function() while true do end end}) return t.x"},
    {"concat",
     "local t = setmetatable({}, {__concat = function() while true do end end}) return "
     "t .. 'x'"},
    {"sort", "table.sort({3, 2, 1}, function() while true do end end)"},
    {"gsub", "('x'):gsub('x', function() while true do end end)"},
    {"goto", "::again:: goto again"},
    {"backtracking", "return (('a'):rep(200)):find(('a*'):rep(30) .. 'b')"},
    {"backtracking_lazy", "return (('a'):rep(5000)):match('.-.-.-.-.-.-.-b$')"},
    {"backtracking_sets", "return (('a'):rep(300)):gsub(('[ab]*'):rep(20) .. 'c', '')"},
    {"backtracking_gmatch", "for x in (('a'):rep(300)):gmatch(('a-'):rep(20) .. 'c') do end"},
    {"back_reference", "return (('a'):rep(4000)):find('(a*)(a*)(a*)%1%2%3b')"},
    {"balance", "local s = ('('):rep(100000) while true do s:find('%b()') end"},
    {"rep_of_nothing", "while true do local s = (''):rep(1e15) end"},
    {"move", "table.move({}, 1, 9223372036854775806, 2)"},
    {"move_much", "local t = {} while true do table.move(t, 1, 1000000, 2) end"},
    {"long_strings", "local s = ('x'):rep(2000000) while true do s:upper() end"},
    {"plain_find",
     "local s = ('a'):rep(2000000) local p = ('a'):rep(1000000) .. 'b' while true do "
     "s:find(p, 1, true) end"},
    {"next",
     "local t = {} for i = 1, 2000 do t[i] = i end while true do local k = next(t) if k "
     "then t[k] = nil end end"},
};

class Endless : public testing::TestWithParam<Hostile> {};

TEST_P(Endless, IsEndedByInstructions) {
  const Finished finished = RunText(Main(GetParam().body), {}, Small(1'000'000, 20'000));
  EXPECT_EQ(finished.outcome.ended, Ended::kTimedOut) << finished.outcome.message;
  EXPECT_EQ(finished.outcome.message, "the most instructions of a run, 1000000, are used up");
}

TEST_P(Endless, IsEndedByTime) {
  const auto start = std::chrono::steady_clock::now();
  const Finished finished = RunText(Main(GetParam().body), {}, Small(UINT64_MAX / 2, 30));
  EXPECT_EQ(finished.outcome.ended, Ended::kTimedOut) << finished.outcome.message;
  EXPECT_EQ(finished.outcome.message, "the run took too long: more than 30 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// Lua shifts its stack for that, and runs no instruction.
TEST(Hostile, ATableThatIsItsOwnCallIsEnded) {
  constexpr std::string_view kOwnCall =
      "local t = setmetatable({}, {}) getmetatable(t).__call = t ";
  for (const std::string_view call : {"return t()", "while true do pcall(t) end"}) {
    const Finished finished =
        RunText(Main(std::string(kOwnCall) + std::string(call)), {}, Small(UINT64_MAX / 2, 0));
    EXPECT_EQ(finished.outcome.ended, Ended::kOutOfMemory);
    EXPECT_EQ(finished.outcome.message, "the run's calls of __call metamethods do not end");
    const Finished late =
        RunText(Main(std::string(kOwnCall) + std::string(call)), {}, Small(UINT64_MAX / 2, 1));
    EXPECT_EQ(late.outcome.message, "the run took too long: more than 1 ms");
  }
}

TEST(Hostile, DeepStacksOfProgramsThatEndAreAllowed) {
  const Finished finished = RunText(
      Main("local function f(n, ...) if n == 0 then return select('#', ...) end "
           "return (f(n - 1, n, ...)) end "
           "local function g(n) if n == 0 then return 0 end return 1 + g(n - 1) end "
           "return f(300) + g(20000) + #{table.unpack(table.pack(('x'):rep(50000):byte(1, -1)))}"),
      {}, Small(UINT64_MAX / 2, 0));
  EXPECT_TRUE(finished.ok()) << finished.outcome.message;
}

INSTANTIATE_TEST_SUITE_P(All, Endless, testing::ValuesIn(kEndless),
                         [](const auto& info) { return std::string(info.param.name); });

constexpr Hostile kGreedy[] = {
    {"table", "local t = {} for i = 1, 1e9 do t[i] = {} end"},
    {"string", "local s = 'x' while true do s = s .. s end"},
    {"rep", "return ('x'):rep(1e9)"},
    {"swallowed", "while true do pcall(string.rep, 'x', 1e9) end"},
    {"swallowed_in_coroutine",
     "while true do coroutine.resume(coroutine.create(function() return ('x'):rep(1e9) end)) end"},
    {"concat", "local t = {} for i = 1, 100 do t[i] = ('x'):rep(1000000) end"},
    {"buffer", "return (('x'):rep(100000)):gsub('x', ('y'):rep(10000))"},
    {"format", "local s = ('x'):rep(4000000) return string.format('%s%s%s%s%s', s, s, s, s, s)"},
    {"coroutines", "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end"},
    {"pack", "return string.pack('c1000000000', '')"},
    {"closures", "local t = {} while true do t[#t + 1] = function() return t end end"},
};

class Greedy : public testing::TestWithParam<Hostile> {};

TEST_P(Greedy, IsEndedByMemory) {
  const Finished finished = RunText(Main(GetParam().body), {}, Small(UINT64_MAX / 2, 20'000));
  EXPECT_EQ(finished.outcome.ended, Ended::kOutOfMemory) << finished.outcome.message;
}

INSTANTIATE_TEST_SUITE_P(All, Greedy, testing::ValuesIn(kGreedy),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Hostile, DeepRecursionIsAnError) {
  RuntimeOptions options;
  options.limits.memory_bytes = 256 << 20;
  const Finished deep =
      RunText(Main("local function f() return 1 + f() end return f()"), {}, options);
  EXPECT_NE(deep.outcome.message.find("stack overflow"), std::string::npos) << deep.outcome.message;
  EXPECT_NE(Eval("local function f() return pcall(f) end return (f())"), "");
  EXPECT_NE(
      Eval("local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x").find("loop"),
      std::string::npos);
  const std::string nested = Eval("local function f() return coroutine.wrap(f)() end return f()");
  EXPECT_NE(nested.find("C stack overflow"), std::string::npos) << nested;
}

TEST(Hostile, NothingLeadsOut) {
  for (const char* name : {"io", "package", "load", "loadstring", "loadfile", "dofile", "require",
                           "module", "_G", "setfenv", "warn"}) {
    EXPECT_EQ(Eval("return " + std::string(name)),
              "error: test:1: Global variables not allowed (" + std::string(name) + ").");
  }
  EXPECT_EQ(Eval("return os.execute, os.exit, os.getenv, os.remove, string.dump"),
            "nil nil nil nil nil");
  EXPECT_EQ(Eval("local names = '' for name in pairs(debug) do names = names .. name end "
                 "return names"),
            "traceback");
  EXPECT_EQ(Eval("collectgarbage('stop')"),
            "error: test:1: collectgarbage: expected 'collect', 'step' or 'count'");
  EXPECT_EQ(Eval("return getmetatable(1), getmetatable('')"), "false false");
  EXPECT_EQ(Eval("return getmetatable(_ENV)"), "false");
  EXPECT_EQ(Eval("setmetatable({}, {__gc = function() end})"),
            "error: test:1: __gc is not allowed");
  EXPECT_EQ(Eval("return pcall(setmetatable, _ENV, {})"),
            "false cannot change a protected metatable");
  // Added later, it does nothing.
  EXPECT_EQ(Eval("local m = {} setmetatable({}, m) m.__gc = function() while true do end end "
                 "for i = 1, 1e5 do local t = {} end return 1"),
            "1");
}

TEST(Hostile, LengthsThatAreMadeUp) {
  constexpr char kLong[] =
      "local t = setmetatable({}, {__len = function() return 1 << 60 end, __index = rawlen}) ";
  for (const char* call : {"table.insert(t, 1, 1)", "table.remove(t, 1)", "table.sort(t)",
                           "table.concat(t)", "table.move(t, 1, 10, 2)"}) {
    EXPECT_NE(Eval(std::string(kLong) + call).find("takes tables without __len"), std::string::npos)
        << call;
  }
}

TEST(Hostile, ErrorsOfAllKinds) {
  EXPECT_EQ(Eval("error('plain', 0)"), "error: plain");
  EXPECT_EQ(Eval("error({message = 'in a table'})"), "error: in a table");
  EXPECT_EQ(Eval("error({})"), "error: an error that is a table");
  EXPECT_EQ(Eval("error()"), "error: an error that is a nil");
  EXPECT_EQ(Eval("error(12)"), "error: 12");
  EXPECT_EQ(Eval("error(print)"), "error: an error that is a function");
  EXPECT_EQ(Eval("error(setmetatable({}, {__tostring = function() while true do end end}))"),
            "error: an error that is a table");
  EXPECT_EQ(Eval("error(setmetatable({}, {__index = function() while true do end end}))"),
            "error: an error that is a table");
}

TEST(Hostile, TablesThatDoNotFitIntoValues) {
  EXPECT_NE(Eval("local t = {} t.t = t return t").find("holds itself"), std::string::npos);
  EXPECT_NE(Eval("local t = {} for i = 1, 100 do t = {t, t} end return t").find("too large"),
            std::string::npos);
  EXPECT_NE(Eval("return {print}").find("not a value"), std::string::npos);
}

TEST(Hostile, StopFromAnotherThread) {
  auto program = Program::Compile("test", Main("print() while true do pcall(error) end"));
  ASSERT_TRUE(program.has_value());
  script::Outcome failed;
  std::latch begun(1);
  const auto runtime = Runtime::Start({.program = *program,
                                       .limits = {.instructions = UINT64_MAX / 2},
                                       .print = [&](std::string_view) { begun.count_down(); }},
                                      &failed);
  ASSERT_NE(runtime, nullptr);
  std::thread stopper([&] {
    begun.wait();
    runtime->Stop();
  });
  EXPECT_EQ(runtime->Call({}).outcome.ended, Ended::kStopped);
  stopper.join();
  EXPECT_TRUE(runtime->spent());
  EXPECT_EQ(runtime->Call({}).outcome.ended, Ended::kStopped);
}

TEST(Hostile, TheTextItselfMayLoop) {
  const Finished finished =
      RunText("while true do end local function main() end", {}, Small(1'000'000, 20'000));
  EXPECT_EQ(finished.outcome.ended, Ended::kTimedOut);
}

TEST(Hostile, TextsThatAreNoLua) {
  EXPECT_NE(RunText(std::string("\x1bLua local function main() end"))
                .outcome.message.find("binary chunk"),
            std::string::npos);
  std::string deep = "local function main() return ";
  for (int i = 0; i < 5000; ++i) deep += '(';
  EXPECT_FALSE(RunText(deep).ok());
  EXPECT_FALSE(RunText(std::string(kMaxSourceBytes + 1, ' ')).ok());
}

}  // namespace
}  // namespace sluice::lua
