// What tests of functions need: a FunctionContext that stands still, and tables of calls.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "json/parse.h"
#include "json/print.h"
#include "query/functions/function.h"

namespace sluice::query {

class TestContext final : public FunctionContext {
 public:
  int64_t statement_time_us() const override { return statement_us; }
  int64_t wall_time_us() const override { return wall_us; }
  const std::string& time_zone() const override { return zone; }
  uint64_t Random() override { return ++random; }
  const std::string& user() const override { return user_name; }
  void Warn(QueryCode code, std::string message) override {
    warnings.push_back({code, std::move(message)});
  }
  void Fail(Status status) override {
    if (failure.ok()) failure = std::move(status);
  }
  bool Allow(size_t bytes) override {
    if (bytes <= limit_bytes) return true;
    Fail(QueryError(QueryCode::kMemoryQuota, "the statement needs more than its memory"));
    return false;
  }
  bool Spend(size_t steps) override {
    spent += steps;
    if (spent <= limit_steps) return true;
    Fail(QueryError(QueryCode::kTimeout, "Timeout exceeded"));
    return false;
  }
  const re2::RE2* Regex(std::string_view pattern, Match match) override {
    auto& compiled = patterns_[{std::string(pattern), match}];
    if (compiled == nullptr) {
      const std::string text =
          match == Match::kWhole ? fmt::format("^(?:{})$", pattern) : std::string(pattern);
      compiled = std::make_unique<re2::RE2>(text, re2::RE2::Quiet);
    }
    if (compiled->ok()) return compiled.get();
    Fail(QueryError(QueryCode::kEvaluation, "no regular expression: {}", compiled->error()));
    return nullptr;
  }

  int64_t statement_us = 1'700'000'000'123'000;  // 2023-11-14T22:13:20.123Z
  int64_t wall_us = 1'700'000'001'456'000;
  std::string zone = "UTC";
  std::string user_name = "Administrator";
  uint64_t random = 0;
  size_t limit_bytes = 1 << 20;
  size_t limit_steps = SIZE_MAX;
  size_t spent = 0;
  std::vector<Warning> warnings;
  Status failure;

 private:
  std::map<std::pair<std::string, Match>, std::unique_ptr<re2::RE2>> patterns_;
};

// MISSING, in tables of calls.
inline const Value kMissing;

// What an expression does: finds the function, checks the number of arguments, lets MISSING and
// NULL through where the function does not want to see them.
inline Value Call(FunctionContext& context, std::string_view name, const std::vector<Value>& args) {
  const ScalarFunction* function = FindFunction(name);
  if (function == nullptr) {
    ADD_FAILURE() << "no function " << name;
    return nullptr;
  }
  EXPECT_GE(args.size(), function->min_args) << name;
  if (function->max_args != kAnyNumber) {
    EXPECT_LE(args.size(), function->max_args) << name;
  }
  std::vector<const Value*> pointers;
  bool missing = false, null = false;
  for (const Value& arg : args) {
    pointers.push_back(&arg);
    missing |= arg.is_missing();
    null |= arg.is_null();
  }
  if (function->unknowns == Unknowns::kPropagate) {
    if (missing) return {};
    if (null) return nullptr;
  }
  return function->body(context, pointers);
}

inline std::string ShowValue(const Value& value) {
  return value.is_missing() ? "MISSING" : json::ToText(value);
}

// One row: name(args) is `expected`, which is compared as it prints.
struct CallCase {
  std::string_view name;
  std::vector<Value> args;
  Value expected;
};

inline void CheckCalls(FunctionContext& context, std::initializer_list<CallCase> cases) {
  for (const CallCase& row : cases) {
    std::string shown(row.name);
    for (const Value& arg : row.args) shown += " " + ShowValue(arg);
    EXPECT_EQ(ShowValue(Call(context, row.name, row.args)), ShowValue(row.expected)) << shown;
  }
}

// No statement fails, no warning is given.
inline void CheckCalls(std::initializer_list<CallCase> cases) {
  TestContext context;
  CheckCalls(context, cases);
  EXPECT_TRUE(context.failure.ok()) << context.failure.ToString();
  EXPECT_TRUE(context.warnings.empty());
}

// One row as text: the arguments are a JSON array in which the string "MISSING" stands for MISSING,
// and so is the expected value, in which it stands alone.
struct TextCase {
  std::string_view name;
  std::string_view args;
  std::string_view expected;
};

inline Value FromText(std::string_view text) {
  const auto value = json::Parse(text);
  if (!value) ADD_FAILURE() << "no JSON: " << text;
  return value ? *value : Value(nullptr);
}

// The expected text is compared with what the result prints as.
inline void CheckTexts(FunctionContext& context, std::initializer_list<TextCase> cases) {
  for (const TextCase& row : cases) {
    std::vector<Value> args;
    const Value list = FromText(row.args);
    for (const Value& arg : list.items()) {
      args.push_back(arg.is_string() && arg.AsString() == "MISSING" ? Value() : arg);
    }
    EXPECT_EQ(ShowValue(Call(context, row.name, args)), row.expected) << row.name << row.args;
  }
}

inline void CheckTexts(std::initializer_list<TextCase> cases) {
  TestContext context;
  CheckTexts(context, cases);
  EXPECT_TRUE(context.failure.ok()) << context.failure.ToString();
  EXPECT_TRUE(context.warnings.empty());
}

// Every argument of the call `good` in turn: MISSING makes MISSING, NULL and a value of another
// type (`wrong`, one per argument) make NULL.
inline void CheckUnknowns(std::string_view name, const std::vector<Value>& good,
                          const std::vector<Value>& wrong) {
  TestContext context;
  ASSERT_EQ(good.size(), wrong.size()) << name;
  for (size_t i = 0; i < good.size(); ++i) {
    const auto with = [&](Value value) {
      std::vector<Value> args = good;
      args[i] = std::move(value);
      return ShowValue(Call(context, name, args));
    };
    EXPECT_EQ(with({}), "MISSING") << name << " argument " << i;
    EXPECT_EQ(with(nullptr), "null") << name << " argument " << i;
    EXPECT_EQ(with(wrong[i]), "null") << name << " argument " << i;
  }
  EXPECT_TRUE(context.failure.ok()) << context.failure.ToString();
}

}  // namespace sluice::query
