// Test files with statements and their expected answers, as a user could write them.
//
//   # a comment
//   > SELECT 1 + 1 AS x                   a statement; more lines of it begin with two blanks
//   {"x":2}                               its rows, one a line, in this order
//   unordered                             (before the rows) in any order
//   error 3000 expected an expression     its error: the number and a part of the message
//   warning 5036                          a warning among those it gives
//   ~ 3                                   how many documents it wrote
//   plan IndexScan index="i"              what EXPLAIN of it shows somewhere in its tree (\n: a new
//   line)
//
// A line `@args [..]` or `@args {..}` before a statement gives it parameters, `@context a.b` a
// query context and `@dialect comdb2` Comdb2's rules for the rest of the file. Each file has a
// database of its own.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "json/parse.h"
#include "query/engine.h"
#include "query/result_text.h"

namespace sluice::query {

struct Case {
  int line = 0;
  std::string statement;
  Value arguments;
  QueryContext context;
  std::vector<std::string> rows;
  bool unordered = false;
  int error = 0;
  std::string error_text;
  std::vector<int> warnings;
  std::optional<uint64_t> mutations;
  std::vector<std::string> plan;
};

class CaseReader {
 public:
  explicit CaseReader(std::istream& in) : in_(in) {}

  std::vector<Case> Read() {
    std::string line;
    for (int number = 1; std::getline(in_, line); ++number) Take(line, number);
    return std::move(cases_);
  }

 private:
  void Take(const std::string& line, int number) {
    const bool in_statement = std::exchange(in_statement_, false);
    if (line.empty() || line.starts_with('#')) return;
    if (line.starts_with("> ")) {
      cases_.push_back({.line = number, .statement = line.substr(2)});
      cases_.back().arguments = std::exchange(arguments_, Value());
      cases_.back().context = context_;
      in_statement_ = true;
    } else if (in_statement && line.starts_with("  ")) {
      cases_.back().statement += "\n" + line;
      in_statement_ = true;
    } else if (line.starts_with("@args ")) {
      arguments_ = *json::Parse(line.substr(6));
    } else if (line.starts_with("@context ")) {
      context_ = *QueryContext::Parse(line.substr(9));
    } else if (line == "@dialect comdb2") {
      context_.dialect = Dialect::kComdb2;
    } else {
      TakeExpectation(line, number);
    }
  }

  void TakeExpectation(const std::string& line, int number) {
    ASSERT_FALSE(cases_.empty()) << "line " << number << " stands before any statement";
    Case& last = cases_.back();
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (line == "unordered") {
      last.unordered = true;
    } else if (first == "error") {
      words >> last.error >> std::ws;
      std::getline(words, last.error_text);
    } else if (first == "warning") {
      words >> last.warnings.emplace_back();
    } else if (first == "~") {
      words >> last.mutations.emplace();
    } else if (first == "plan") {
      last.plan.push_back(line.substr(5));
      for (size_t at = 0; (at = last.plan.back().find("\\n", at)) != std::string::npos;) {
        last.plan.back().replace(at, 2, "\n");
      }
    } else {
      auto row = json::Parse(line);
      ASSERT_TRUE(row) << "line " << number << " is no JSON: " << row.error().message();
      last.rows.push_back(ResultText(*row));
    }
  }

  std::istream& in_;
  bool in_statement_ = false;
  Value arguments_;
  QueryContext context_;
  std::vector<Case> cases_;
};

// The answer of a statement, in the form of a test file.
struct Answer {
  std::vector<std::string> rows;
  std::vector<Status> errors;
  std::vector<Warning> warnings;
  uint64_t mutations = 0;
};

inline Answer Ask(QueryEngine& engine, const Case& test) {
  Answer answer;
  RunRequest request;
  for (const Value& item : test.arguments.items()) request.positional.push_back(item);
  for (const json::Field& field : test.arguments.fields()) {
    request.named[std::string(field.name())] = field.value;
  }
  auto run = engine.Query(test.statement, test.context, std::move(request));
  if (!run) {
    answer.errors.push_back(run.error());
    return answer;
  }
  while ((*run)->Next()) answer.rows.push_back(ResultText((*run)->row()));
  if (!(*run)->status().ok()) answer.errors.push_back((*run)->status());
  for (const Status& error : (*run)->row_errors()) answer.errors.push_back(error);
  answer.warnings = (*run)->warnings();
  answer.mutations = (*run)->mutations();
  return answer;
}

inline std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline void Check(const Case& test, Answer answer) {
  SCOPED_TRACE(fmt::format("line {}: {}", test.line, test.statement));
  if (test.error != 0) {
    ASSERT_FALSE(answer.errors.empty()) << "no error, but rows:\n" << Joined(answer.rows);
    const Status& error = answer.errors[0];
    EXPECT_EQ(static_cast<int>(CodeOf(error)), test.error) << error.ToString();
    EXPECT_NE(error.message().find(test.error_text), std::string::npos) << error.message();
  } else {
    EXPECT_TRUE(answer.errors.empty()) << answer.errors[0].ToString();
  }
  std::vector<std::string> expected = test.rows;
  if (test.unordered) {
    std::ranges::sort(expected);
    std::ranges::sort(answer.rows);
  }
  EXPECT_EQ(Joined(answer.rows), Joined(expected));
  for (const int number : test.warnings) {
    EXPECT_TRUE(std::ranges::any_of(
        answer.warnings,
        [&](const Warning& warning) { return static_cast<int>(warning.code) == number; }))
        << "no warning " << number;
  }
  if (test.warnings.empty() && !answer.warnings.empty()) {
    ADD_FAILURE() << "unexpected warning: " << answer.warnings[0].message;
  }
  EXPECT_EQ(answer.mutations, test.mutations.value_or(answer.mutations));
}

inline void CheckPlan(QueryEngine& engine, const Case& test) {
  if (test.plan.empty()) return;
  auto run = engine.Query("EXPLAIN " + test.statement, test.context, {});
  ASSERT_TRUE(run) << run.error().ToString();
  ASSERT_TRUE((*run)->Next());
  const std::string tree((*run)->row()["tree"].AsString());
  for (const std::string& part : test.plan) {
    EXPECT_NE(tree.find(part), std::string::npos)
        << "line " << test.line << ": no '" << part << "' in\n"
        << tree;
  }
}

// Runs all of a file's.
inline void RunTextCases(QueryEngine& engine, const std::string& path) {
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << path;
  const std::vector<Case> cases = CaseReader(file).Read();
  ASSERT_FALSE(cases.empty());
  for (const Case& test : cases) {
    CheckPlan(engine, test);
    Check(test, Ask(engine, test));
  }
}

// The names of a directory's, without .test.
inline std::vector<std::string> TextCaseFiles(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".test") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace sluice::query
