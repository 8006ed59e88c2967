#include "service/query_parameters.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/ascii.h"
#include "base/nearest.h"
#include "db/datetime_text.h"
#include "db/table_schema.h"
#include "json/parse.h"
#include "query/error.h"
#include "query/functions/duration.h"
#include "query/result_text.h"

namespace sluice::service {
namespace {

using json::Value;
using query::QueryCode;
using query::QueryError;

constexpr size_t kMaxShownValue = 60;
constexpr uint64_t kParameterNsPerMs = 1'000'000;
constexpr size_t kMaxClientContextId = 1024;
constexpr size_t kMaxProcedureVersions = 256;
constexpr std::string_view kProcedureVersion =
    "a procedure's name and its version: a number, a text in quotes, or DEFAULT";

Status BadParameter(std::string_view name, std::string_view expected, const Value& found) {
  std::string text = query::ResultText(found);
  if (text.size() > kMaxShownValue) text = "a longer value";
  return QueryError(QueryCode::kBadParameter, "parameter '{}': expected {}, found {}", name,
                    expected, text);
}

std::string_view TrimmedText(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

Status ReadText(std::string_view name, const Value& value, std::string* out) {
  if (!value.is_string()) return BadParameter(name, "a string", value);
  *out = value.AsString();
  return OkStatus();
}

Status ReadBool(std::string_view name, const Value& value, bool* out) {
  if (value.is_bool()) {
    *out = value.AsBool();
    return OkStatus();
  }
  constexpr std::string_view kTrue[] = {"true", "1", "t"};
  constexpr std::string_view kFalse[] = {"false", "0", "f"};
  const auto is_one_of = [&](const auto& words) {
    return value.is_string() && std::ranges::any_of(words, [&](std::string_view word) {
             return EqualsIgnoreCase(word, value.AsString());
           });
  };
  *out = is_one_of(kTrue);
  return *out || is_one_of(kFalse) ? OkStatus() : BadParameter(name, "true or false", value);
}

// One of these words, in any case.
Status ReadChoice(std::string_view name, const Value& value,
                  std::initializer_list<std::string_view> choices, size_t* chosen) {
  const std::string_view text = value.is_string() ? value.AsString() : "";
  for (const std::string_view& choice : choices) {
    if (EqualsIgnoreCase(choice, text)) {
      *chosen = static_cast<size_t>(&choice - choices.begin());
      return OkStatus();
    }
  }
  return BadParameter(name, fmt::format("one of {}", fmt::join(choices, ", ")), value);
}

std::optional<int64_t> IntegerIn(const Value& value) {
  if (value.is_int()) return value.AsInt();
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.AsString();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "10s", "1m15s", "2.5s"; a number alone is milliseconds.
Status ReadDuration(std::string_view name, const Value& value, std::optional<uint64_t>* out) {
  const std::optional<int64_t> number = IntegerIn(value);
  if (number && *number >= 0) {
    *out = static_cast<uint64_t>(*number);
    return OkStatus();
  }
  const std::optional<int64_t> ns = query::ParseDuration(value.is_string() ? value.AsString() : "",
                                                         query::DurationStyle::kLegacy);
  if (!ns || *ns < 0) return BadParameter(name, "a duration such as 10s, 500ms or 1m15s", value);
  // 0 means no limit: less than a millisecond is one.
  *out = (static_cast<uint64_t>(*ns) + kParameterNsPerMs - 1) / kParameterNsPerMs;
  return OkStatus();
}

// args=[1,"a"]: JSON in a JSON body, JSON text in a form.
Result<Value> JsonIn(std::string_view name, const Value& value, bool is_form) {
  if (!is_form) return value;
  const std::string_view text = value.AsString();
  Result<Value> parsed = json::Parse(text, {.max_bytes = text.size()});
  if (parsed) return parsed;
  return Unexpected(BadParameter(name, "JSON text (strings in quotes)", value));
}

// `name 3`, `name 'text'`; `name DEFAULT` has no version.
std::optional<std::pair<std::string, Value>> ReadProcedureVersion(std::string_view text) {
  const size_t blank = text.find_first_of(" \t\r\n");
  if (blank == 0 || blank == std::string_view::npos) return std::nullopt;
  std::string name(text.substr(0, blank));
  const size_t start = text.find_first_not_of(" \t\r\n", blank);
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view version = text.substr(start);
  if (EqualsIgnoreCase(version, "default")) return std::pair(std::move(name), Value());
  if (const std::optional<int64_t> number = IntegerIn(Value(version))) {
    return std::pair(std::move(name), Value(*number));
  }
  const char quote = version.front();
  const bool quoted = version.size() > 2 && (quote == '\'' || quote == '"') &&
                      version.find(quote, 1) == version.size() - 1;
  if (!quoted) return std::nullopt;
  return std::pair(std::move(name), Value(version.substr(1, version.size() - 2)));
}

class Reader {
 public:
  explicit Reader(QueryParameters* into) : into_(*into) {}

  // Names are found in any case, as Couchbase has it.
  Status Read(std::string_view name, const Value& value, ParameterForm form) {
    name = TrimmedText(name);
    const bool is_form = form != ParameterForm::kJson;
    is_form_ = is_form;
    if (name.starts_with('$') || name.starts_with('@')) {
      ASSIGN_OR_RETURN(Value argument, JsonIn(name, value, is_form));
      into_.named[std::string(name.substr(1))] = std::move(argument);
      return OkStatus();
    }
    if (name.empty()) return OkStatus();
    const auto entry = std::ranges::find_if(
        Entries(), [&](const Entry& known) { return EqualsIgnoreCase(known.name, name); });
    if (entry == Entries().end()) return Unknown(name);
    if (form == ParameterForm::kForm && value.AsString().empty()) return OkStatus();
    return std::visit([&](const auto& way) { return ReadInto(way, entry->name, value); },
                      entry->way);
  }

  static std::vector<std::pair<std::string_view, std::string_view>> Types() {
    std::vector<std::pair<std::string_view, std::string_view>> types;
    for (const Entry& entry : Entries()) types.emplace_back(entry.name, TypeOf(entry));
    return types;
  }

 private:
  // Where a parameter goes: into a member as it is, nowhere because only one word may be said or
  // because it has no meaning here, or through a function of its own.
  struct Only {
    std::string_view word;
  };
  // Known to Couchbase. Its value is looked at, so that clients hear of a mistake.
  enum class Unused : uint8_t { kFlag, kNumber, kDuration, kText, kJson };
  using Text = std::string QueryParameters::*;
  using Flag = bool QueryParameters::*;
  using Duration = std::optional<uint64_t> QueryParameters::*;
  using Function = Status (Reader::*)(std::string_view, const Value&);
  struct Entry {
    std::string_view name;
    std::variant<Text, Flag, Duration, Only, Unused, Function> way;
    std::string_view type = {};  // in JSON schema, where it does not follow from the way
  };
  static std::span<const Entry> Entries();

  static std::string_view TypeOf(const Entry& entry) {
    if (!entry.type.empty()) return entry.type;
    if (std::holds_alternative<Flag>(entry.way)) return "boolean";
    if (std::holds_alternative<Function>(entry.way)) return {};
    const Unused* const unused = std::get_if<Unused>(&entry.way);
    if (unused == nullptr || *unused == Unused::kDuration || *unused == Unused::kText) {
      return "string";
    }
    if (*unused == Unused::kJson) return {};
    return *unused == Unused::kFlag ? "boolean" : "integer";
  }

  Status ReadInto(Text member, std::string_view name, const Value& value) {
    return ReadText(name, value, &(into_.*member));
  }
  Status ReadInto(Flag member, std::string_view name, const Value& value) {
    return ReadBool(name, value, &(into_.*member));
  }
  Status ReadInto(Duration member, std::string_view name, const Value& value) {
    return ReadDuration(name, value, &(into_.*member));
  }
  Status ReadInto(const Only& only, std::string_view name, const Value& value) {
    size_t chosen = 0;
    return ReadChoice(name, value, {only.word}, &chosen);
  }
  Status ReadInto(Function function, std::string_view name, const Value& value) {
    return (this->*function)(name, value);
  }
  Status ReadInto(Unused kind, std::string_view name, const Value& value) {
    bool flag = false;
    std::optional<uint64_t> duration;
    std::string text;
    switch (kind) {
      case Unused::kFlag:
        return ReadBool(name, value, &flag);
      case Unused::kNumber:
        return IntegerIn(value) ? OkStatus() : BadParameter(name, "a whole number", value);
      case Unused::kDuration:
        return ReadDuration(name, value, &duration);
      case Unused::kText:
        return ReadText(name, value, &text);
      case Unused::kJson:
        break;
    }
    const Result<Value> parsed = JsonIn(name, value, is_form_);
    return parsed ? OkStatus() : parsed.error();
  }

  static Status Unknown(std::string_view name) {
    std::vector<std::string> known;
    for (const Entry& entry : Entries()) known.emplace_back(entry.name);
    std::ranges::sort(known);
    return QueryError(QueryCode::kUnknownParameter,
                      "there is no parameter '{}'{}. There are {}, and $name for named values",
                      name, DidYouMean(name, known), fmt::join(known, ", "));
  }

  Status Arguments(std::string_view name, const Value& value) {
    ASSIGN_OR_RETURN(const Value list, JsonIn(name, value, is_form_));
    if (!list.is_array()) return BadParameter(name, "a JSON list", list);
    into_.positional.assign(list.items().begin(), list.items().end());
    return OkStatus();
  }

  // A name; in a form also as JSON, in quotes, and the whole row that PREPARE gave.
  Status Prepared(std::string_view name, const Value& value) {
    Value given = value;
    if (is_form_ && (value.AsString().starts_with('"') || value.AsString().starts_with('{'))) {
      ASSIGN_OR_RETURN(given, JsonIn(name, value, true));
    }
    if (!given.is_object()) return ReadText(name, given, &into_.prepared);
    if (const Value plan = given["encoded_plan"]; plan.is_string()) {
      into_.encoded_plan = plan.AsString();
    }
    return ReadText(name, given["name"], &into_.prepared);
  }
  Status ClientContextId(std::string_view name, const Value& value) {
    RETURN_IF_ERROR(ReadText(name, value, &into_.client_context_id));
    if (into_.client_context_id.size() <= kMaxClientContextId) return OkStatus();
    into_.client_context_id.clear();
    return BadParameter(name, fmt::format("at most {} bytes", kMaxClientContextId), value);
  }
  Status Context(std::string_view name, const Value& value) {
    std::string text;
    RETURN_IF_ERROR(ReadText(name, value, &text));
    Result<query::QueryContext> context = query::QueryContext::Parse(text);
    if (!context) return BadParameter(name, "bucket.scope, as in default:shop.eu", value);
    into_.context = std::move(*context);
    return OkStatus();
  }
  Status Profile(std::string_view name, const Value& value) {
    size_t chosen = 0;
    RETURN_IF_ERROR(ReadChoice(name, value, {"off", "phases", "timings"}, &chosen));
    into_.profile = static_cast<QueryParameters::Profile>(chosen);
    return OkStatus();
  }
  Status RowFormat(std::string_view name, const Value& value) {
    size_t chosen = 0;
    RETURN_IF_ERROR(ReadChoice(name, value, {"json", "cdb2"}, &chosen));
    into_.cdb2_rows = chosen == 1;
    return OkStatus();
  }
  Status TimeZone(std::string_view name, const Value& value) {
    std::string zone;
    RETURN_IF_ERROR(ReadText(name, value, &zone));
    if (!db::IsTimeZone(zone)) return BadParameter(name, "a time zone, as in Europe/Paris", value);
    into_.time_zone = std::move(zone);
    return OkStatus();
  }
  // SET SPVERSION name version: of one procedure; as a parameter also {"name": version, ...}.
  Status ProcedureVersion(std::string_view name, const Value& value) {
    if (value.is_string()) {
      auto read = ReadProcedureVersion(value.AsString());
      if (!read) return BadParameter(name, kProcedureVersion, value);
      into_.procedure_versions.clear();  // as in Comdb2, where a session has one
      return TakeVersion(std::move(read->first), std::move(read->second));
    }
    if (!value.is_object()) return BadParameter(name, kProcedureVersion, value);
    for (const json::Field& field : value.fields()) {
      if (!field.value.is_string() && !field.value.is_int()) {
        return BadParameter(name, kProcedureVersion, value);
      }
      RETURN_IF_ERROR(TakeVersion(std::string(field.name()), field.value));
    }
    return OkStatus();
  }
  // MISSING: the default one again.
  Status TakeVersion(std::string name, Value version) {
    if (version.is_missing()) {
      into_.procedure_versions.erase(name);
      return OkStatus();
    }
    into_.procedure_versions[std::move(name)] = std::move(version);
    if (into_.procedure_versions.size() <= kMaxProcedureVersions) return OkStatus();
    return QueryError(QueryCode::kBadParameter, "parameter 'spversion': of at most {} procedures",
                      kMaxProcedureVersions);
  }
  // Every statement reads a snapshot that has all acknowledged writes: each of these is kept.
  Status ScanConsistency(std::string_view name, const Value& value) {
    size_t chosen = 0;
    RETURN_IF_ERROR(ReadChoice(
        name, value, {"not_bounded", "at_plus", "request_plus", "statement_plus"}, &chosen));
    into_.scan_consistency = value.AsString();
    return OkStatus();
  }
  // Of one machine's documents there are no other copies, so a majority has what this one has.
  Status DurabilityLevel(std::string_view name, const Value& value) {
    size_t chosen = 0;
    RETURN_IF_ERROR(ReadChoice(name, value,
                               {"none", "majority", "majorityAndPersistActive",
                                "majorityAndPersistToActive", "persistToMajority"},
                               &chosen));
    into_.needs_disk = chosen >= 2;
    return OkStatus();
  }
  Status UseReplica(std::string_view name, const Value& value) {
    size_t chosen = 0;
    bool flag = false;
    if (ReadBool(name, value, &flag).ok()) return OkStatus();
    return ReadChoice(name, value, {"on", "off", "unset"}, &chosen);
  }
  // A number of bits, also in hexadecimal.
  Status FeatureBits(std::string_view name, const Value& value) {
    const std::string_view text = value.is_string() ? value.AsString() : "";
    const bool hexadecimal = (text.starts_with("0x") || text.starts_with("0X")) &&
                             text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
    return hexadecimal || IntegerIn(value) ? OkStatus()
                                           : BadParameter(name, "a whole number", value);
  }
  Status MemoryQuota(std::string_view name, const Value& value) {
    const std::optional<int64_t> number = IntegerIn(value);
    if (!number || *number < 0) return BadParameter(name, "a number of MiB from 0", value);
    into_.memory_quota_mib = static_cast<uint32_t>(std::min<int64_t>(*number, UINT32_MAX));
    return OkStatus();
  }
  Status TransactionStatement(std::string_view name, const Value& value) {
    into_.transaction_statement = IntegerIn(value);
    if (into_.transaction_statement.value_or(-1) >= 0) return OkStatus();
    return BadParameter(name, "a whole number from 0", value);
  }
  Status TransactionData(std::string_view name, const Value& value) {
    ASSIGN_OR_RETURN(Value data, JsonIn(name, value, is_form_));
    if (!data.is_object()) return BadParameter(name, "a JSON object", data);
    into_.transaction_data = std::move(data);
    return OkStatus();
  }
  Status MaxParallelism(std::string_view name, const Value& value) {
    const std::optional<int64_t> number = IntegerIn(value);
    if (!number || *number < 0) return BadParameter(name, "a whole number from 0", value);
    into_.max_parallelism = static_cast<size_t>(*number);
    return OkStatus();
  }

  QueryParameters& into_;
  bool is_form_ = false;  // where the parameter that is read comes from
};

// docs/reference/query-service.md has a line for each.
std::span<const Reader::Entry> Reader::Entries() {
  static const Entry kEntries[] = {{"statement", &QueryParameters::statement},
                                   {"prepared", &Reader::Prepared, "string"},
                                   {"encoded_plan", &QueryParameters::encoded_plan},
                                   {"auto_execute", &QueryParameters::auto_execute},
                                   {"args", &Reader::Arguments, "array"},
                                   {"timeout", &QueryParameters::timeout_ms},
                                   {"txtimeout", &QueryParameters::transaction_timeout_ms},
                                   {"txid", &QueryParameters::txid},
                                   {"tximplicit", &QueryParameters::implicit_transaction},
                                   {"txstmtnum", &Reader::TransactionStatement, "integer"},
                                   {"txdata", &Reader::TransactionData, "object"},
                                   {"readonly", &QueryParameters::read_only},
                                   {"pretty", &QueryParameters::pretty},
                                   {"metrics", &QueryParameters::metrics},
                                   {"signature", &QueryParameters::signature},
                                   {"controls", &QueryParameters::controls},
                                   {"sort_projection", &QueryParameters::sort_projection},
                                   {"preserve_expiry", &QueryParameters::preserve_expiry},
                                   {"client_context_id", &Reader::ClientContextId, "string"},
                                   {"query_context", &Reader::Context, "string"},
                                   {"profile", &Reader::Profile, "string"},
                                   {"scan_consistency", &Reader::ScanConsistency, "string"},
                                   {"durability_level", &Reader::DurabilityLevel, "string"},
                                   {"max_parallelism", &Reader::MaxParallelism, "integer"},
                                   {"memory_quota", &Reader::MemoryQuota, "integer"},
                                   {"row_format", &Reader::RowFormat, "string"},
                                   {"timezone", &Reader::TimeZone, "string"},
                                   {"spversion", &Reader::ProcedureVersion},
                                   {"format", Only{"JSON"}},
                                   {"encoding", Only{"UTF-8"}},
                                   {"compression", Only{"NONE"}},
                                   {"namespace", Only{"default"}},
                                   {"scan_vector", Unused::kJson},
                                   {"scan_vectors", Unused::kJson},
                                   {"scan_wait", Unused::kDuration},
                                   {"scan_cap", Unused::kNumber},
                                   {"pipeline_batch", Unused::kNumber},
                                   {"pipeline_cap", Unused::kNumber},
                                   {"kvtimeout", Unused::kDuration},
                                   {"durability_timeout", Unused::kDuration},
                                   {"error_limit", Unused::kNumber},
                                   {"auto_prepare", Unused::kFlag},
                                   {"use_cbo", Unused::kFlag},
                                   {"use_fts", Unused::kFlag},
                                   {"use_replica", &Reader::UseReplica, "string"},
                                   {"max_index_api", Unused::kNumber},
                                   {"n1ql_feat_ctrl", &Reader::FeatureBits},
                                   {"numatrs", Unused::kNumber},
                                   {"atrcollection", Unused::kText},
                                   {"logging", Unused::kText},
                                   {"creds", Unused::kJson}};
  return kEntries;
}

constexpr std::string_view kSessionParameters[] = {
    "max_parallelism", "metrics",   "preserve_expiry", "profile", "query_context", "readonly",
    "row_format",      "signature", "spversion",       "timeout", "timezone"};

// SET TRANSACTION as Comdb2's clients say it. A transaction reads one snapshot and fails when
// something that it read has changed: no level asks for more.
Status CheckLevel(std::string_view value) {
  constexpr std::string_view kLevels[] = {"blocksql", "read committed", "snapshot",
                                          "snapshot isolation", "serializable"};
  const bool known = std::ranges::any_of(
      kLevels, [&](std::string_view level) { return db::SameColumnName(level, value); });
  if (known) return OkStatus();
  return QueryError(QueryCode::kBadParameter, "SET TRANSACTION: expected one of {}; found '{}'",
                    fmt::join(kLevels, ", "), value);
}

}  // namespace

Status ReadQueryParameter(std::string_view name, const Value& value, ParameterForm form,
                          QueryParameters* parameters) {
  return Reader(parameters).Read(name, value, form);
}

Status CheckStatement(const QueryParameters& parameters) {
  if (parameters.statement.empty() && parameters.prepared.empty()) {
    return QueryError(QueryCode::kMissingStatement,
                      "the request has neither 'statement' nor 'prepared'");
  }
  if (!parameters.statement.empty() && !parameters.prepared.empty()) {
    return QueryError(QueryCode::kBadParameter,
                      "the request has 'statement' and 'prepared': give one of them");
  }
  return OkStatus();
}

std::vector<std::pair<std::string_view, std::string_view>> QueryParameterTypes() {
  return Reader::Types();
}

Status ReadStreamParameters(const Value& message, QueryParameters* parameters) {
  Reader reader(parameters);
  for (const json::Field& field : message.fields()) {
    if (field.name() == "id" || field.name() == "next" || field.name() == "ahead") continue;
    const std::string_view name = TrimmedText(field.name());
    if (EqualsIgnoreCase(name, "txid") || EqualsIgnoreCase(name, "pretty")) {
      return QueryError(QueryCode::kUnknownParameter, "there is no parameter '{}' on a stream",
                        field.name());
    }
    RETURN_IF_ERROR(reader.Read(field.name(), field.value, ParameterForm::kJson));
  }
  return CheckStatement(*parameters);
}

Status ReadSessionParameter(std::string_view name, const std::string& value,
                            QueryParameters* parameters) {
  if (name == "transaction") return CheckLevel(value);
  if (name == "maxquerytime") {
    return Reader(parameters).Read("timeout", Value(value + "s"), ParameterForm::kSet);
  }
  if (std::ranges::find(kSessionParameters, name) == std::end(kSessionParameters)) {
    return QueryError(QueryCode::kUnknownParameter, "there is nothing to SET by the name '{}': {}",
                      name, fmt::join(kSessionParameters, ", "));
  }
  return Reader(parameters).Read(name, Value(value), ParameterForm::kSet);
}

}  // namespace sluice::service
