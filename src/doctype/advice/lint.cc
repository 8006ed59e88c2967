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
// With fewer values, whole minutes may be a coincidence.
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

// app._default._default to `app`.`_default`.`_default`.
std::string KeyspaceInSql(std::string_view name) {
  std::string out = "`";
  for (const char c : name) out += c == '.' ? std::string("`.`") : std::string(1, c);
  return out + "`";
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
      AddLarge(at);
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

  // The saving in the sample, scaled to the keyspace.
  uint64_t OfAll(uint64_t bytes) const {
    if (options_.documents_there <= sample_.documents()) return bytes;
    return static_cast<uint64_t>(static_cast<double>(bytes) *
                                 static_cast<double>(options_.documents_there) /
                                 static_cast<double>(sample_.documents()));
  }

  Finding* Add(std::string_view rule, const std::string& path, uint64_t documents, uint64_t saved,
               Risk risk, std::string message) {
    Finding finding;
    finding.rule = rule;
    finding.path = path;
    finding.documents = documents;
    finding.share = static_cast<double>(documents) / static_cast<double>(sample_.documents());
    finding.bytes_saved = OfAll(saved);
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
    SetDraft(at, std::move(draft), finding);
  }

  // No step goes to the values of a map.
  static void SetDraft(const PathStatistics& at, Draft draft, Finding* finding) {
    if (at.path.find(".*") != std::string::npos) return;
    if (!draft.step.is_missing()) finding->migration = Value::Array({std::move(draft.step)});
    finding->script = std::move(draft.script);
  }

  // Steps have no path for elements that are not objects; for these the draft is JavaScript, and
  // `each` is the code for an element v.
  static Draft Cast(const PathStatistics& at, std::string_view how, std::string_view each) {
    if (at.name.empty()) return {Value(), DraftMapElements(at.path, each)};
    return {Value::Object({{"cast", Value::Object({{at.path, how}})}}), ""};
  }

  // In a few documents a field may have a key's value by coincidence.
  bool IsId(const PathStatistics& at) const {
    return !IsStamp(at) && at.ids.values > 0 && at.ids.values * 10 >= at.values * 9 &&
           !at.name.empty();
  }

  void AddIds(const PathStatistics& at) {
    if (!IsId(at)) return;
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
    if (IsId(at)) return;  // without dashes it would not be the key's any more
    AddTally("guid-dashes", at, at.guids, Risk::kMedium, "leave out the dashes",
             Cast(at, "guid", "v.replaceAll('-', '')"));
    // Versions are texts: 1.10 is not 1.1.
    if (IsStamp(at)) return;
    if (at.number_texts.values < kLeastForDefault || at.number_texts.values < at.strings) return;
    AddTally("number-text", at, at.number_texts, Risk::kMedium,
             "a number in quotes: store it as a number, unless it is a name made of digits",
             Cast(at, "number", "Number(v)"));
  }

  void AddNames(const PathStatistics& at) {
    constexpr size_t kMost = LintOptions::kLongName;
    if (at.name.size() <= kMost || !Enough(at.documents)) return;
    Add("long-name", at.path, at.documents, at.values * (at.name.size() - kMost), Risk::kHigh,
        fmt::format("{} letters: a name of {} saves this, a shorter one more; the step 'rename' "
                    "does it",
                    at.name.size(), kMost));
  }

  void AddValues(const PathStatistics& at) {
    if (!at.name.empty() && at.name != kAnyName) {
      AddTally("empty-value", at, at.empty, Risk::kLow, "leave the property out",
               {Value(), DraftDropEmpty(at.path)});
    }
    AddTally("repeated-element", at, at.repeated, Risk::kMedium,
             "every element has the same value: store it once beside the array",
             {Value(), DraftHoist(at.path)});
    uint64_t count = 0;
    const Value& top = at.frequent.Top(&count);
    const bool scalar = at.arrays + at.objects == 0 && !at.name.empty() && at.name != kAnyName;
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
    SetDraft(at, {Value(), DraftDropValue(at.path, top)}, finding);
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
      // A limit of the type applies to one array of the document.
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
    SetDraft(at, ToOneType(at), finding);
  }

  // Only a draft that works for every value of the sample.
  static Draft ToOneType(const PathStatistics& at) {
    if (at.objects > 0) return {};  // it is unknown which field of the object a scalar would be
    if (at.arrays > 0) return {Value(), DraftWrap(at.path)};
    const bool numbers = at.booleans == 0 && at.number_texts.values == at.strings;
    if (numbers && at.numbers > at.strings) return Cast(at, "number", "Number(v)");
    return Cast(at, "string", "String(v)");
  }

  bool Limited(const PathStatistics& at) const {
    return options_.type != nullptr &&
           std::ranges::any_of(options_.type->limits.arrays, [&](const ArrayLimit& limit) {
             return limit.path.ToString() == at.path;
           });
  }

  void AddUnread(const PathStatistics& at) {
    if (!options_.read_paths || at.name.empty() || at.objects + at.arrays > 0) return;
    if (IsStamp(at)) return;
    const bool read = std::ranges::any_of(*options_.read_paths, [&](const std::string& path) {
      // A read of an object or array reads everything in it.
      return at.path == path || (at.path.starts_with(path) &&
                                 (at.path[path.size()] == '.' || at.path[path.size()] == '['));
    });
    if (read || options_.read_names.contains(at.name)) return;
    Add("unread-field", at.path, at.documents, at.bytes, Risk::kHigh,
        "no statement or function has read it, and none has read whole documents: ask its writers "
        "whether they need it");
  }

  void AddLarge(const PathStatistics& at) {
    const bool of_root = at.path.find_first_of(".[") == std::string::npos;
    if (!of_root || at.objects + at.arrays == 0 || at.bytes * 2 < sample_.bytes()) return;
    Add("large-part", at.path, at.documents, 0, Risk::kLow,
        fmt::format("{:.0f} % of all bytes are in this field: look here first",
                    100.0 * static_cast<double>(at.bytes) / static_cast<double>(sample_.bytes())));
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
          fmt::format(
              "these documents have no property that names their type: add one such as '{}'",
              types.front()))
          ->instead = fmt::format("properties: {{ type: {} }}", types.front());
    }
    if (Enough(all - Most(versions))) {
      Add("no-version", "", all - Most(versions), 0, Risk::kLow,
          fmt::format(
              "these documents have no property that names their version: add one such as '{}'",
              versions.front()))
          ->instead = fmt::format(
          "properties: {{ schema: {} }}, schema: \"1.0\", unversioned: \"1.0\"", versions.front());
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
                                   "keys do not begin with the name of the document's type");
      finding->example = bare.example;
      finding->instead = NewKeys("d.type || ':' || META(d).id",
                                 "d.type IS VALUED AND NOT REGEXP_CONTAINS(META(d).id, "
                                 "'^[A-Za-z]+[^A-Za-z0-9]')");
    }
    AddDelimiters();
  }

  // Only keys that the usual delimiter does not divide count: en-gb::1F1E6 is divided by "::" as
  // well.
  void AddDelimiters() {
    const std::string* usual = nullptr;
    uint64_t most = 0;
    for (const auto& [delimiter, at] : sample_.delimiters()) {
      if (at.keys.documents <= most) continue;
      most = at.keys.documents;
      usual = &delimiter;
    }
    if (usual == nullptr) return;
    std::string used = fmt::format("'{}' in {}", *usual, most);
    uint64_t odd = 0;
    std::string example;
    for (const auto& [delimiter, at] : sample_.delimiters()) {
      const auto found = at.others.find(*usual);
      const uint64_t fine = found == at.others.end() ? 0 : found->second;
      if (&delimiter == usual || at.keys.documents == fine) continue;
      used += fmt::format(", '{}' in {}", delimiter, at.keys.documents - fine);
      odd += at.keys.documents - fine;
      example = at.keys.example;
    }
    if (odd == 0) return;
    Finding* const finding = Add("key-delimiters", "", odd, 0, Risk::kHigh,
                                 "keys are divided by different characters: " + used);
    finding->example = example;
    const std::string text = json::ToText(Value(*usual));
    finding->instead =
        NewKeys(fmt::format("REGEXP_REPLACE(META(d).id, '[^A-Za-z0-9]+', {}, 1)", text),
                fmt::format("REGEXP_CONTAINS(META(d).id, '[^A-Za-z0-9]') AND NOT "
                            "CONTAINS(META(d).id, {})",
                            text));
  }

  // Keys are no part of a document, so that no migration changes them. `of` must not hold for the
  // new keys.
  std::string NewKeys(std::string_view key, std::string_view of) const {
    const std::string keyspace =
        options_.keyspace.empty() ? "KEYSPACE" : KeyspaceInSql(options_.keyspace);
    return fmt::format(
        "INSERT INTO {0} (KEY k, VALUE v) SELECT {1} AS k, d AS v FROM {0} AS d WHERE {2}; "
        "DELETE FROM {0} AS d WHERE {2}",
        keyspace, key, of);
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
  report.documents_there = std::max(options.documents_there, report.documents);
  if (report.documents > 0) report.findings = Rules(sample, options).Run();
  return report;
}

}  // namespace sluice::doctype
