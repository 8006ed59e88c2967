#include "doctype/advice/statistics.h"

#include <algorithm>
#include <tuple>

#include "doctype/dates.h"
#include "doctype/schema/format.h"
#include "json/compare.h"
#include "json/number.h"
#include "json/parse.h"
#include "json/path.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

using json::Value;

constexpr size_t kMaxExampleBytes = 60;
// Quotes, colon and comma around a field's name.
constexpr uint64_t kFieldOverhead = 4;

bool IsNameByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool IsNameLetter(char c) { return IsNameByte(c) && (c < '0' || c > '9'); }

// From where to where the next characters are that are no letters or digits.
std::pair<size_t, size_t> NextRun(std::string_view text, size_t at) {
  while (at < text.size() && IsNameByte(text[at])) ++at;
  size_t end = at;
  while (end < text.size() && !IsNameByte(text[end])) ++end;
  return {at, end};
}

// A number that would be the same without its quotes: "42.53", not "007" nor a long id.
bool IsNumberText(std::string_view text) {
  constexpr size_t kMaxDigits = 15;
  return !text.empty() && text.size() <= kMaxDigits && json::NumberLength(text) == text.size() &&
         text != "-0" && text.find_first_of("eE") == std::string_view::npos;
}

std::string Example(std::string_view text) {
  if (text.size() <= kMaxExampleBytes) return std::string(text);
  size_t size = kMaxExampleBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return std::string(text.substr(0, size)) + "...";
}

// From 2001 to 2100 or so.
bool LooksLikeEpochMs(const Value& value) {
  return value.is_int() && value.AsInt() >= 1'000'000'000'000 && value.AsInt() < 4'200'000'000'000;
}

bool IsEmpty(const Value& value) {
  return value.is_null() || (value.is_string() && value.AsString().empty()) ||
         ((value.is_array() || value.is_object()) && value.size() == 0);
}

}  // namespace

std::string FieldBelow(const std::string& path, std::string_view name) {
  const std::string step = json::Path({std::string(name)}).ToString();
  return path.empty() ? step : path + "." + step;
}

void FrequentValues::Add(const Value& value) {
  for (auto& [known, count] : values_) {
    if (json::Equal(known, value)) {
      ++count;
      return;
    }
  }
  if (values_.size() < kKept) {
    values_.emplace_back(value, 1);
    return;
  }
  for (auto& [known, count] : values_) --count;
  std::erase_if(values_, [](const auto& pair) { return pair.second == 0; });
}

const Value& FrequentValues::Top(uint64_t* count) const {
  static const Value kNothing;
  const auto top =
      std::ranges::max_element(values_, {}, [](const auto& pair) { return pair.second; });
  *count = top == values_.end() ? 0 : top->second;
  return top == values_.end() ? kNothing : top->first;
}

const PathStatistics* SampleStatistics::Find(const std::string& path) const {
  const auto found = paths_.find(path);
  return found == paths_.end() ? nullptr : &found->second;
}

void SampleStatistics::Count(Tally* tally, uint64_t saved, std::string_view example) {
  uint64_t& last = counted_by_[tally];
  if (last != documents_) ++tally->documents;
  last = documents_;
  ++tally->values;
  tally->bytes += saved;
  if (tally->example.empty()) tally->example = Example(example);
}

Status SampleStatistics::Add(std::string_view key, std::string_view document) {
  ASSIGN_OR_RETURN(const Value value, json::Parse(document));
  ++documents_;
  bytes_ += document.size();
  if (document.size() > largest_) {
    largest_ = document.size();
    largest_key_ = key;
  }
  AddKey(key);
  for (const json::Field& field : value.fields()) {
    AddValue(field.value, FieldBelow("", field.name()), field.name());
  }
  return OkStatus();
}

void SampleStatistics::AddKey(std::string_view key) {
  key_ = key;
  if (key.empty()) return;
  const size_t first = NextRun(key, 0).first;
  const std::string_view prefix = key.substr(0, first);
  const bool word =
      first < key.size() && !prefix.empty() && std::ranges::all_of(prefix, IsNameLetter);
  if (!word) Count(&keys_without_prefix_, 0, key);
  if (first == key.size()) return;
  auto [begin, end] = NextRun(key, 0);
  Delimiter& delimiter = delimiters_[std::string(key.substr(begin, end - begin))];
  Count(&delimiter.keys, 0, key);
  std::set<std::string> others;
  while (end < key.size()) {
    std::tie(begin, end) = NextRun(key, end);
    if (begin < end) others.emplace(key.substr(begin, end - begin));
  }
  for (const std::string& other : others) ++delimiter.others[other];
}

