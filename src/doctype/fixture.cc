#include "doctype/fixture.h"

#include <algorithm>
#include <iterator>

#include "doctype/document_diff.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

Status CheckFixture(const Value& fixture) {
  const auto invalid = [](std::string_view message) {
    return Error(Code::kInvalidArgument, "fixture.invalid", "{}", message);
  };
  if (!fixture["key"].is_string() || !fixture["before"].is_object()) {
    return invalid("expected a key (a string) and a document 'before'");
  }
  const bool after = fixture["after"].is_object();
  const bool error = fixture["error"].is_string();
  if (after == error) return invalid("expected a document 'after', or the id of an 'error'");
  for (const json::Field& field : fixture.fields()) {
    const std::string_view name = field.name();
    constexpr std::string_view kNames[] = {"key", "before", "after", "error", "to", "stored"};
    if (std::ranges::find(kNames, name) == std::end(kNames)) {
      return invalid(fmt::format("there is no '{}' in a fixture", name));
    }
  }
  if (!fixture["stored"].is_missing() && !fixture["stored"].is_object()) {
    return invalid("'stored' is the document that a write replaces");
  }
  const Value& to = fixture["to"];
  return to.is_missing() || to.is_string() ? OkStatus() : invalid("'to' is a version, a string");
}

}  // namespace

Status RunFixture(MigrationRunner& runner, const Value& fixture) {
  RETURN_IF_ERROR(CheckFixture(fixture));
  const Value& to = fixture["to"];
  const std::string stored = fixture["stored"].is_object() ? json::ToText(fixture["stored"]) : "";
  const auto migrated =
      runner.Run(fixture["key"].AsString(), json::ToText(fixture["before"]),
                 {.to = to.is_string() ? to.AsString() : std::string_view(), .stored = stored});
  const Value& error = fixture["error"];
  if (!migrated) {
    const bool expected = error.is_string() && migrated.error().id() == error.AsString();
    return expected ? OkStatus() : migrated.error();
  }
  if (error.is_string()) {
    return Error(Code::kInvalidArgument, "fixture.different", "expected the error {}, found none",
                 error.AsString());
  }
  ASSIGN_OR_RETURN(const Value made, json::Parse(migrated->document));
  const auto changes = Diff(fixture["after"], made);
  if (changes.empty()) return OkStatus();
  return Error(Code::kInvalidArgument, "fixture.different",
               "the document is not as expected (-) but (+):\n{}", ToText(changes));
}

}  // namespace sluice::doctype
