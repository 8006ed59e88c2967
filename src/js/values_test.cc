// Values that cross the border without text must be what they are as text.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/check.h"
#include "js/pack.h"
#include "js/runtime.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::js {
namespace {

// `tell` calls the program's function with a value that came in pieces, and packs what it returns
// if it can.
constexpr std::string_view kLibrary = R"((native) => {
  let result;
  const finish = () => (native.pack(result) ? undefined : { text: result });
  const tell = (make, ...pieces) => {
    result = globalThis.main(make === undefined ? pieces[0] : make(...pieces));
    return finish();
  };
  return { tell, finish };
})";

class ValuesTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Runtime> Start(std::string text) {
    static const std::shared_ptr<const Environment> environment = *Environment::Make(kLibrary);
    RuntimeOptions options;
    options.environment = environment;
    options.program = std::make_shared<Program>(Source{"test.js", std::move(text)});
    script::Outcome failed;
    auto runtime = Runtime::Start(std::move(options), &failed);
    EXPECT_TRUE(failed.ok()) << failed.message;
    CHECK(runtime != nullptr);
    return runtime;
  }

  struct Told {
    bool packed = false;
    std::string text;  // or the error
  };
  static Told Tell(Runtime& runtime, const json::Value& input = nullptr) {
    const script::Argument argument = script::Pieces{&input};
    std::optional<json::Value> packed;
    const script::Outcome outcome = Runtime::Session(runtime).Call(
        "tell", {&argument, 1}, {.want_value = true, .finish = "finish", .packed = &packed});
    if (!outcome.ok()) return {false, outcome.message};
    if (!packed) return {false, outcome.value};
    return {true, packed->is_missing() ? "" : json::ToText(*packed)};
  }
  // A result that is a text.
  static std::string OfText(const std::string& told) {
    const json::Value value = *json::Parse(told);
    return std::string((value.is_object() ? value["text"] : value).AsString());
  }
  static Told Returned(const std::string& expression) {
    return Tell(*Start("function main() { return " + expression + "; }"));
  }
};

TEST_F(ValuesTest, PackedResultsAreWhatTheirTextSays) {
  for (const char* const expression : {
           "null",
           "true",
           "false",
           "0",
           "-0",
           "-17",
           "1.5",
           "0.1",
           "1e-7",
           "123456.789e-20",
           "9007199254740991",
           "-9007199254740991",
           "NaN",
           "-Infinity",
           "''",
           "'a text of more than fifteen bytes'",
           R"('"quoted"\n')",
           "[]",
           "[1, 'two', [null, undefined, () => 1, Symbol('s')], {}]",
           "[1, , 3]",
           "{}",
           "{n: 1, user: 'me', nested: {list: [{a: 1}, {a: 2}], none: null}}",
           "{2: 'two', b: 1, 1: 'one', '': 'empty'}",
           "{left: undefined, out: () => 1, symbol: Symbol('s'), [Symbol('k')]: 1, stays: 1}",
           "Object.defineProperty({a: 1}, 'hidden', {value: 1, enumerable: false})",
           "{get computed() { return 7; }}",
           "Array(200).fill(1.25)",
           "(() => { const a = [0, 2]; Object.defineProperty(a, 0, {get: () => a.push(9), "
           "enumerable: true}); return a; })()",
       }) {
    const Told told = Returned(expression);
    EXPECT_TRUE(told.packed) << expression;
    const Told text = Returned("JSON.stringify(" + std::string(expression) + ")");
    EXPECT_EQ(told.text, OfText(text.text)) << expression;
    // A number of the same kind, too.
    const json::Value parsed = *json::Parse(told.text);
    EXPECT_EQ(json::ToText(parsed), told.text) << expression;
  }
  EXPECT_EQ(Returned("new Proxy({}, {getPrototypeOf: () => Object.prototype, "
                     "get: (of, name) => name === 'a' ? 1 : undefined, "
                     "ownKeys: () => ['a'], getOwnPropertyDescriptor: () => "
                     "({value: 1, enumerable: true, configurable: true})})")
                .text,
            R"({"a":1})");
  EXPECT_EQ(Returned("undefined").text, "");
  EXPECT_TRUE(Returned("undefined").packed);
}