// Whether the text is the key, or the part after a delimiter in it. An id may have delimiters of
// its own, as GUIDs do.
bool SampleStatistics::IsId(std::string_view text) const {
  if (text.empty() || !key_.ends_with(text)) return false;
  return text.size() == key_.size() || !IsNameByte(key_[key_.size() - text.size() - 1]);
}

PathStatistics* SampleStatistics::StatisticsOf(const std::string& path, std::string_view name) {
  auto found = paths_.find(path);
  if (found == paths_.end()) {
    if (paths_.size() >= kMaxPaths) {
      ++left_out_;
      return nullptr;
    }
    found = paths_.emplace(path, PathStatistics{}).first;
    found->second.path = path;
    found->second.name = name;
  }
  PathStatistics& at = found->second;
  if (at.seen_by != documents_) ++at.documents;
  at.seen_by = documents_;
  ++at.values;
  return &at;
}

void SampleStatistics::AddValue(const Value& value, const std::string& path,
                                std::string_view name) {
  PathStatistics* const at = StatisticsOf(path, name);
  if (at == nullptr) return;
  const uint64_t size = json::ToText(value).size();
  const uint64_t field_bytes = name.empty() ? 1 : name.size() + kFieldOverhead;
  at->bytes += size + field_bytes;
  if (IsEmpty(value)) Count(&at->empty, size + field_bytes, json::ToText(value));
  if (value.is_object()) {
    ++at->objects;
    const bool map = maps_.contains(path);
    for (const json::Field& field : value.fields()) {
      if (map) {
        AddValue(field.value, path + ".*", kAnyName);
      } else {
        AddValue(field.value, FieldBelow(path, field.name()), field.name());
      }
    }
  } else if (value.is_array()) {
    ++at->arrays;
    at->elements += value.size();
    at->longest = std::max<uint64_t>(at->longest, value.size());
    AddRepeated(value, path);
    for (const Value& item : value.items()) AddValue(item, path + "[]", "");
  } else {
    AddScalar(value, at);
  }
}

void SampleStatistics::AddScalar(const Value& value, PathStatistics* at) {
  const std::string text = value.is_string() ? std::string(value.AsString()) : json::ToText(value);
  const uint64_t field_bytes = at->name.empty() ? 1 : at->name.size() + kFieldOverhead;
  if (value.is_null()) ++at->nulls;
  if (value.is_bool()) ++at->booleans;
  if (value.is_number()) ++at->numbers;
  at->frequent.Add(value);
  if (IsId(text) && (value.is_int() || value.is_string()))
    Count(&at->ids, json::ToText(value).size() + field_bytes, text);
  if (value.is_string()) return AddString(text, at);
  if (LooksLikeEpochMs(value)) AddTime(value.AsInt(), text, text.size(), at->epochs);
}

// `bytes` are those that it takes now.
void SampleStatistics::AddTime(int64_t ms, std::string_view text, size_t bytes,
                               Tally (&by_unit)[kUnits]) {
  for (size_t i = 0; i < kUnits; ++i) {
    if (ms % kTimeUnits[i].ms != 0) return;
    const size_t then = fmt::formatted_size("{}", ms / kTimeUnits[i].ms);
    Count(&by_unit[i], bytes > then ? bytes - then : 0, text);
  }
}

void SampleStatistics::AddString(std::string_view text, PathStatistics* at) {
  ++at->strings;
  if (const auto time = ParseDateTime(text)) {
    AddTime(time->ms, text, text.size() + 2, at->iso_dates);  // with its quotes
  } else if (ParseMonthDate(text)) {
    constexpr size_t kDateBytes = 10;
    Count(&at->month_dates, text.size() > kDateBytes ? text.size() - kDateBytes : 0, text);
  } else if (HasFormat(Format::kUuid, text)) {
    Count(&at->guids, 4, text);
  } else if (IsNumberText(text)) {
    Count(&at->number_texts, 2, text);
  }
}

// Fields that are the same in all elements of an array of objects.
void SampleStatistics::AddRepeated(const Value& array, const std::string& path) {
  if (array.size() < 2 || !array[0].is_object()) return;
  for (const json::Field& field : array[0].fields()) {
    if (field.value.is_array() || field.value.is_object()) continue;
    const bool same = std::ranges::all_of(array.items(), [&](const Value& item) {
      const Value* const other = item.Find(field.name());
      return item.is_object() && other != nullptr && json::Equal(*other, field.value);
    });
    if (!same) continue;
    const std::string element = FieldBelow(path + "[]", field.name());
    const auto found = paths_.emplace(element, PathStatistics{}).first;
    found->second.path = element;
    found->second.name = field.name();
    const std::string text = json::ToText(field.value);
    Count(&found->second.repeated,
          (array.size() - 1) * (field.name().size() + kFieldOverhead + text.size()), text);
  }
}

}  // namespace sluice::doctype
