#include "lua/runtime.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "lua/test_program.h"

namespace sluice::lua {
namespace {

TEST(Dialect, RunsTextsForLua51) {
  EXPECT_EQ(Eval("return unpack({1, 2, 3})"), "1 2 3");
  EXPECT_EQ(Eval("return math.pow(2, 10), math.log10(1000), math.mod(7, 4)"), "1024 3 3");
  EXPECT_EQ(Eval("return table.getn({1, 2}), table.maxn({[7] = 1})"), "2 7");
  EXPECT_EQ(
      Eval("local t = {1} table.insert(t, 4, 9) table.insert(t, 2, 2) return t[2], t[3], t[4]"),
      "2 nil 9");
  EXPECT_EQ(Eval("local n = 0 for k, v in pairs({a = 1, b = 2}) do n = n + v end return n"), "3");
  EXPECT_EQ(Eval("return string.format('%d %s', 3.0, 'x')"), "3 x");
  EXPECT_EQ(Eval("return os.time() > 0, type(os.date()), type(os.clock())"), "true string number");
}

TEST(Runtime, TableFunctions) {
  EXPECT_EQ(Eval("local t = {1, 2, 3} table.move(t, 1, 3, 2) return table.concat(t, ',')"),
            "1,1,2,3");
  EXPECT_EQ(Eval("local t = table.move({1, 2, 3}, 2, 3, 1, {}) return table.concat(t, ',')"),
            "2,3");
  EXPECT_EQ(Eval("local t = {3, 1, 2} table.sort(t) table.insert(t, 1, 0) table.insert(t, 4) "
                 "table.remove(t, 2) return table.concat(t, ','), table.remove(t), #t"),
            "0,2,3,4 4 3");
  EXPECT_EQ(Eval("local t = {'b', 'a'} table.sort(t, function(a, b) return a > b end) return t[1]"),
            "b");
}

TEST(Dialect, NoGlobals) {
  EXPECT_EQ(Eval("x = 1"), "error: test:1: Global variables not allowed (x).");
  EXPECT_EQ(Eval("return y"), "error: test:1: Global variables not allowed (y).");
  EXPECT_EQ(Eval("print = 1"), "error: test:1: Global variables not allowed (print).");
  EXPECT_EQ(RunText("function main() end").outcome.message,
            "the text has no 'local function main'; one that is a function of SQL has 'test', or "
            "'step' and 'final'");
}

TEST(Sandbox, ShowsNoAddresses) {
  EXPECT_EQ(Eval("return tostring({}), tostring(print), tostring(nil), tostring('a')"),
            "table: 1 function: 2 nil a");
  EXPECT_EQ(Eval("local t = {} return tostring(t) == tostring(t), tostring(t) == tostring({})"),
            "true false");
  EXPECT_EQ(Eval("return string.format('%d %s %% %5s', 1, {}, 'x')"), "1 table: 1 %     x");
  EXPECT_EQ(Eval("local t = setmetatable({}, {__tostring = function() return 'own' end}) "
                 "return ('%s'):format(t), tostring(t)"),
            "own own");
  EXPECT_EQ(Eval("return select(2, pcall(string.format, '%p', {}))"),
            "string.format: there is no %p here");
  EXPECT_EQ(Eval("return select(2, pcall(string.format, '%d', {}))"),
            "bad argument #2 to 'string.format' (number expected, got table)");
}

TEST(Dialect, DeclaredVariablesConvert) {
  EXPECT_EQ(Eval("declare x 'int' x := '12' return x + 1"), "13");
  EXPECT_EQ(Eval("declare x 'int' return type(x), tostring(x)"), "int NULL");
  EXPECT_EQ(Eval("declare x 'int' x := 2.9 * 2 return x"), "5");
  EXPECT_EQ(Eval("declare s 'cstring' s := 12 return s .. '!'"), "12!");
  EXPECT_EQ(Eval("declare d 'decimal' d := '1.50' return tostring(d + 1)"), "2.50");
  EXPECT_EQ(Eval("local t = {a = {b = 1}} t.a.b := '7' return t.a.b"), "7");
  EXPECT_EQ(Eval("declare x 'int' x := (function() return '4' end)() * 2 return x"), "8");
  EXPECT_EQ(Eval("declare x 'int' declare y 'int' x := y return type(x)"), "int");
  EXPECT_EQ(Eval("declare x 'int' x := 'zwei'"), "error: test:1: cannot convert 'zwei' to int");
  EXPECT_EQ(Eval("declare x 'complex'"), "error: test:1: there is no type 'complex'");
  EXPECT_EQ(Eval("local declare = 1 return declare"), "1");
  EXPECT_EQ(Eval("return 'x := 1', [[declare x 'int']] -- y := 2"), "x := 1 declare x 'int'");
}

TEST(Dialect, KeepsLines) {
  const Finished finished = RunText(
      "local function main()\n declare x 'int'\n x := \n  1 +\n  1\n --[[\n]] error('here')\nend");
  EXPECT_EQ(finished.outcome.message, "test:7: here");
  EXPECT_EQ(finished.outcome.place.line, 7);
}

TEST(Dialect, DeclaresSeveralAndComputedTypes) {
  EXPECT_EQ(Eval("declare a, b 'int' a := '1' b := 2.5 return a, b, type(a)"), "1 2 int");
  EXPECT_EQ(Eval("local t = 'decimal' declare d t d := '1.50' return type(d), d"), "decimal 1.50");
  EXPECT_EQ(RunText("local function of() return 'int' end\nlocal function main()\n"
                    "declare x of()\nreturn type(x) end")
                .values.size(),
            1u);
  EXPECT_EQ(Eval("local t = 'colour' declare d t"), "error: test:1: there is no type 'colour'");
}

TEST(Dialect, ParametersHaveTypes) {
  const auto run = [](std::string_view text, std::vector<Value> arguments) {
    const Finished finished = RunText(text, std::move(arguments));
    return finished.ok() ? TextOf(std::get<Value>(finished.values[0]), {}, 3)
                         : finished.outcome.message;
  };
  EXPECT_EQ(run("local function main(x int, y real, z cstring, w)\nreturn x .. ' ' .. y .. ' ' .. "
                "z .. ' ' .. type(w) end",
                {Value("10"), Value("3.5"), Value(7), Value("8")}),
            "10 3.5 7 string");
  EXPECT_EQ(run("local function main(x int) return x end", {Value("abc")}),
            "test:1: cannot convert 'abc' to int");
  EXPECT_EQ(run("local function main(x int) return type(x) end", {}), "nil");
  EXPECT_EQ(run("local function main(...) local f = function(a, b decimal) return type(b) end "
                "return f(1, 2) end",
                {}),
            "decimal");
  EXPECT_EQ(run("local function main(x\n colour) end", {}),
            "line 2: there is no type 'colour' for a parameter");
}

TEST(Dialect, SyntaxErrorsHaveLines) {
  const auto wrong = Program::Compile("p", "local function main()\n  local = 3\nend");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message(), "line 2: <name> expected near '='");
  EXPECT_EQ(wrong.error().place().line, 2u);
  EXPECT_EQ(Program::Compile("p", "local function main()\n\n 3 := 4 end").error().message(),
            "line 3: ':=' needs a variable or a field of one before it");
  EXPECT_EQ(Program::Compile("p", "local function main() end return 1").error().id(), "lua.syntax");
  EXPECT_TRUE(Program::Compile("p", "local function main() end -- the end").has_value());
}

TEST(Runtime, ErrorsHavePlaceAndStack) {
  const Finished finished =
      RunText("local function inner()\n error('bad')\nend\nlocal function main()\n inner()\nend");
  EXPECT_EQ(finished.outcome.ended, script::Ended::kThrew);
  EXPECT_EQ(finished.outcome.message, "test:2: bad");
  EXPECT_EQ(finished.outcome.place.line, 2);
  EXPECT_NE(finished.outcome.stack.find("test:5:"), std::string::npos) << finished.outcome.stack;
  EXPECT_EQ(Eval("return pcall(error, 'x')"), "false x");
  EXPECT_EQ(Eval("return xpcall(function() error('x', 0) end, function(m) return m .. '!' end)"),
            "false x!");
  EXPECT_EQ(Eval("return xpcall(function(a, b) return a + b end, print, 1, 2)"), "true 3");
}

TEST(Runtime, Coroutines) {
  EXPECT_EQ(
      Eval("local f = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 "
           "end) return f(1), f(10)"),
      "2 20");
  EXPECT_EQ(Eval("local c = coroutine.create(function() error('in it', 0) end) return "
                 "coroutine.resume(c)"),
            "false in it");
  EXPECT_EQ(Eval("local c = coroutine.create(function() end) coroutine.resume(c) return "
                 "coroutine.resume(c)"),
            "false cannot resume dead coroutine");
  EXPECT_EQ(Eval("local c = coroutine.wrap(function() return pcall(function() coroutine.yield(1) "
                 "error('x', 0) end) end) c() return c()"),
            "false x");
  EXPECT_EQ(Eval("local c = coroutine.create(function() coroutine.yield() end) coroutine.resume(c) "
                 "return coroutine.close(c), coroutine.status(c)"),
            "true dead");
}

TEST(Border, ValuesComeBackAsTheyWent) {
  const std::vector<Value> values = {
      Value(INT64_MAX),
      Value(INT64_MIN),
      Value(1.5),
      Value(true),
      Value("text"),
      Value::Bytes("\xde\xad"),
      Value(json::Datetime{1'576'779'262'330'000}),
      Value(json::Interval{.kind = json::Interval::Kind::kYearMonth, .amount = 5}),
      Value(*json::Decimal::Parse("12.50")),
      Value(nullptr),
      Value::Array({Value(1), Value(nullptr), Value("x")}),
      Value::Object({{"a", Value::Object({{"b", Value::Array({Value(1)})}})}})};
  const Finished finished = RunText("local function main(...) return ... end", values);
  ASSERT_TRUE(finished.ok()) << finished.outcome.message;
  ASSERT_EQ(finished.values.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& back = std::get<Value>(finished.values[i]);
    EXPECT_EQ(back.type(), values[i].type()) << i;
    EXPECT_EQ(back, values[i]) << i;
  }
  EXPECT_EQ(Eval("return '\\xff\\xfe'"), "fffe");  // no UTF-8: bytes
  const Finished object = RunText("local function main() return {c = 1, a = 2, b = 3, d = 4} end");
  EXPECT_EQ(json::ToText(std::get<Value>(object.values[0])), R"({"a":2,"b":3,"c":1,"d":4})");
}

TEST(Border, Null) {
  const std::vector<Value> null = {Value(nullptr)};
  EXPECT_EQ(Eval("local n = ... return n == nil, n == n, not n", null), "false true false");
  EXPECT_EQ(Eval("local n = ... return n == 1, n ~= 'x'", null), "false true");
  EXPECT_EQ(Eval("local n = ... return n + 1", null),
            "error: test:1: attempt to perform arithmetic on a NULL value");
  EXPECT_EQ(Eval("local n = ... return n < 1", null),
            "error: test:1: attempt to compare a NULL value");
  EXPECT_EQ(Eval("local n = ... return 'x' .. n", null),
            "error: test:1: attempt to concatenate a NULL value");
  EXPECT_EQ(Eval("local n = ... return n.x", null), "error: test:1: attempt to index a NULL value");
}

TEST(Border, Datetimes) {
  const std::vector<Value> at = {Value(json::Datetime{1'576'779'262'330'000})};
  EXPECT_EQ(Eval("return tostring(...)", at), "2019-12-19T181422.330 UTC");
  EXPECT_EQ(Eval("local d = ... d:change_timezone('America/New_York') return tostring(d)", at),
            "2019-12-19T131422.330 America/New_York");
  EXPECT_EQ(Eval("local d = ... return d.year, d.month, d.day, d.hour, d.min, d.sec, d.msec, "
                 "d.yday, d.wday, d.timezone, d.isdst",
                 at),
            "2019 12 19 18 14 22 330 353 5 UTC false");
  EXPECT_EQ(Eval("local d = ... return d:to_table().year", at), "2019");
  EXPECT_EQ(Eval("local d = ... d:change_datetime_precision('usec') return tostring(d)", at),
            "2019-12-19T181422.330000 UTC");
  EXPECT_EQ(Eval("local d = ... return d.century", at),
            "error: test:1: a datetime has no field 'century'");
  EXPECT_EQ(Eval("declare i 'intervalds' i := '1 00:00:01' local d = ... local e = d + i return "
                 "tostring(e), tostring(e - d), e > d, e == d, e - i == d",
                 at),
            "2019-12-20T181423.330 UTC 1 00:00:01.000 true false true");
  EXPECT_EQ(
      Eval("declare i 'intervalym' i := '0-2' local d = ... return tostring(d + i), i.months", at),
      "2020-02-19T181422.330 UTC 2");
  EXPECT_EQ(Eval("declare d 'datetime' d := '2024-01-31T10:00:00Z' declare i 'intervalym' i := 1 "
                 "return tostring(d + i)"),
            "2024-02-29T100000.000 UTC");
  EXPECT_EQ(Eval("declare d 'datetime' d := 0 return tostring(d)"), "1970-01-01T000000.000 UTC");
  EXPECT_EQ(Eval("local d = ... return d * 2", at),
            "error: test:1: no result of datetime * number");
}

TEST(Border, Decimals) {
  const std::vector<Value> two = {Value(*json::Decimal::Parse("0.1")),
                                  Value(*json::Decimal::Parse("0.2"))};
  EXPECT_EQ(Eval("local a, b = ... return tostring(a + b), tostring(a - b), tostring(a * b), "
                 "tostring(b / a), tostring(-a)",
                 two),
            "0.3 -0.1 0.02 2 -0.1");
  EXPECT_EQ(Eval("local a, b = ... return a < b, a <= a, a == b, a < 1, a .. '!'", two),
            "true true false true 0.1!");
  EXPECT_EQ(Eval("local a = ... return tostring(a + 1), tostring(a / 3)", two),
            "1.1 0.03333333333333333333333333333333333");
  EXPECT_EQ(Eval("local a = ... return a / 0", two),
            "error: test:1: no result of decimal / number");
}

TEST(Border, Blobs) {
  const std::vector<Value> blob = {Value::Bytes(std::string_view("\0\xff", 2))};
  EXPECT_EQ(Eval("local b = ... return tostring(b), #b, b == b, type(b)", blob),
            "00ff 2 true blob");
}

class Counter final : public HostObject {
 public:
  using HostObject::HostObject;
  int64_t count = 0;
};

const HostClass& CounterClass() {
  static const HostClass type{
      .name = "counter",
      .methods = {{"add",
                   [](HostObject& self, Call& call) -> Status {
                     ASSIGN_OR_RETURN(const Value amount, call.Get(0));
                     if (!amount.is_number()) {
                       return Error(Code::kInvalidArgument, "lua.argument", "add takes a number");
                     }
                     auto& counter = static_cast<Counter&>(self);
                     counter.count += static_cast<int64_t>(amount.ToDouble());
                     call.Return(Value(counter.count));
                     call.Return(Value("ok"));
                     return OkStatus();
                   }},
                  {"same",
                   [](HostObject&, Call& call) -> Status {
                     call.Return(call.Object(0));
                     return OkStatus();
                   }},
                  {"throws",
                   [](HostObject&, Call&) -> Status {
                     throw std::runtime_error("thrown by the host");
                   }}},
      .constants = {{"limit", Value(9)}}};
  return type;
}

std::string WithCounter(std::string_view body) {
  RuntimeOptions options;
  options.globals.emplace_back("counter", std::make_shared<Counter>(CounterClass()));
  const Finished finished =
      RunText("local function main() " + std::string(body) + " end", {}, std::move(options));
  if (!finished.ok()) return "error: " + finished.outcome.message;
  std::string text;
  for (const Returned& value : finished.values) {
    text += (text.empty() ? "" : " ") +
            (value.index() == 0 ? TextOf(std::get<Value>(value), {}, 3) : std::string("object"));
  }
  return text;
}

TEST(Host, MethodsOfObjects) {
  EXPECT_EQ(WithCounter("counter:add(2) return counter:add(3)"), "5 ok");
  EXPECT_EQ(WithCounter("return counter.limit, type(counter), counter.nothing"), "9 counter nil");
  EXPECT_EQ(WithCounter("return counter:same(counter)"), "object");
  EXPECT_EQ(WithCounter("return counter:same(1)"), "nil");
  EXPECT_EQ(WithCounter("counter:add('x')"), "error: test:1: add takes a number");
  EXPECT_EQ(WithCounter("counter.add(1)"),
            "error: test:1: 'add' is a method: call it as object:add(...)");
  EXPECT_EQ(WithCounter("counter:throws()"), "error: test:1: thrown by the host");
  EXPECT_EQ(WithCounter("counter.limit = 1"),
            "error: test:1: the fields of this object can't be set");
  EXPECT_EQ(WithCounter("return pcall(counter.add, counter, {})"), "false add takes a number");
}

TEST(Runtime, PrintsThroughTheHost) {
  std::string printed;
  RuntimeOptions options;
  options.print = [&](std::string_view line) { printed += std::string(line) + "\n"; };
  ASSERT_TRUE(RunText("local function main() print('a', 1, nil) print() end", {}, options).ok());
  EXPECT_EQ(printed, "a\t1\tnil\n\n");
}

TEST(Runtime, InstructionsAreOfOneCall) {
  auto program = Program::Compile("test", "local function main(n) for i = 1, n do end end");
  script::Outcome failed;
  const auto runtime =
      Runtime::Start({.program = *program, .limits = {.instructions = 10'000}}, &failed);
  ASSERT_NE(runtime, nullptr);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(runtime->Call({Value(5000)}).ok());
  EXPECT_GT(runtime->instructions(), 4000u);
  runtime->SetMaxInstructions(1000);
  EXPECT_FALSE(runtime->Call({Value(5000)}).ok());
}

TEST(Runtime, InstancesHaveVariablesOfTheirOwn) {
  auto program = Program::Compile("sum",
                                  "local sum = 0\nlocal function step(n) sum = sum + n end\n"
                                  "local function final() return sum end");
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  EXPECT_FALSE((*program)->Has("main"));
  script::Outcome failed;
  const auto runtime = Runtime::Start({.program = *program}, &failed);
  ASSERT_NE(runtime, nullptr) << failed.message;
  Runtime::Instance other = 0;
  ASSERT_TRUE(runtime->AddInstance(&other).ok());
  EXPECT_TRUE(runtime->Call({Value(3)}, "step").ok());
  EXPECT_TRUE(runtime->Call({Value(4)}, "step").ok());
  EXPECT_TRUE(runtime->Call({Value(50)}, "step", other).ok());
  EXPECT_EQ(std::get<Value>(runtime->Call({}, "final").values[0]).ToDouble(), 7);
  EXPECT_EQ(std::get<Value>(runtime->Call({}, "final", other).values[0]).ToDouble(), 50);
  EXPECT_EQ(runtime->Call({}).outcome.message, "there is no function 'main'");
  runtime->DropInstance(other);
  Runtime::Instance next = 0;
  ASSERT_TRUE(runtime->AddInstance(&next).ok());
  EXPECT_EQ(std::get<Value>(runtime->Call({}, "final", next).values[0]).ToDouble(), 0);
}

TEST(Runtime, EndsAtItsDeadlineAndWhenItIsCancelled) {
  auto program = Program::Compile("test", "local function main() while true do end end");
  script::Outcome failed;
  const Limits limits{.instructions = UINT64_MAX / 2,
                      .deadline_ns = SystemClock().MonotonicNs() + 20'000'000};
  const auto late = Runtime::Start({.program = *program, .limits = limits}, &failed);
  EXPECT_EQ(late->Call({}).outcome.ended, script::Ended::kTimedOut);
  const std::atomic<bool> cancelled = true;
  const auto stopped = Runtime::Start(
      {.program = *program, .limits = {.instructions = UINT64_MAX / 2}, .cancelled = &cancelled},
      &failed);
  ASSERT_NE(stopped, nullptr) << failed.message;
  EXPECT_EQ(stopped->Call({}).outcome.ended, script::Ended::kStopped);
}

}  // namespace
}  // namespace sluice::lua