TEST_F(ValuesTest, OthersAreLeftToJson) {
  for (const auto& [expression, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"'ä'", R"({"text":"ä"})"},
           {"{'ä': 1}", R"({"text":{"ä":1}})"},
           {"9007199254740992", R"({"text":9007199254740992})"},
           {"1e300", R"({"text":1e+300})"},
           {"{toJSON: () => 'own'}", R"({"text":"own"})"},
           {"Object.defineProperty({a: 1}, 'toJSON', {value: () => 'own'})", R"({"text":"own"})"},
           {"new Proxy({a: 1}, {get: (of, name) => name === 'toJSON' ? () => 'proxy' : of[name]})",
            R"({"text":"proxy"})"},
           {"{f: Object.assign(() => 1, {toJSON: () => 5})}", R"({"text":{"f":5}})"},
           {"[Object.assign(() => 1, {toJSON: () => 5})]", R"({"text":[5]})"},
           {"Object.setPrototypeOf({a: 1}, Array.prototype)", R"({"text":{"a":1}})"},
           {"new Date(0)", R"({"text":"1970-01-01T00:00:00.000Z"})"},
           {"new (class A { x = 1; })()", R"({"text":{"x":1}})"},
           {"Object.create(null, {a: {value: 1, enumerable: true}})", R"({"text":{"a":1}})"},
           {"new Map([[1, 2]])", R"({"text":{}})"},
           {"new Number(5)", R"({"text":5})"},
           {"() => 1", "{}"},
           {"Array(200).fill([]).map((x, i) => i % 2 ? {} : []).length", "200"},
       }) {
    const Told told = Returned(expression);
    EXPECT_EQ(told.text, text) << expression;
  }
  EXPECT_FALSE(Returned("Array(1000).fill(1)").packed);
  EXPECT_FALSE(Returned("'x'.repeat(10000)").packed);
  EXPECT_FALSE(Returned("{['x'.repeat(9000)]: 1}").packed);
  EXPECT_FALSE(Returned("JSON.parse('['.repeat(100) + ']'.repeat(100))").packed);
  EXPECT_EQ(Returned("1n").text, "TypeError: Do not know how to serialize a BigInt");
  EXPECT_EQ(Returned("(() => { const a = {}; a.a = a; return a; })()").text.substr(0, 20),
            "TypeError: Convertin");
  EXPECT_EQ(Returned("{get a() { throw new RangeError('no'); }}").text, "RangeError: no");
}

// Whichever word is the first that has no room.
TEST_F(ValuesTest, ResultsOfAnySize) {
  const auto runtime = Start(
      "function main(n) { let value = Array(n).fill(true);"
      "  for (let i = 0; i < 12; ++i) value = i % 2 ? [value] : {a: value}; return value; }");
  bool packed = false;
  bool not_packed = false;
  for (int n = 440; n < 520; ++n) {
    const Told told = Tell(*runtime, n);
    (told.packed ? packed : not_packed) = true;
    const json::Value value = *json::Parse(told.text);
    const json::Value* inner = told.packed ? &value : &value["text"];
    for (int i = 11; i >= 0; --i) inner = i % 2 ? &(*inner)[0] : &(*inner)["a"];
    ASSERT_EQ(inner->size(), static_cast<size_t>(n));
  }
  EXPECT_TRUE(packed && not_packed);
}

TEST_F(ValuesTest, WhatPromisesDoIsInTheResult) {
  for (const char* const name : {"name", "nämé"}) {
    const Told told =
        Tell(*Start("function main() { const r = {}; Promise.resolve(5).then((v) => { r." +
                    std::string(name) + " = v; }); return r; }"));
    EXPECT_NE(told.text.find("\"" + std::string(name) + "\":5"), std::string::npos) << told.text;
  }
}

TEST_F(ValuesTest, NoProgramMakesTextThatIsNone) {
  const auto runtime = Start(
      "String.prototype.charCodeAt = () => -1;"
      "function main() { return 'text'; }");
  EXPECT_EQ(Tell(*runtime).text, R"({"text":"text"})");
}

TEST_F(ValuesTest, NoProgramGetsTheArrays) {
  const auto runtime = Start(
      "const seen = [];"
      "Object.defineProperty(Object.getPrototypeOf(Int8Array.prototype), 'length',"
      "  {get() { seen.push(this.constructor.name); return 8; }});"
      "function main() { return {seen: seen.length}; }");
  EXPECT_EQ(Tell(*runtime).text, R"({"seen":0})");
  EXPECT_EQ(Tell(*runtime).text, R"({"seen":0})");
}

TEST_F(ValuesTest, NumbersThatJsonHasNotAreTheSameEachTime) {
  const auto runtime =
      Start("function main(value) { return Object.is(value.n, 0) ? 0 : value.n; }");
  for (const double number :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), -0.0}) {
    const json::Value value = json::Value::Object({{"n", number}});
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(Tell(*runtime, value).text, number == 0 ? "0" : "null") << number << " " << i;
    }
  }
}

