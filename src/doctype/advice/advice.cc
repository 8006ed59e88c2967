#include "doctype/advice/advice.h"

#include <utility>

namespace sluice::doctype {
namespace {

LintOptions WithObserved(LintOptions options, const Observed* observed) {
  if (observed == nullptr || !observed->KnowsReads()) return options;
  options.read_paths.emplace();
  for (const auto& [path, runs] : observed->paths) options.read_paths->insert(path);
  options.read_names = observed->names;
  return options;
}

std::map<std::string, PathTraffic> PathsOf(const Observed* observed) {
  return observed == nullptr ? std::map<std::string, PathTraffic>() : observed->Paths();
}

}  // namespace

std::string Advice::ToText(LintOptions options, const Observed* observed) const {
  std::string text = doctype::ToText(Lint(sample_, WithObserved(std::move(options), observed)));
  const auto verdicts = embed_.Finish(PathsOf(observed));
  if (!verdicts.empty()) text += "\n" + doctype::ToText(verdicts);
  if (observed != nullptr) text += "\n" + doctype::ToText(*observed, JudgeJoins(*observed));
  return text;
}

json::Value Advice::ToJson(LintOptions options, const Observed* observed) const {
  json::Value all = doctype::ToJson(Lint(sample_, WithObserved(std::move(options), observed)));
  all.Set("embed", doctype::ToJson(embed_.Finish(PathsOf(observed))));
  if (observed == nullptr) return all;
  all.Set("joins", doctype::ToJson(JudgeJoins(*observed)));
  json::Value seen = doctype::ToJson(*observed);
  seen.Remove("joins");
  seen.Remove("names");
  all.Set("observed", std::move(seen));
  return all;
}

}  // namespace sluice::doctype
