#include "json/subdoc.h"

#include <gtest/gtest.h>

namespace sluice::json {
namespace {

using Op = MutateSpec::Op;

// The document after one change, or the error's id.
std::string Mutated(std::string_view document, MutateSpec spec) {
  const auto result = Mutate(document, {&spec, 1});
  return result ? result->document : result.error().id();
}

std::string Found(std::string_view document, LookupSpec::Op op, std::string path) {
  const LookupSpec spec{op, std::move(path)};
  const auto results = Lookup(document, {&spec, 1});
  return results->front().status.ok() ? results->front().value : results->front().status.id();
}

constexpr std::string_view kDocument = R"({ "a" : {"b":[1, 2.50 ,{"c":"\u00e9"}]} , "n":7 })";

TEST(Lookup, GetExistsCount) {
  using Kind = LookupSpec::Op;
  EXPECT_EQ(Found(kDocument, Kind::kGet, "a.b[1]"), "2.50");
  EXPECT_EQ(Found(kDocument, Kind::kGet, "a.b[-1].c"), R"("\u00e9")");
  EXPECT_EQ(Found(kDocument, Kind::kGet, ""), kDocument);
  EXPECT_EQ(Found(kDocument, Kind::kExists, "n"), "true");
  EXPECT_EQ(Found(kDocument, Kind::kExists, "m"), "subdoc.path_not_found");
  EXPECT_EQ(Found(kDocument, Kind::kExists, "n.x"), "subdoc.path_mismatch");
  EXPECT_EQ(Found(kDocument, Kind::kCount, "a.b"), "3");
  EXPECT_EQ(Found(kDocument, Kind::kCount, "a"), "1");
  EXPECT_EQ(Found(kDocument, Kind::kCount, ""), "2");
  EXPECT_EQ(Found("[]", Kind::kCount, ""), "0");
  EXPECT_EQ(Found(kDocument, Kind::kCount, "n"), "subdoc.path_mismatch");
  EXPECT_EQ(Found(kDocument, Kind::kGet, "a["), "path.invalid");
  EXPECT_EQ(Found("{\"a\"", Kind::kGet, "a"), "json.invalid");
}

TEST(Lookup, EachSpecByItself) {
  const LookupSpec specs[] = {{LookupSpec::Op::kGet, "x"}, {LookupSpec::Op::kGet, "n"}};
  const auto results = Lookup(kDocument, specs);
  EXPECT_EQ((*results)[0].status.message(), "spec 0 (path 'x'): nothing is at this path");
  EXPECT_EQ((*results)[0].status.fields().at("spec"), "0");
  EXPECT_EQ((*results)[1].value, "7");
  EXPECT_EQ(Lookup("{}", std::vector<LookupSpec>(17)).error().id(), "subdoc.too_many_specs");
}

TEST(Mutate, Insert) {
  EXPECT_EQ(Mutated("{ }", {Op::kInsert, "a", " 1 "}), R"({"a":1 })");
  EXPECT_EQ(Mutated(R"({"a": 1 })", {Op::kInsert, "b", "{}"}), R"({"a": 1,"b":{} })");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "a.`x\"y`", "true"}),
            R"({ "a" : {"b":[1, 2.50 ,{"c":"\u00e9"}],"x\"y":true} , "n":7 })");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "n", "1"}), "subdoc.path_exists");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "n.x", "1"}), "subdoc.path_mismatch");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "x.y", "1"}), "subdoc.path_not_found");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "a.b[0]", "1"}), "subdoc.path_invalid");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "", "1"}), "subdoc.path_invalid");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "x", "1,"}), "json.invalid");
  EXPECT_EQ(Mutated(kDocument, {Op::kInsert, "x", ""}), "json.invalid");
}

