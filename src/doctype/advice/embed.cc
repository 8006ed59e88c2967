#include "doctype/advice/embed.h"

#include <algorithm>

#include "doctype/advice/report.h"
#include "doctype/advice/statistics.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Status EmbedAdvice::Add(std::string_view document) {
  ASSIGN_OR_RETURN(const Value value, json::Parse(document));
  ++documents_;
  document_bytes_ = document.size();
  for (const json::Field& field : value.fields()) {
    Visit(field.value, FieldBelow("", field.name()));
  }
  return OkStatus();
}

void EmbedAdvice::Visit(const Value& value, const std::string& path) {
  const bool list = value.is_array() && value.size() > 0 && value[0].is_object();
  const bool map = maps_.contains(path);
  if (list || value.is_object()) AddCandidate(value, path);
  for (const json::Field& field : value.fields()) {
    if (map) {
      for (const json::Field& inner : field.value.fields()) {
        Visit(inner.value, FieldBelow(path + ".*", inner.name()));
      }
    } else {
      Visit(field.value, FieldBelow(path, field.name()));
    }
  }
  for (const Value& item : value.items()) {
    for (const json::Field& field : item.fields()) {
      Visit(field.value, FieldBelow(path + "[]", field.name()));
    }
  }
}

void EmbedAdvice::AddCandidate(const Value& value, const std::string& path) {
  if (candidates_.size() >= kMaxPaths && !candidates_.contains(path)) return;
  Candidate& candidate = candidates_[path];
  if (candidate.seen_by != documents_) {
    ++candidate.documents;
    candidate.document_bytes += document_bytes_;
  }
  candidate.seen_by = documents_;
  candidate.bytes += json::ToText(value).size();
  if (value.is_object() && !maps_.contains(path)) return AddObject(value, &candidate);
  ++candidate.arrays;
  candidate.longest = std::max<uint64_t>(candidate.longest, value.size());
  for (const Value& item : value.items()) AddObject(item, &candidate);
  for (const json::Field& field : value.fields()) AddObject(field.value, &candidate);
}

void EmbedAdvice::AddObject(const Value& object, Candidate* candidate) {
  ++candidate->objects;
  if (remembered_ >= kMaxObjects || !object.is_object()) return;
  if (json::ToText(object).size() < kLeastDuplicateBytes) return;
  const auto [found, added] = candidate->hashes.emplace(object.Hash(), documents_);
  remembered_ += added;
  if (!added && found->second != documents_) ++candidate->duplicates;
}

EmbedVerdict EmbedAdvice::Judge(const std::string& path, const Candidate& candidate,
                                const PathTraffic& traffic) const {
  EmbedVerdict verdict;
  verdict.path = path;
  verdict.documents = candidate.documents;
  verdict.longest = std::max<uint64_t>(candidate.longest, candidate.arrays == 0 ? 1 : 0);
  verdict.mean_elements = candidate.arrays == 0 ? 1 : Ratio(candidate.objects, candidate.arrays);
  verdict.share_of_bytes = Ratio(candidate.bytes, candidate.document_bytes);
  verdict.duplicated = Ratio(candidate.duplicates, candidate.objects);
  verdict.traffic = traffic;
  verdict.reference = true;
  constexpr double kMostly = 0.5;
  if (verdict.longest >= kManyElements) {
    verdict.rule = "unbounded arrays are not embedded";
  } else if (verdict.duplicated > kMostly && candidate.objects > 1) {
    verdict.rule = "many-to-many: the same data is in several documents";
  } else if (Ratio(traffic.updates_longer, traffic.updates) > kMostly) {
    verdict.rule = "unbounded arrays are not embedded: most updates make it longer";
  } else if (Ratio(traffic.updates_alone, traffic.updates) > kMostly) {
    verdict.rule = "it changes often, and by itself";
  } else if (verdict.longest > kFewElements) {
    verdict.rule = "one-to-many relations are not embedded";
  } else {
    verdict.reference = false;
    verdict.rule = candidate.arrays == 0 ? "it belongs to the document" : "one-to-few";
  }
  return verdict;
}

std::vector<EmbedVerdict> EmbedAdvice::Finish(
    const std::map<std::string, PathTraffic>& traffic) const {
  std::vector<EmbedVerdict> verdicts;
  for (const auto& [path, candidate] : candidates_) {
    const auto found = traffic.find(path);
    verdicts.push_back(
        Judge(path, candidate, found == traffic.end() ? PathTraffic{} : found->second));
  }
  return verdicts;
}

std::string ToText(const std::vector<EmbedVerdict>& verdicts) {
  constexpr size_t kBar = 10;
  std::vector<std::vector<std::string>> rows;
  for (const EmbedVerdict& verdict : verdicts) {
    rows.push_back(
        {verdict.path, verdict.reference ? "reference" : "embed",
         fmt::format("{}", verdict.documents), fmt::format("{:.1f}", verdict.mean_elements),
         fmt::format("{}", verdict.longest), Bar(verdict.share_of_bytes, kBar),
         fmt::format("{:.0f}%", verdict.duplicated * 100),
         verdict.traffic.updates == 0
             ? "-"
             : fmt::format("{}/{}", verdict.traffic.updates_alone, verdict.traffic.updates),
         verdict.traffic.updates == 0
             ? "-"
             : fmt::format("{}/{}", verdict.traffic.updates_longer, verdict.traffic.updates),
         verdict.rule});
  }
  return Table({"PATH", "VERDICT", "DOCUMENTS", "MEAN", "MOST", "OF BYTES", "DUPLICATED",
                "UPDATED ALONE", "GROWN", "WHY"},
               rows);
}

Value ToJson(const std::vector<EmbedVerdict>& verdicts) {
  Value out = Value::EmptyArray();
  for (const EmbedVerdict& verdict : verdicts) {
    out.Append(
        Value::Object({{"path", verdict.path},
                       {"verdict", verdict.reference ? "reference" : "embed"},
                       {"rule", verdict.rule},
                       {"documents", static_cast<int64_t>(verdict.documents)},
                       {"mean_elements", verdict.mean_elements},
                       {"longest", static_cast<int64_t>(verdict.longest)},
                       {"share_of_bytes", verdict.share_of_bytes},
                       {"duplicated", verdict.duplicated},
                       {"updates_alone", static_cast<int64_t>(verdict.traffic.updates_alone)},
                       {"updates_longer", static_cast<int64_t>(verdict.traffic.updates_longer)},
                       {"updates", static_cast<int64_t>(verdict.traffic.updates)},
                       {"joins", static_cast<int64_t>(verdict.traffic.joins)}}));
  }
  return out;
}

}  // namespace sluice::doctype
