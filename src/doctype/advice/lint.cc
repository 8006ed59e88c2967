#include "doctype/advice/lint.h"

#include <algorithm>

#include "base/quantity.h"
#include "doctype/advice/drafts.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

// Findings in fewer documents are noise.
constexpr double kLeastShare = 0.01;
constexpr double kDefaultShare = 0.9;
constexpr uint64_t kLeastForDefault = 20;
constexpr double kNearLimit = 0.8;
// Of fewer times it may be chance that they are whole minutes.
constexpr uint64_t kLeastForMinutes = 3;

// The coarsest precision in which all of them are whole; by_unit[0] has all.
size_t UnitOf(const Tally (&by_unit)[kUnits]) {
  size_t unit = 0;
  while (unit + 1 < kUnits && by_unit[unit + 1].values == by_unit[0].values &&
         (unit == 0 || by_unit[0].values >= kLeastForMinutes)) {
    ++unit;
  }
  return unit;
}

// "customerShippingAddress" to "custShipAddr".
std::string Abbreviated(std::string_view name) {
  constexpr size_t kLetters = 4;
  std::string out;
  size_t letters = 0;
  for (const char c : name) {
    const bool starts = (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || (c >= '0' && c <= '9');
    if (starts) letters = 0;
    if (letters++ < kLetters) out += c;
  }
  return out;
}

class Rules {
 public:
  Rules(const SampleStatistics& sample, const LintOptions& options)
      : sample_(sample), options_(options) {}

  std::vector<Finding> Run() {
    for (const auto& [path, at] : sample_.paths()) {
      AddIds(at);
      AddDates(at);
      AddNames(at);
      AddValues(at);
      AddShapes(at);
      AddUnread(at);
    }
    AddStamps();
    AddKeys();
    AddSizes();
    AddVersions();
    std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
      return a.bytes_saved > b.bytes_saved;
    });
    return std::move(findings_);
  }

 private:
  bool Enough(uint64_t documents) const {
    return documents > 0 &&
           static_cast<double>(documents) >= kLeastShare * static_cast<double>(sample_.documents());
  }

  Finding* Add(std::string_view rule, const std::string& path, uint64_t documents, uint64_t saved,
               Risk risk, std::string message) {
    Finding finding;
    finding.rule = rule;
    finding.path = path;
    finding.documents = documents;
    finding.share = static_cast<double>(documents) / static_cast<double>(sample_.documents());
    finding.bytes_saved = saved;
    finding.risk = risk;
    finding.message = std::move(message);
    findings_.push_back(std::move(finding));
    return &findings_.back();
  }

  // Steps, or JavaScript.
  struct Draft {
    Value step;
    std::string script;
  };

  void AddTally(std::string_view rule, const PathStatistics& at, const Tally& tally, Risk risk,
                std::string message, Draft draft) {
    if (!Enough(tally.documents)) return;
    Finding* const finding =
        Add(rule, at.path, tally.documents, tally.bytes, risk, std::move(message));
    finding->example = tally.example;
    if (!draft.step.is_missing()) finding->migration = Value::Array({std::move(draft.step)});
    finding->script = std::move(draft.script);
  }

  // Steps have no path for elements that are no objects: there `each` is said of v.
  static Draft Cast(const PathStatistics& at, std::string_view how, std::string_view each) {
    if (at.name.empty()) return {Value(), DraftMapElements(at.path, each)};
    return {Value::Object({{"cast", Value::Object({{at.path, how}})}}), ""};
  }

  // Of a few documents any field may have a key's value by chance.
  void AddIds(const PathStatistics& at) {
    if (at.ids.values * 10 < at.values * 9 || at.name.empty()) return;
    AddTally("repeated-id", at, at.ids, Risk::kMedium,
             "the document's key holds this value already",
             {Value::Object({{"drop", at.path}}), ""});
  }

  void AddDates(const PathStatistics& at) {
    const size_t iso = UnitOf(at.iso_dates);
    AddTally("iso-date", at, at.iso_dates[iso], Risk::kMedium,
             fmt::format("store it as an epoch in {}", kTimeUnits[iso].name),
             Cast(at, kTimeUnits[iso].of_text,
                  fmt::format("Math.floor(Date.parse(v) / {})", kTimeUnits[iso].ms)));
    AddTally("month-date", at, at.month_dates, Risk::kMedium, "store it as YYYY-MM-DD",
             Cast(at, "date", "new Date(v + ' UTC').toISOString().slice(0, 10)"));
    if (const size_t unit = UnitOf(at.epochs); unit > 0) {
      AddTally("fine-precision", at, at.epochs[unit], Risk::kMedium,
               fmt::format("always whole {0}: store {0}", kTimeUnits[unit].name),
               Cast(at, kTimeUnits[unit].of_epoch, fmt::format("v / {}", kTimeUnits[unit].ms)));
    }
    AddTally("guid-dashes", at, at.guids, Risk::kMedium, "leave out the dashes",
             Cast(at, "guid", "v.replaceAll('-', '')"));
  }

  void AddNames(const PathStatistics& at) {
    if (at.name.size() <= LintOptions::kLongName || !Enough(at.documents)) return;
    const std::string shorter = Abbreviated(at.name);
    if (shorter.size() >= at.name.size()) return;
    Finding* const finding =
        Add("long-name", at.path, at.documents, at.values * (at.name.size() - shorter.size()),
            Risk::kHigh, fmt::format("a shorter name, such as '{}'", shorter));
    finding->migration =
        Value::Array({Value::Object({{"rename", Value::Object({{at.path, shorter}})}})});
  }

  void AddValues(const PathStatistics& at) {
    if (!at.name.empty()) {
      AddTally("empty-value", at, at.empty, Risk::kLow, "leave the property out",
               {Value(), DraftDropEmpty(at.path)});
    }
    AddTally("repeated-element", at, at.repeated, Risk::kMedium,
             "every element has the same value: store it once beside the array",
             {Value(), DraftHoist(at.path)});
    uint64_t count = 0;
    const Value& top = at.frequent.Top(&count);
    const bool scalar = at.arrays + at.objects == 0 && !at.name.empty();
    const bool stamp = IsStamp(at);
    if (!scalar || stamp || top.is_missing() || top.is_null() || count < kLeastForDefault) return;
    if (top.is_string() && top.AsString().empty()) return;
    if (static_cast<double>(count) < kDefaultShare * static_cast<double>(at.values)) return;
    const std::string text = json::ToText(top);
    Finding* const finding =
        Add("default-value", at.path, std::min(count, at.documents),
            count * (at.name.size() + 4 + text.size()), Risk::kMedium,
            "nearly always this value: leave it out and let readers assume it");
    finding->example = text;
    finding->script = DraftDropValue(at.path, top);
  }

  bool IsStamp(const PathStatistics& at) const {
    constexpr std::string_view kUsual[] = {"type", "docType", "_type",  "_class",
                                           "kind", "_schema", "schema", "version"};
    if (std::ranges::find(kUsual, at.name) != std::end(kUsual)) return true;
    if (options_.type == nullptr) return false;
    for (size_t i = 0; i < kStamps; ++i) {
      if (options_.type->properties.PathOf(static_cast<Stamp>(i)) == at.path) return true;
    }
    return false;
  }

  void AddShapes(const PathStatistics& at) {
    if (at.longest >= LintOptions::kLongArray && !Limited(at)) {
      Finding* const finding =
          Add("unbounded-array", at.path, at.documents, 0, Risk::kHigh,
              fmt::format(
                  "the longest array has {} elements, the mean {:.1f}: limit it, or keep the "
                  "elements as documents of their own",
                  at.longest, static_cast<double>(at.elements) / static_cast<double>(at.arrays)));
      // A limit is said of one array of the document.
      if (at.path.find("[]") == std::string::npos) {
        finding->instead = fmt::format("limits: {{ array: {{ {}: {} }} }}",
                                       json::ToText(Value(at.path)), at.longest);
      }
    }
    std::string kinds;
    const auto add = [&](uint64_t count, std::string_view name) {
      if (count > 0) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, name);
    };
    add(at.booleans, "boolean");
    add(at.numbers, "number");
    add(at.strings, "string");
    add(at.arrays, "array");
    add(at.objects, "object");
    if (kinds.find(',') == std::string::npos) return;
    Finding* const finding = Add("mixed-types", at.path, at.documents, 0, Risk::kMedium,
                                 "values of several types: " + kinds);
    Draft draft = ToMostFrequentType(at);
    if (!draft.step.is_missing()) finding->migration = Value::Array({std::move(draft.step)});
    finding->script = std::move(draft.script);
  }

  static Draft ToMostFrequentType(const PathStatistics& at) {
    const uint64_t most = std::max({at.strings, at.numbers, at.booleans, at.arrays, at.objects});
    if (most == at.objects) return {};  // nobody knows which field of it a scalar would be
    if (most == at.arrays) return {Value(), DraftWrap(at.path)};
    if (most == at.strings) return Cast(at, "string", "String(v)");
    if (most == at.numbers) return Cast(at, "number", "Number(v)");
    return Cast(at, "boolean", "v === true || v === 1 || v === 'true'");
  }

  bool Limited(const PathStatistics& at) const {
    return options_.type != nullptr &&
           std::ranges::any_of(options_.type->limits.arrays, [&](const ArrayLimit& limit) {
             return limit.path.ToString() == at.path;
           });
  }

  void AddUnread(const PathStatistics& at) {
    if (!options_.read_paths || at.name.empty() || at.objects + at.arrays > 0) return;
    const bool read = std::ranges::any_of(*options_.read_paths, [&](const std::string& path) {
      // Reading an object or array reads what is in it.
      return at.path == path || (at.path.starts_with(path) &&
                                 (at.path[path.size()] == '.' || at.path[path.size()] == '['));
    });
    if (read || options_.read_names.contains(at.name)) return;
    Add("unread-field", at.path, at.documents, at.bytes, Risk::kHigh,
        "no query or function was seen to read it; whether clients do that read whole documents is "
        "not known")
        ->migration = Value::Array({Value::Object({{"drop", at.path}})});
  }

  // The largest share of documents that one of these properties is in.
  uint64_t Most(const std::vector<std::string>& paths) const {
    uint64_t most = 0;
    for (const std::string& path : paths) {
      const PathStatistics* const at = sample_.Find(path);
      if (at != nullptr) most = std::max(most, at->documents);
    }
    return most;
  }

  void AddStamps() {
    const bool typed = options_.type != nullptr;
    std::vector<std::string> types = {"type", "docType", "_type", "_class", "kind", "meta.type"};
    std::vector<std::string> versions = {"_schema", "schema",      "schemaVersion",
                                         "version", "meta.schema", "_schemaVersion"};
    if (typed && options_.type->properties.uses(Stamp::kType)) {
      types = {options_.type->properties.PathOf(Stamp::kType)};
    }
    if (typed && options_.type->properties.uses(Stamp::kSchema)) {
      versions = {options_.type->properties.PathOf(Stamp::kSchema)};
    }
    const uint64_t all = sample_.documents();
    if (Enough(all - Most(types))) {
      Add("no-type", "", all - Most(types), 0, Risk::kLow,
          fmt::format("nothing says what these documents are: add a property such as '{}'",
                      types.front()))
          ->instead = fmt::format("properties: {{ type: {} }}", types.front());
    }
    if (Enough(all - Most(versions))) {
      Add("no-version", "", all - Most(versions), 0, Risk::kLow,
          fmt::format(
              "nothing says which version these documents have: add a property such as '{}'",
              versions.front()))
          ->instead =
          fmt::format("properties: {{ schema: {} }}, schema: \"1.0\"", versions.front());
    }
    if (!options_.synchronised) return;
    for (const auto& [path, at] : sample_.paths()) {
      if (!path.starts_with('_') || path != at.name) continue;
      Finding* const finding = Add("root-underscore", path, at.documents, 0, Risk::kHigh,
                                   "documents with such a property do not synchronise");
      finding->migration = Value::Array(
          {Value::Object({{"rename", Value::Object({{path, std::string_view(path).substr(1)}})}})});
    }
  }

  void AddKeys() {
    const Tally& bare = sample_.keys_without_prefix();
    if (Enough(bare.documents)) {
      Finding* const finding = Add("key-prefix", "", bare.documents, 0, Risk::kHigh,
                                   "keys do not begin with a word that says what the document is");
      finding->example = bare.example;
      finding->instead = NewKeys("d.type || ':' || META(d).id",
                                 "d.type IS VALUED AND NOT REGEXP_CONTAINS(META(d).id, "
                                 "'^[A-Za-z]+[^A-Za-z0-9]')");
    }
    std::string used;
    uint64_t most = 0;
    uint64_t total = 0;
    std::string example;
    char usual = '\0';
    for (const auto& [delimiter, tally] : sample_.delimiters()) {
      if (delimiter == '\0') continue;
      used += fmt::format("{}'{}' in {}", used.empty() ? "" : ", ", delimiter, tally.documents);
      total += tally.documents;
      if (tally.documents > most) {
        most = tally.documents;
        usual = delimiter;
      } else {
        example = tally.example;
      }
    }
    if (total == most) return;
    Finding* const finding = Add("key-delimiters", "", total - most, 0, Risk::kHigh,
                                 "keys are divided by different characters: " + used);
    finding->example = example;
    finding->instead =
        NewKeys(fmt::format("REGEXP_REPLACE(META(d).id, '[^A-Za-z0-9]+', '{}', 1)", usual),
                fmt::format("REGEXP_CONTAINS(META(d).id, '^[A-Za-z0-9]+[^A-Za-z0-9{}]')", usual));
  }

  // Keys are no part of a document, so that no migration changes them. `of` must not hold for the
  // new keys.
  static std::string NewKeys(std::string_view key, std::string_view of) {
    return fmt::format(
        "INSERT INTO KEYSPACE (KEY k, VALUE v) SELECT {} AS k, d AS v FROM KEYSPACE AS d WHERE {}; "
        "DELETE FROM KEYSPACE AS d WHERE {}",
        key, of, of);
  }

  void AddSizes() {
    uint64_t limit = options_.limit_bytes;
    if (options_.type != nullptr && options_.type->limits.bytes > 0) {
      limit = options_.type->limits.bytes;
    }
    if (static_cast<double>(sample_.largest()) < kNearLimit * static_cast<double>(limit)) return;
    Add("near-limit", "", 1, 0, Risk::kHigh,
        fmt::format("the largest document has {} bytes of {}: keep a part of it as a document of "
                    "its own",
                    sample_.largest(), FormatSizeBytes(limit)))
        ->example = sample_.largest_key();
  }

  void AddVersions() {
    const Type* const type = options_.type;
    if (type == nullptr || !type->properties.uses(Stamp::kSchema)) return;
    const PathStatistics* const at = sample_.Find(type->properties.PathOf(Stamp::kSchema));
    if (at == nullptr) return;
    uint64_t current = 0;
    for (const auto& [value, count] : at->frequent.values()) {
      if (value.is_string() && value.AsString() == type->schema) current = count;
    }
    if (current >= at->values) return;
    Add("old-versions", at->path, at->values - current, 0, Risk::kLow,
        fmt::format("not at the current version '{}': migrate them", type->schema))
        ->instead = "sluice types migrate " + type->name;
  }

  const SampleStatistics& sample_;
  const LintOptions& options_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view RiskName(Risk risk) {
  constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<size_t>(risk)];
}

LintReport Lint(const SampleStatistics& sample, const LintOptions& options) {
  LintReport report;
  report.documents = sample.documents();
  report.bytes = sample.bytes();
  if (report.documents > 0) report.findings = Rules(sample, options).Run();
  return report;
}

}  // namespace sluice::doctype
