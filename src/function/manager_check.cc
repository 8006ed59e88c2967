// The checks before a definition is stored.
#include "function/managed_function.h"

namespace sluice::function {
namespace {

// Whether V8 gets the same code for both.
bool SameProgram(const Definition& old, const Definition& next) {
  return old.code == next.code && old.settings.handler_headers == next.settings.handler_headers &&
         old.settings.handler_footers == next.settings.handler_footers &&
         PrintDeployment(old, Secrets::kMasked) == PrintDeployment(next, Secrets::kMasked);
}

}  // namespace

Result<std::vector<std::string>> Manager::CheckStored(const Definition& definition) {
  std::vector<std::string> warnings = SettingWarnings(definition.settings);
  const auto old = Get(definition.Location());
  // A stored function can be stopped and configured even if its code would be refused now.
  if (old && SameProgram(*(*old)->current(), definition)) return warnings;
  ASSIGN_OR_RETURN(const Prepared prepared,
                   CheckCode(std::make_shared<const Definition>(definition)));
  for (const Warning& warning : prepared.source->facts.warnings) {
    warnings.push_back(fmt::format("{}.js:{}:{}: {}", definition.name, warning.place.line,
                                   warning.place.column, warning.text));
  }
  return warnings;
}

}  // namespace sluice::function
