#include "function/source/checks.h"

#include <gtest/gtest.h>

#include "function/source/embedded_sql.h"

namespace sluice::function {
namespace {

CheckedProgram Check(std::string_view code, const std::set<std::string>& bindings = {}) {
  return CheckProgram(code, FindEmbeddedSql(code, bindings).tokens, bindings);
}

// "line:column id" of each error.
std::string Errors(std::string_view code, const std::set<std::string>& bindings = {}) {
  std::string errors;
  for (const Status& error : Check(code, bindings).errors) {
    if (!errors.empty()) errors += ", ";
    errors += fmt::format("{}:{} {}", error.place().line, error.place().column,
                          error.id().substr(std::string_view("function.").size()));
  }
  return errors;
}

struct Case {
  std::string_view code;
  std::string_view errors;
};

TEST(ChecksTest, TopLevel) {
  const Case cases[] = {
      {"function OnUpdate() {}", ""},
      {"function OnUpdate() {}\nfunction f() {};\nfunction* g() {}", ""},
      {"'use strict';\nfunction OnDelete() {}", ""},
      {"\"use strict\"\nfunction OnDelete() {}", ""},
      {"// only\n/* comments */ function OnUpdate() {}", ""},
      {"var count = 0;\nfunction OnUpdate() {}", "1:1 top_level"},
      {"var a = 1, b = {\n c: 2},\n d\nfunction OnUpdate() {}", "1:1 top_level"},
      {"let a\nconst b = 1\nfunction OnUpdate() {}", "1:1 top_level, 2:1 top_level"},
      {"function OnUpdate() {} class A { m() {} }", "1:24 top_level"},
      {"function OnUpdate() {}\nlog('x');", "2:1 top_level"},
      {"function OnUpdate() {}\nif (a) { b(); } else { c(); }\nd();",
       "2:1 top_level, 3:1 top_level"},
      {"function OnUpdate() {}\n(function() { var a; })();", "2:1 top_level"},
      {"function OnUpdate() {}\nx = function() {};", "2:1 top_level"},
      {"function OnUpdate() {}\nvar f = () => { return 1 }\nfunction g() {}", "2:1 top_level"},
      {"function OnUpdate() {}\n{ var a; }", "2:1 top_level"},
      {"'use strict' + f();\nfunction OnUpdate() {}", "1:1 top_level"},
      {"function OnUpdate() {}\nSELECT 1;", "2:1 top_level"},
      {"function() {}\nfunction OnUpdate() {}", "1:1 top_level"},
  };
  for (const Case& c : cases) EXPECT_EQ(Errors(c.code), c.errors) << c.code;
}

TEST(ChecksTest, EntryPoints) {
  const Case cases[] = {
      {"", "1:1 no_entry_point"},
      {"function f() {}", "1:1 no_entry_point"},
      {"function OnDeploy() {}", "1:1 no_entry_point"},
      {"function f() { function OnUpdate() {} }", "1:1 no_entry_point"},
      {"function onUpdate() {}", "1:1 no_entry_point"},
      {"function OnUpdate() {}\nfunction OnUpdate() {}", "2:10 entry_point"},
      {"function OnDelete() {}\n\nfunction OnDelete() {}\nfunction OnDelete() {}",
       "3:10 entry_point, 4:10 entry_point"},
      {"function OnUpdate() {} function OnDeploy() {} function OnDeploy() {}", "1:56 entry_point"},
      {"function* OnUpdate() {}", "1:11 entry_point"},
      {"function f() {} function f() {} function OnUpdate() {}", ""},
      {"function OnUpdate() {} function dst() {}", "1:33 name_taken"},
  };
  for (const Case& c : cases) EXPECT_EQ(Errors(c.code, {"dst"}), c.errors) << c.code;

  const CheckedProgram program = Check(
      "function b() {}\nfunction OnDelete() {}\nfunction a() {}\nfunction OnDeploy() {}\n"
      "function b() {}");
  EXPECT_EQ(program.facts.entry_points, (EntryPoints{.on_delete = true, .on_deploy = true}));
  EXPECT_EQ(program.facts.functions, (std::vector<std::string>{"b", "OnDelete", "a", "OnDeploy"}));
}

// Each stands in `function OnUpdate(doc, meta) {` + newline.
TEST(ChecksTest, Forbidden) {
  const Case cases[] = {
      {"setTimeout(f, 1);", "2:1 js_timer"},
      {"  setInterval(f, 1)", "2:3 js_timer"},
      {"setImmediate(f); clearTimeout(1); clearInterval(1);",
       "2:1 js_timer, 2:18 js_timer, 2:35 js_timer"},
      {"requestAnimationFrame(f); queueMicrotask(f);", "2:1 js_timer, 2:27 js_timer"},
      {"globalThis.setTimeout(f, 1); setTimeout?.(f);", "2:12 js_timer, 2:30 js_timer"},
      {"set\\u0054imeout(f, 1);", "2:1 js_timer"},
      {"`${setTimeout(f)}`", "2:4 js_timer"},
      {"obj.setTimeout(f, 1); x = {setTimeout: 1}; y = {setTimeout(a) {}};", ""},
      {"function setTimeout(f) { f(); } setTimeout(f);", ""},
      {"var s = 'setTimeout(f)'; // setTimeout(f)\n/setTimeout(f)/;", ""},
      {"async function f() {}", "2:1 async"},
      {"f = async () => 1; g = async x => 1; h = async function() {}",
       "2:5 async, 2:24 async, 2:42 async"},
      {"x = {async m() {}, async *n() {}, async 'a'() {}, async [b]() {}};",
       "2:6 async, 2:20 async, 2:35 async, 2:51 async"},
      {"class A { static async k() {} async #m() {} }", "2:18 async, 2:31 async"},
      {"await f();", "2:1 async"},
      {"for await (const x of y) {}", "2:5 async"},
      {"async(1); x.async = 1; var async; async = async + 1; x = {async: 1, await: 2}", ""},
      {"import('x');", "2:1 module"},
      {"import.meta;", "2:1 module"},
      {"require('fs');", "2:1 module"},
      {"const require = x => x; require('fs');", ""},
      {"x.import(); x.require('y'); x = {export: 1};", ""},
      {"eval('1');", "2:1 eval"},
      {"(0, eval)('1');", "2:5 eval"},
      {"new Function('return 1');", "2:5 eval"},
      {"new Function;", "2:5 eval"},
      {"Function('return 1')();", "2:1 eval"},
      {"new globalThis.Function('1');", "2:16 eval"},
      {"x instanceof Function; Function.prototype; x.eval(1); redis.eval('x');", ""},
  };
  for (const Case& c : cases) {
    const std::string code = fmt::format("function OnUpdate(doc, meta) {{\n{}\n}}", c.code);
    EXPECT_EQ(Errors(code), c.errors) << c.code;
  }
}

TEST(ChecksTest, TopLevelModulesAndAsyncAreToldOnce) {
  const Case cases[] = {
      {"import a from 'b';\nfunction OnUpdate() {}", "1:1 module"},
      {"export function OnUpdate() {}\nfunction OnUpdate() {}", "1:1 module"},
      {"async function OnUpdate() {}", "1:1 async"},
  };
  for (const Case& c : cases) EXPECT_EQ(Errors(c.code), c.errors) << c.code;
}

TEST(ChecksTest, AllErrorsInOrder) {
  EXPECT_EQ(
      Errors("var a;\n"
             "function OnUpdate() { setTimeout(f); eval(x) }\n"
             "let b;\n"
             "function OnUpdate() { require('x') }\n"),
      "1:1 top_level, 2:23 js_timer, 2:38 eval, 3:1 top_level, 4:10 entry_point, 4:23 module");
}

TEST(ChecksTest, SyntaxErrorEndsTheChecks) {
  const Case cases[] = {
      {"function OnUpdate() { 'abc }", "1:23 syntax"},
      {"function OnUpdate() { /* }", "1:23 syntax"},
      {"function OnUpdate() { `${a }", "1:28 syntax"},
      {"function OnUpdate() { if (a { } }", "1:26 syntax"},
      {"function OnUpdate() {", "1:21 syntax"},
      {"function OnUpdate(doc, meta {\n  log(doc);\n}", "1:18 syntax"},
      {"var a;\nfunction OnUpdate() { x = 1 @ 2; setTimeout(f) }", "1:1 top_level, 2:29 syntax"},
  };
  for (const Case& c : cases) EXPECT_EQ(Errors(c.code), c.errors) << c.code;
}

TEST(ChecksTest, Messages) {
  const struct {
    std::string_view code;
    std::string_view message;
  } cases[] = {
      {"var count = 0;  \nfunction OnUpdate() {}",
       "Only functions allowed in global space, but found: var count = 0;. Declare it inside a "
       "function, keep state in a document, or make it a constant binding"},
      {"class Counter {\n}\nfunction OnUpdate() {}",
       "Only functions allowed in global space, but found: class Counter {. Declare the class "
       "inside the function that uses it"},
      {"log('ääääääääääääääääääääääääääääää');\nfunction OnUpdate() {}",
       "Only functions allowed in global space, but found: log('äääääääääääääääääääää.... Move it "
       "into a function"},
      {"function OnUpdate() { setTimeout(f) }",
       "setTimeout() is not available: a handler ends with its call. Use createTimer(callback, "
       "date, reference, context) to run a function later"},
      {"function OnUpdate() { if (a }",
       "syntax error: the bracket has no end: expected ) before the next }"},
  };
  for (const auto& c : cases) {
    const CheckedProgram program = Check(c.code);
    ASSERT_FALSE(program.errors.empty()) << c.code;
    EXPECT_EQ(program.errors[0].message(), c.message);
  }
}

TEST(ChecksTest, AnOpenBracketIsToldAtItsPlace) {
  const struct {
    std::string_view code;
    uint32_t line;
    uint32_t column;
    std::string_view problem;
  } cases[] = {
      {"function OnUpdate(d) {\n  return [1, 2;\n}", 2, 10, "expected ] before the next }"},
      {"function OnUpdate(d) {\n  return f(1, 2;\n}\nfunction f() {}", 2, 11,
       "expected ) before the next }"},
      {"function OnUpdate(d) {\n  return {a: [1, 2};\n}", 2, 14, "expected ] before the next }"},
      {"function OnUpdate(d) {\n  f({a: 1);\n}", 2, 5, "expected } before the next )"},
      {"function OnUpdate(d) {\n  return `${d.x) }`;\n}", 2, 16, "closes nothing"},
      {"function OnUpdate(d) {\n  return 1;\n", 1, 22, "expected }"},
      {"function OnUpdate(d) {\n  return 1);\n}", 2, 11, "closes nothing"},
  };
  for (const auto& c : cases) {
    const CheckedProgram program = Check(c.code);
    ASSERT_FALSE(program.errors.empty()) << c.code;
    const Status& error = program.errors[0];
    EXPECT_EQ(error.place().line, c.line) << c.code;
    EXPECT_EQ(error.place().column, c.column) << c.code;
    EXPECT_TRUE(error.message().ends_with(c.problem)) << error.message();
  }
}

TEST(ChecksTest, TimerCallbacks) {
  const CheckedProgram program = Check(
      "function OnUpdate(doc, meta) {\n"
      "  createTimer(First, date, 'a', {});\n"
      "  couchbase.createTimer(Second, date, 'a', {});\n"
      "  createTimer(x.y, date, 'a'); createTimer(function() {}, date, 'b'); createTimer();\n"
      "  // createTimer(Third, date)\n"
      "}");
  EXPECT_EQ(program.facts.timer_callbacks, (std::set<std::string>{"First", "Second"}));
  EXPECT_TRUE(program.facts.uses_timers);
  EXPECT_TRUE(program.errors.empty());
  EXPECT_FALSE(Check("function OnUpdate() { x.createTimer; // createTimer(\n }").facts.uses_timers);
}

TEST(ChecksTest, Warnings) {
  const CheckedProgram program = Check(
      "function OnUpdate(doc, log) { let curl = 1; couchbase.x = 2; new N1qlQuery('SELECT 1'); }\n"
      "function crc64() {}");
  EXPECT_EQ(program.facts.redefined, (std::set<std::string>{"crc64", "curl", "log"}));
  EXPECT_EQ(program.facts.deprecated, (std::set<std::string>{"N1qlQuery"}));
  EXPECT_TRUE(Check("function OnUpdate() { log(curl); x.log = 1; }").facts.redefined.empty());
}

// "line:column name" of each.
std::string FreeNames(std::string_view code) {
  const TokenList tokens = FindEmbeddedSql(code, {}).tokens;
  std::set<std::string> known = DeclaredNames(tokens);
  known.insert("dst");
  std::string names;
  for (const Warning& warning : NameWarnings(tokens, known)) {
    const size_t from = warning.text.find('\'') + 1;
    names += fmt::format("{}:{} {}, ", warning.place.line, warning.place.column,
                         warning.text.substr(from, warning.text.find('\'', from) - from));
  }
  return names;
}

TEST(ChecksTest, NamesThatNothingDefines) {
  const struct {
    std::string_view code;
    std::string_view names;
  } cases[] = {
      {"function OnUpdate(doc, meta) { dst[meta.id] = doc; log(JSON.stringify(doc)); }", ""},
      {"function f(a) { creatTimer(a); creatTimer(b, {c: d, e, f() {}}); }",
       "1:17 creatTimer, 1:43 b, 1:50 d, 1:53 e, "},
      {"function f() { for (const x of [1]) { try { y: while (1) break y; } catch (e) { log(e, x); "
       "} } }",
       ""},
      {"function f() { if (typeof window !== 'undefined') window.x(); }", ""},
      {"function f() { const {a, b: [c], ...d} = arguments; return (x, y = a) => x + y + c + d; }",
       ""},
      {"function f() { class A { field = 1; static m() { return free; } } return new A(); }", ""},
      {"function f(q) { SELECT * FROM nowhere WHERE a = $q; return `${missing}`; }",
       "1:63 missing, "},
      {"function f(q) { return q?.log.b + KVError + Infinity + couchbase.x; }", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(FreeNames(c.code), c.names) << c.code;
}

TEST(ChecksTest, FunctionsThatAreNearlyEntryPoints) {
  const auto warnings = [](std::string_view code) {
    const TokenList tokens = FindEmbeddedSql(code, {}).tokens;
    std::string texts;
    for (const Warning& warning : EntryPointWarnings(tokens, Check(code).facts)) {
      texts += warning.text + "\n";
    }
    return texts;
  };
  EXPECT_EQ(warnings("function OnUpdat() {}\nfunction OnDelete() {}"),
            "no event calls the function OnUpdat; did you mean 'OnUpdate'?\n");
  EXPECT_EQ(warnings("function onUpdate() {}\nfunction OnDelete() {}"),
            "no event calls the function onUpdate; did you mean 'OnUpdate'?\n");
  EXPECT_EQ(warnings("function OnUpdate() { OnUpdat(); }\nfunction OnUpdat() {}"), "");
  EXPECT_EQ(warnings("function OnDelete() { OnUpdat(); }\nfunction OnUpdat() {}"), "");
}

}  // namespace
}  // namespace sluice::function