TEST_F(ValuesTest, AToJsonOfAllObjectsIsAsked) {
  const auto runtime = Start(
      "Object.defineProperty(Object.prototype, 'toJSON', {value: () => 'all'});"
      "function main() { return {own: 1}; }");
  EXPECT_EQ(Tell(*runtime).text, R"("all")");
}

TEST_F(ValuesTest, WhatAProgramGivesToAllObjectsIsNotInResults) {
  const auto runtime =
      Start("Object.prototype.all = 1; function main() { return {own: 1, deep: {}}; }");
  EXPECT_EQ(Tell(*runtime).text, R"({"text":{"own":1,"deep":{}}})");
}

TEST_F(ValuesTest, AResultIsOfItsCallOnly) {
  const auto runtime = Start("function main(n) { if (n === 1) throw new Error('one'); return n; }");
  EXPECT_EQ(Tell(*runtime, 0).text, "0");
  EXPECT_EQ(Tell(*runtime, 1).text, "Error: one");
  EXPECT_EQ(Tell(*runtime, "ä").text, R"({"text":"ä"})");
}

TEST_F(ValuesTest, PiecesMakeTheSameValueEachTime) {
  const auto runtime = Start("function main(value) { return JSON.stringify(value); }");
  for (const char* const text : {
           R"(null)",
           R"("text")",
           R"(12)",
           R"(9007199254740993)",
           R"(0.25)",
           R"([1,{"a":2}])",
           R"({})",
           R"({"n":0,"user":"me"})",
           R"({"user":"me","n":0})",
           R"({"n":{"user":"me","n":{}},"list":[1,2],"none":null,"yes":true})",
           R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8})",
           R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9})",
           R"({"__proto__":1,"a":2})",
           R"({"1":"one","0":"zero","x":"y"})",
           R"({"\"}; throw 1; {\"":1,"line\u2028":"\u0000"})",
           R"({"":"empty","ä":"ö"})",
       }) {
    const json::Value value = *json::Parse(text);
    const std::string expected = Returned("JSON.stringify(" + std::string(text) + ")").text;
    const bool is_proto = std::string_view(text).find("__proto__") != std::string_view::npos;
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(OfText(Tell(*runtime, value).text), is_proto ? text : OfText(expected)) << i;
    }
  }
}

TEST_F(ValuesTest, ObjectsOfOneShapeAreNotTheSameObject) {
  const auto runtime =
      Start("function main(value) { value.seen = (value.seen ?? 0) + 1; return value; }");
  const json::Value value = *json::Parse(R"({"a":1})");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Tell(*runtime, value).text, R"({"a":1,"seen":1})");
}

TEST_F(ValuesTest, ManyShapes) {
  const auto runtime = Start("function main(value) { return value; }");
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 300; ++i) {
      const std::string name = "name" + std::to_string(i);
      const json::Value value = json::Value::Object({{name, i}});
      ASSERT_EQ(Tell(*runtime, value).text, json::ToText(value));
    }
  }
}

TEST(PackedResultTest, WhatIsWrittenIsNotTrusted) {
  const auto read = [](std::initializer_list<double> words) {
    PackedResult packed;
    std::copy(words.begin(), words.end(), packed.words().begin());
    return packed.Value().has_value();
  };
  EXPECT_TRUE(read({2, 0}));
  EXPECT_TRUE(read({4, 5, 0, -1}));
  EXPECT_FALSE(read({0, 0}));
  EXPECT_FALSE(read({-1, 0}));
  EXPECT_FALSE(read({1e9, 0}));
  EXPECT_FALSE(read({std::numeric_limits<double>::quiet_NaN(), 0}));
  EXPECT_FALSE(read({2, 99}));
  EXPECT_FALSE(read({2, 3}));  // no number
  EXPECT_FALSE(read({3, 3, std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(read({3, 4, 1e6}));  // no such text
  EXPECT_FALSE(read({3, 4, -1}));
  EXPECT_FALSE(read({3, 5, 0}));  // no end
  EXPECT_FALSE(read({3, 6, 0}));
  PackedResult deep;
  std::fill(deep.words().begin(), deep.words().end(), 5.0);
  deep.words()[0] = 512;
  EXPECT_FALSE(deep.Value().has_value());
}

}  // namespace
}  // namespace sluice::js
