// What Prepare makes, compiled and run by V8: the tokenizer's reading of JavaScript is V8's, and
// places that V8 tells are those of the handler.
#include <memory>

#include <gtest/gtest.h>

#include "base/check.h"
#include "function/source/transpile.h"
#include "js/runtime.h"

namespace sluice::function {
namespace {

// N1QL gives what it was called with.
constexpr std::string_view kLibrary = R"((native, configuration) => {
  globalThis.N1QL = (...values) => values;
  return { run: (...values) => globalThis.OnUpdate(...values) };
})";

script::Outcome RunHandler(const std::string& code, const PreparedSource& source) {
  static const std::shared_ptr<const js::Environment> environment =
      *js::Environment::Make(kLibrary);
  js::RuntimeOptions options;
  options.environment = environment;
  options.program = std::make_shared<js::Program>(
      js::Source{.name = "handler.js", .text = source.text, .first_line = source.first_line});
  script::Outcome failed;
  const auto runtime = js::Runtime::Start(std::move(options), &failed);
  EXPECT_NE(runtime, nullptr) << failed.message << "\n" << code << "\n" << source.text;
  if (runtime == nullptr) return failed;
  js::Runtime::Session session(*runtime);
  return session.Call("run", {}, {.deadline_ns = 0, .want_value = true});
}

// The value, or "threw at line:column".
std::string ResultOf(const std::string& code, const PrepareOptions& options = {}) {
  const auto prepared = Prepare(code, options);
  if (!prepared) return prepared.error().front().ToString();
  const script::Outcome outcome = RunHandler(code, *prepared);
  if (outcome.ok()) return outcome.value;
  const SourcePlace place =
      prepared->columns.ToUser({.line = static_cast<uint32_t>(outcome.place.line),
                                .column = static_cast<uint32_t>(outcome.place.column)});
  return fmt::format("{} at {}:{}", outcome.message, place.line, place.column);
}

TEST(PreparedInV8Test, StatementsAreCalls) {
  const struct {
    std::string_view body;
    std::string_view value;
  } cases[] = {
      {"return SELECT 1;", R"(["SELECT 1",{}])"},
      {"var a = 1, b = 'x'; return SELECT $b, $a;", R"(["SELECT $b, $a",{"$a":1,"$b":"x"}])"},
      {"return SELECT 'it''s \\n', \"q\", `n` -- c\n FROM k;",
       R"(["SELECT 'it''s \\n', \"q\", `n`     \n FROM k",{}])"},
      {"const r = []; for (const x of SELECT 1) r.push(x); return r;", R"(["SELECT 1",{}])"},
      {"return [`${(SELECT 1)[0]}`, (SELECT 2)[0]];", R"(["SELECT 1","SELECT 2"])"},
      {"let f = () => SELECT 1; return f()[0];", R"("SELECT 1")"},
      {"const x = 1\nSELECT 1;\nreturn x", "1"},
      {"const from = 2, select = 3; return select * from;", "6"},
      {"let x = 8, g = 2; return x /2/ g;", "2"},
      {"if (true) /'/.test('a'); return (SELECT 'a')[0];", R"("SELECT 'a'")"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ResultOf(fmt::format("function OnUpdate() {{\n{}\n}}", c.body)), c.value) << c.body;
  }
}

TEST(PreparedInV8Test, ConstantsAndHeaders) {
  const PrepareOptions options{
      .headers = {"'use strict';", "const shared = 1;"},
      .footers = {"function last() { return 3; }"},
      .constants = {
          {"two", "2 // really"}, {"object", "{\"a\": [4]}"}, {"add", "(a, b) => a + b"}}};
  EXPECT_EQ(
      ResultOf("function OnUpdate() { return add(shared + two + last(), object.a[0]); }", options),
      "10");
  EXPECT_EQ(ResultOf("function OnUpdate() { undeclared = 1; }", options),
            "ReferenceError: undeclared is not defined at 1:34");
}

TEST(PreparedInV8Test, PlacesAreTheHandlers) {
  const PrepareOptions options{.constants = {{"c", "[\n1,\n2]"}}};
  const std::string code =
      "function OnUpdate() {\n"
      "  var r = SELECT 1\n"
      "    + 2; throw new Error('here');\n"
      "}\n";
  EXPECT_EQ(ResultOf(code, options), "Error: here at 3:10");
  EXPECT_EQ(ResultOf("function OnUpdate() { SELECT $missing; }", options),
            "ReferenceError: missing is not defined at 1:23");
}

}  // namespace
}  // namespace sluice::function
