#include "doctype/advice/observed.h"

#include <algorithm>
#include <utility>

#include "doctype/advice/report.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr size_t kMaxNames = 50'000;
constexpr size_t kMaxNameBytes = 100;

Value CountsJson(const std::map<std::string, uint64_t>& counts) {
  Value out = Value::EmptyObject();
  for (const auto& [name, count] : counts) out.Set(name, Value::Unsigned(count));
  return out;
}

uint64_t NumberOf(const Value& value) {
  return value.is_int() && value.AsInt() > 0 ? static_cast<uint64_t>(value.AsInt()) : 0;
}

std::string TextOf(const Value& value) {
  return value.is_string() ? std::string(value.AsString()) : std::string();
}

std::map<std::string, uint64_t> CountsOf(const Value& value) {
  std::map<std::string, uint64_t> counts;
  for (const json::Field& field : value.fields()) {
    counts.emplace(field.name(), NumberOf(field.value));
  }
  return counts;
}

Value JoinJson(const ObservedJoin& join) {
  return Value::Object({{"from", join.from},
                        {"path", join.path},
                        {"to", join.to},
                        {"runs", Value::Unsigned(join.runs)},
                        {"statements", Value::Unsigned(join.statements)},
                        {"updates", Value::Unsigned(join.updates)}});
}

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

JoinVerdict Judge(const ObservedJoin& join) {
  JoinVerdict verdict{.join = join};
  if (join.updates > join.runs) {
    verdict.rule = "related data that changes often is not embedded";
  } else if (join.runs * 2 < join.statements) {
    verdict.rule = "models that are mostly read apart are not embedded";
  } else {
    verdict.embed = true;
    verdict.rule = "embed data that is read together, if it is one-to-few";
  }
  return verdict;
}

}  // namespace

std::map<std::string, PathTraffic> Observed::Paths() const {
  std::map<std::string, PathTraffic> traffic;
  for (const auto& [field, count] : changed) traffic[field].updates = updates;
  for (const auto& [field, count] : alone) traffic[field].updates_alone = count;
  for (const auto& [field, count] : longer) traffic[field].updates_longer = count;
  for (const ObservedJoin& join : joins) {
    if (!join.path.empty()) traffic[join.path].joins += join.runs;
  }
  return traffic;
}

Value ToJson(const Observed& observed) {
  Value joins = Value::EmptyArray();
  for (const ObservedJoin& join : observed.joins) joins.Append(JoinJson(join));
  Value names = Value::EmptyArray();
  for (const std::string& name : observed.names) names.Append(Value(name));
  return Value::Object({{"since", observed.since},
                        {"seconds", Value::Unsigned(observed.seconds)},
                        {"statements", Value::Unsigned(observed.statements)},
                        {"whole_documents", Value::Unsigned(observed.whole)},
                        {"paths", CountsJson(observed.paths)},
                        {"updates", Value::Unsigned(observed.updates)},
                        {"changed", CountsJson(observed.changed)},
                        {"changed_alone", CountsJson(observed.alone)},
                        {"made_longer", CountsJson(observed.longer)},
                        {"joins", std::move(joins)},
                        {"sources", Value::Unsigned(observed.sources)},
                        {"names", std::move(names)},
                        {"complete", observed.complete}});
}

Result<Observed> ObservedFromJson(const Value& value) {
  if (!value["since"].is_string() || !value["paths"].is_object()) {
    return Fail(Code::kInvalidArgument, "cli.bad_answer",
                "the server did not report the observed use");
  }
  Observed observed;
  observed.since = TextOf(value["since"]);
  observed.statements = NumberOf(value["statements"]);
  observed.seconds = NumberOf(value["seconds"]);
  observed.whole = NumberOf(value["whole_documents"]);
  observed.paths = CountsOf(value["paths"]);
  observed.updates = NumberOf(value["updates"]);
  observed.changed = CountsOf(value["changed"]);
  observed.alone = CountsOf(value["changed_alone"]);
  observed.longer = CountsOf(value["made_longer"]);
  for (const Value& join : value["joins"].items()) {
    observed.joins.push_back({TextOf(join["from"]), TextOf(join["path"]), TextOf(join["to"]),
                              NumberOf(join["runs"]), NumberOf(join["statements"]),
                              NumberOf(join["updates"])});
  }
  observed.sources = NumberOf(value["sources"]);
  for (const Value& name : value["names"].items()) observed.names.insert(TextOf(name));
  observed.complete = value["complete"] == Value(true);
  return observed;
}

void AddNames(std::string_view code, std::set<std::string>* names) {
  size_t at = 0;
  while (at < code.size() && names->size() < kMaxNames) {
    if (!IsNamePart(code[at])) {
      ++at;
      continue;
    }
    const size_t start = at;
    while (at < code.size() && IsNamePart(code[at])) ++at;
    if (at - start <= kMaxNameBytes) names->emplace(code.substr(start, at - start));
  }
}

std::vector<JoinVerdict> JudgeJoins(const Observed& observed) {
  std::vector<JoinVerdict> verdicts;
  for (const ObservedJoin& join : observed.joins) verdicts.push_back(Judge(join));
  return verdicts;
}

std::string ToText(const Observed& observed, const std::vector<JoinVerdict>& joins) {
  std::string text = fmt::format(
      "Seen since the server's start at {}: {} runs of statements and reads of documents, {} "
      "updates "
      "looked at, {} texts of functions, procedures and flows.\n",
      observed.since, observed.statements, observed.updates, observed.sources);
  if (observed.whole > 0) {
    text += fmt::format(
        "{} of them read whole documents, so the report can't say which fields nobody reads.\n",
        observed.whole);
  } else if (!observed.complete) {
    text +=
        "There were more than the server keeps, so the report can't say which fields nobody "
        "reads.\n";
  } else if (!observed.KnowsReads()) {
    text += fmt::format(
        "The report names fields that nobody reads after {} runs of statements and a day.\n",
        Observed::kLeastStatements);
  }
  if (joins.empty()) return text;
  std::vector<std::vector<std::string>> rows;
  for (const JoinVerdict& verdict : joins) {
    const ObservedJoin& join = verdict.join;
    rows.push_back({join.from, join.path.empty() ? "-" : join.path, join.to,
                    verdict.embed ? "embed" : "reference", fmt::format("{}", join.runs),
                    fmt::format("{}", join.statements), fmt::format("{}", join.updates),
                    verdict.rule});
  }
  return text + "\n" +
         Table({"JOINED", "BY", "WITH", "VERDICT", "RUNS", "OF", "UPDATES", "WHY"}, rows);
}

Value ToJson(const std::vector<JoinVerdict>& joins) {
  Value out = Value::EmptyArray();
  for (const JoinVerdict& verdict : joins) {
    Value each = JoinJson(verdict.join);
    each.Set("verdict", verdict.embed ? "embed" : "reference");
    each.Set("rule", verdict.rule);
    out.Append(std::move(each));
  }
  return out;
}

}  // namespace sluice::doctype
