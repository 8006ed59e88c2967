// The manual's trigger procedure, from the script that the tests of triggers run as it is printed.
#pragma once

#include <string>

#include "base/check.h"
#include "base/file.h"

namespace sluice::procedure {

// CREATE PROCEDURE audit ...; read from the project's directory.
inline std::string AuditProcedure() {
  const auto script = ReadFile("tests/triggers/audit/script.sql", 1 << 20);
  CHECK(script.has_value());
  const size_t from = script->find("CREATE PROCEDURE");
  const size_t to = script->find("}$$", from);
  CHECK(from != std::string::npos && to != std::string::npos);
  return script->substr(from, to + 1 - from);
}

}  // namespace sluice::procedure
