#include "doctype/advice/advice.h"

#include <utility>

#include "base/quantity.h"
#include "doctype/stamps.h"
#include "json/parse.h"

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

Status Advice::Look(std::string_view document) {
  ASSIGN_OR_RETURN(const json::Value value, json::Parse(document));
  if (!shape_) shape_.emplace();
  if (value.is_object()) shape_->Add(value);
  return OkStatus();
}

Status Advice::Add(std::string_view key, std::string_view document) {
  if (shape_) {
    const std::set<std::string> maps = shape_->MapPaths();
    shape_.reset();
    sample_.SetMaps(maps);
    embed_.SetMaps(maps);
  }
  RETURN_IF_ERROR(sample_.Add(key, document));
  const TypeSet::Match match = set_.Find(key, document);
  if (match.type != nullptr && !match.revision) {
    Typed& seen = typed_[match.type->name];
    ++seen.documents;
    const std::string version = SchemaVersion(*match.type, document);
    const bool current = version == match.type->schema ||
                         (version.empty() && match.type->unversioned == match.type->schema);
    if (match.type->properties.uses(Stamp::kSchema) && !current) ++seen.old;
    if (document.size() > seen.largest) {
      seen.largest = document.size();
      seen.largest_key = key;
    }
  }
  return embed_.Add(document);
}

// Rules about a type are those of the documents, if they have but one.
LintReport Advice::Report(LintOptions options, const Observed* observed) const {
  options = WithObserved(std::move(options), observed);
  if (types_.size() == 1) options.type = types_.front().get();
  LintReport report = Lint(sample_, options);
  if (types_.size() == 1) return report;
  for (const auto& type : types_) {
    const auto seen = typed_.find(type->name);
    if (seen != typed_.end()) AddTyped(*type, seen->second, &report);
  }
  return report;
}

void Advice::AddTyped(const Type& type, const Typed& seen, LintReport* report) const {
  const auto add = [&](std::string rule, std::string path, uint64_t documents, Risk risk,
                       std::string message) {
    Finding finding;
    finding.rule = std::move(rule);
    finding.path = std::move(path);
    finding.documents = documents;
    finding.share = static_cast<double>(documents) / static_cast<double>(report->documents);
    finding.risk = risk;
    finding.message = std::move(message);
    report->findings.push_back(std::move(finding));
  };
  if (seen.old > 0) {
    add("old-versions", type.properties.PathOf(Stamp::kSchema), seen.old, Risk::kLow,
        fmt::format("type '{}': not at the current version '{}': migrate them", type.name,
                    type.schema));
    report->findings.back().instead = "sluice types migrate " + type.name;
  }
  constexpr double kNearLimit = 0.8;
  const uint64_t limit = type.limits.bytes;
  if (limit > 0 && static_cast<double>(seen.largest) >= kNearLimit * static_cast<double>(limit)) {
    add("near-limit", "", 1, Risk::kHigh,
        fmt::format("type '{}': the largest document has {} bytes of {}: keep a part of it as a "
                    "document of its own",
                    type.name, seen.largest, FormatSizeBytes(limit)));
    report->findings.back().example = seen.largest_key;
  }
}

std::string Advice::ToText(LintOptions options, const Observed* observed) const {
  std::string text = doctype::ToText(Report(std::move(options), observed));
  const auto verdicts = embed_.Finish(PathsOf(observed));
  if (!verdicts.empty()) text += "\n" + doctype::ToText(verdicts);
  if (observed != nullptr) text += "\n" + doctype::ToText(*observed, JudgeJoins(*observed));
  return text;
}

json::Value Advice::ToJson(LintOptions options, const Observed* observed) const {
  json::Value all = doctype::ToJson(Report(std::move(options), observed));
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
