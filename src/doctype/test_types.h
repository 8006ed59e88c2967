// Types for tests: the user of the reference, and short ways to read and change it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/status.h"
#include "doctype/problems.h"
#include "doctype/script_steps.h"
#include "doctype/type.h"
#include "doctype/type_reader.h"

namespace sluice::doctype {

// However slow the machine is.
constexpr ScriptLimits kPatient{.timeout_ms = 60'000};

using TestFiles = std::map<std::string, std::string>;

inline FileReader ReaderOf(TestFiles files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found != files.end()) return found->second;
    return Fail(Code::kNotFound, "type.unreadable_file", "there is no file '{}'", path);
  };
}

inline std::string Lines(const std::vector<Status>& problems) {
  std::string out;
  for (const Status& status : problems) out += status.ToString() + "\n";
  return out;
}

// The type of a text without errors.
inline std::shared_ptr<const Type> TypeOf(std::string_view text, const TestFiles& files = {}) {
  Problems problems;
  auto type = ReadType(text, "types/test.yaml", ReaderOf(files), &problems);
  EXPECT_TRUE(type) << Lines(problems.errors);
  return type ? std::make_shared<const Type>(std::move(*type)) : std::make_shared<const Type>();
}

// What is wrong with a text.
inline std::string ErrorsOf(std::string_view text, const TestFiles& files = {}) {
  Problems problems;
  EXPECT_FALSE(ReadType(text, "t.yaml", ReaderOf(files), &problems));
  return Lines(problems.errors);
}

inline constexpr std::string_view kUserType = R"(type: user
keyspace: app
match: { key: "user:{userId}", property: _type }
properties:
  type: _type
  schema: _schema
  version: _ver
  created: _created
  modified: _modified
  createdBy: _createdBy
  modifiedBy: _modifiedBy
  accessed: { name: _accessed, precision: 1h }
  geo: _geo
  precision: ms
schema: "3.0"
revisions: { keep: 3, max_age: 365d, key: "{key}:v:{version}", on_delete: keep }
limits: { bytes: 2KB, array: { phones: 2 }, depth: 4 }
)";

}  // namespace sluice::doctype