TEST(Mutate, CreatePath) {
  EXPECT_EQ(Mutated("{}", {.op = Op::kUpsert, .path = "a.b.c", .value = "1", .create_path = true}),
            R"({"a":{"b":{"c":1}}})");
  EXPECT_EQ(Mutated(R"({"a":{}})",
                    {.op = Op::kArrayAppend, .path = "a.b", .value = "1", .create_path = true}),
            R"({"a":{"b":[1]}})");
  EXPECT_EQ(Mutated("{}", {.op = Op::kCounter, .path = "a.b", .delta = -3, .create_path = true}),
            R"({"a":{"b":-3}})");
  EXPECT_EQ(Mutated("{}", {.op = Op::kUpsert, .path = "a[0].c", .value = "1", .create_path = true}),
            "subdoc.path_not_found");
  EXPECT_EQ(Mutated(R"({"a":1})",
                    {.op = Op::kUpsert, .path = "a.b.c", .value = "1", .create_path = true}),
            "subdoc.path_mismatch");
}

TEST(Mutate, UpsertAndReplace) {
  EXPECT_EQ(Mutated(kDocument, {Op::kUpsert, "n", "[]"}),
            R"({ "a" : {"b":[1, 2.50 ,{"c":"\u00e9"}]} , "n":[] })");
  EXPECT_EQ(Mutated(R"({"a":1,"a":2})", {Op::kUpsert, "a", "3"}), R"({"a":1,"a":3})");
  EXPECT_EQ(Mutated(kDocument, {Op::kReplace, "a.b[1]", "3e0"}),
            R"({ "a" : {"b":[1, 3e0 ,{"c":"\u00e9"}]} , "n":7 })");
  EXPECT_EQ(Mutated(" 1 ", {Op::kReplace, "", "{}"}), " {} ");
  EXPECT_EQ(Mutated(kDocument, {Op::kReplace, "x", "1"}), "subdoc.path_not_found");
  EXPECT_EQ(Mutated(kDocument, {Op::kReplace, "a.b[3]", "1"}), "subdoc.path_not_found");
}

TEST(Mutate, Remove) {
  EXPECT_EQ(Mutated(R"({ "a":1 , "b":2 , "c":3 })", {Op::kRemove, "a"}), R"({ "b":2 , "c":3 })");
  EXPECT_EQ(Mutated(R"({ "a":1 , "b":2 , "c":3 })", {Op::kRemove, "b"}), R"({ "a":1 , "c":3 })");
  EXPECT_EQ(Mutated(R"({ "a":1 , "b":2 , "c":3 })", {Op::kRemove, "c"}), R"({ "a":1 , "b":2 })");
  EXPECT_EQ(Mutated(R"({ "a":1 })", {Op::kRemove, "a"}), R"({ })");
  EXPECT_EQ(Mutated(R"({"a":1,"b":2,"\u0061":3})", {Op::kRemove, "a"}), R"({"b":2})");
  EXPECT_EQ(Mutated("[1, 2, 3]", {Op::kRemove, "[0]"}), "[2, 3]");
  EXPECT_EQ(Mutated("[1, 2, 3]", {Op::kRemove, "[-1]"}), "[1, 2]");
  EXPECT_EQ(Mutated("[[1],[1]]", {Op::kRemove, "[1][0]"}), "[[1],[]]");
  EXPECT_EQ(Mutated("[1]", {Op::kRemove, "[1]"}), "subdoc.path_not_found");
  EXPECT_EQ(Mutated("[1]", {Op::kRemove, ""}), "subdoc.path_invalid");
}

TEST(Mutate, Arrays) {
  EXPECT_EQ(Mutated("[ 1 ]", {Op::kArrayAppend, "", "2"}), "[ 1,2 ]");
  EXPECT_EQ(Mutated("[ ]", {Op::kArrayAppend, "", "2"}), "[2 ]");
  EXPECT_EQ(Mutated("[ 1 ]", {Op::kArrayPrepend, "", "2"}), "[ 2,1 ]");
  EXPECT_EQ(Mutated("[ ]", {Op::kArrayPrepend, "", "2"}), "[2 ]");
  EXPECT_EQ(Mutated(R"({"a":[1, 3]})", {Op::kArrayInsert, "a[1]", "2"}), R"({"a":[1, 2,3]})");
  EXPECT_EQ(Mutated("[1]", {Op::kArrayInsert, "[1]", "2"}), "[1,2]");
  EXPECT_EQ(Mutated("[]", {Op::kArrayInsert, "[0]", "2"}), "[2]");
  EXPECT_EQ(Mutated("[1]", {Op::kArrayInsert, "[2]", "2"}), "subdoc.path_not_found");
  EXPECT_EQ(Mutated("[1]", {Op::kArrayInsert, "[-1]", "2"}), "subdoc.path_invalid");
  EXPECT_EQ(Mutated("[1]", {Op::kArrayInsert, "a", "2"}), "subdoc.path_invalid");
  EXPECT_EQ(Mutated("{}", {Op::kArrayInsert, "[0]", "2"}), "subdoc.path_mismatch");
  EXPECT_EQ(Mutated("{}", {Op::kArrayAppend, "", "2"}), "subdoc.path_mismatch");
  EXPECT_EQ(Mutated("{}", {Op::kArrayAppend, "a", "2"}), "subdoc.path_not_found");
  EXPECT_EQ(Mutated("[1]", {Op::kArrayAddUnique, "", "2"}), "[1,2]");
  EXPECT_EQ(Mutated(R"(["a",{"x":1,"y":2}])", {Op::kArrayAddUnique, "", R"({"y":2.0,"x":1})"}),
            "subdoc.path_exists");
}

TEST(Mutate, Counter) {
  const auto count = [](std::string_view document, int64_t delta) {
    return Mutated(document, {.op = Op::kCounter, .path = "n", .delta = delta});
  };
  EXPECT_EQ(count(R"({"n": 41 })", 1), R"({"n": 42 })");
  EXPECT_EQ(count(R"({"n":-5})", -1), R"({"n":-6})");
  EXPECT_EQ(count("{}", 5), R"({"n":5})");
  EXPECT_EQ(count(R"({"n":9223372036854775807})", 1), "subdoc.out_of_range");
  EXPECT_EQ(count(R"({"n":9223372036854775808})", 1), "subdoc.not_number");
  EXPECT_EQ(count(R"({"n":1.5})", 1), "subdoc.not_number");
  EXPECT_EQ(count(R"({"n":"1"})", 1), "subdoc.not_number");
  EXPECT_EQ(count("{}", 0), "subdoc.delta_invalid");
  EXPECT_EQ(Mutated("7", {.op = Op::kCounter, .path = "", .delta = 1}), "subdoc.path_invalid");
}

TEST(Mutate, AllSpecsOrNone) {
  const MutateSpec good[] = {
      {Op::kUpsert, "list", "[]"},
      {Op::kArrayAppend, "list", "\"x\""},
      {.op = Op::kCounter, .path = "n", .delta = 2},
      {Op::kRemove, "list[0]"},
  };
  const auto result = Mutate(R"({"n":1})", good);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->document, R"({"n":3,"list":[]})");
  EXPECT_EQ(result->values, (std::vector<std::string>{"", "", "3", ""}));

  const MutateSpec bad[] = {{Op::kUpsert, "a", "1"}, {Op::kRemove, "b"}};
  const auto failed = Mutate("{}", bad);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "spec 1 (path 'b'): nothing is at this path");
  EXPECT_EQ(failed.error().fields().at("spec"), "1");
  EXPECT_EQ(failed.error().code(), Code::kNotFound);
  EXPECT_EQ(Mutate("{}", std::vector<MutateSpec>(17)).error().id(), "subdoc.too_many_specs");
}

TEST(Mutate, ResultIsValidatedAsAWhole) {
  const std::string deep = std::string(128, '[') + std::string(128, ']');
  EXPECT_EQ(Mutated("{}", {Op::kInsert, "a", deep}), "json.too_deep");
  EXPECT_EQ(Mutated(R"({"a":1,"b":tru})", {Op::kUpsert, "a", "2"}), "json.invalid");
}

}  // namespace
}  // namespace sluice::json
