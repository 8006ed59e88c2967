// Statistics of a sample of documents for each path; the advice is made from them.
//
// Add takes one document after the other; memory is bounded by the number of different paths, not
// by the number of documents. One thread.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::doctype {

// A few values that are frequent, with how often they were seen at least (Misra and Gries).
class FrequentValues {
 public:
  static constexpr size_t kKept = 8;

  void Add(const json::Value& value);
  // The most frequent one; missing if none was kept.
  const json::Value& Top(uint64_t* count) const;
  const std::vector<std::pair<json::Value, uint64_t>>& values() const { return values_; }

 private:
  std::vector<std::pair<json::Value, uint64_t>> values_;
};

// How often something occurs, and the bytes that a change would save.
struct Tally {
  uint64_t documents = 0;
  uint64_t values = 0;
  uint64_t bytes = 0;  // that would be saved
  std::string example;
};

// The precisions that times are stored in, from the finest on.
struct TimeUnit {
  int64_t ms;
  std::string_view name;
  std::string_view of_text;   // the cast of an ISO 8601 text
  std::string_view of_epoch;  // the cast of an epoch in milliseconds
};
inline constexpr TimeUnit kTimeUnits[] = {{1, "milliseconds", "epoch_ms", ""},
                                          {1000, "seconds", "epoch_s", "seconds"},
                                          {60'000, "minutes", "epoch_minutes", "minutes"},
                                          {3'600'000, "hours", "epoch_hours", "hours"},
                                          {86'400'000, "days", "epoch_days", "days"}};
inline constexpr size_t kUnits = std::size(kTimeUnits);

struct PathStatistics {
  std::string path;  // "phones[].type"
  std::string name;  // its last part
  uint64_t documents = 0;
  uint64_t values = 0;
  uint64_t bytes = 0;  // of names and values
  // By kind of value.
  uint64_t nulls = 0, booleans = 0, numbers = 0, strings = 0, arrays = 0, objects = 0;
  Tally empty;              // null, "", [], {}
  Tally iso_dates[kUnits];  // texts that are whole in this precision; the first has all
  Tally month_dates;        // "Dec 14, 2018"
  Tally guids;              // with dashes
  Tally epochs[kUnits];     // numbers that look like epochs in milliseconds, in the same way
  Tally ids;                // the document's key or its end, once more
  Tally number_texts;       // numbers in quotes
  Tally repeated;           // the same in every element of its array
  uint64_t longest = 0;     // array
  uint64_t elements = 0;    // of all arrays
  FrequentValues frequent;  // of scalars
  uint64_t seen_by = 0;     // the number of the last document that has it
};

class SampleStatistics {
 public:
  static constexpr size_t kMaxPaths = 10'000;

  // Objects whose names are data (Shape::MapPaths): their values are one path, "currencies.*". Call
  // it before Add.
  void SetMaps(std::set<std::string> maps) { maps_ = std::move(maps); }
  // `document` must be JSON; json.invalid. An empty key: it is not known.
  Status Add(std::string_view key, std::string_view document);

  uint64_t documents() const { return documents_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t largest() const { return largest_; }
  const std::string& largest_key() const { return largest_key_; }
  // By path, in the order of their names.
  const std::map<std::string, PathStatistics>& paths() const { return paths_; }
  const PathStatistics* Find(const std::string& path) const;
  // The keys by their first delimiter: characters other than letters and digits, such as "::". Keys
  // without a delimiter are not included.
  struct Delimiter {
    Tally keys;
    std::map<std::string, uint64_t> others;  // of them, those that have this one further on
  };
  const std::map<std::string, Delimiter>& delimiters() const { return delimiters_; }
  const Tally& keys_without_prefix() const { return keys_without_prefix_; }
  // Paths beyond kMaxPaths that were not looked at.
  uint64_t left_out() const { return left_out_; }

 private:
  void AddKey(std::string_view key);
  void AddValue(const json::Value& value, const std::string& path, std::string_view name);
  void AddScalar(const json::Value& value, PathStatistics* at);
  void AddString(std::string_view text, PathStatistics* at);
  void AddTime(int64_t ms, std::string_view text, size_t bytes, Tally (&by_unit)[kUnits]);
  void AddRepeated(const json::Value& array, const std::string& path);
  bool IsId(std::string_view text) const;
  PathStatistics* StatisticsOf(const std::string& path, std::string_view name);
  void Count(Tally* tally, uint64_t saved, std::string_view example);

  std::map<std::string, PathStatistics> paths_;
  std::set<std::string> maps_;
  std::map<std::string, Delimiter> delimiters_;
  Tally keys_without_prefix_;
  std::string_view key_;  // of the document that is being added
  std::map<const Tally*, uint64_t> counted_by_;
  uint64_t documents_ = 0;
  uint64_t bytes_ = 0;
  uint64_t largest_ = 0;
  std::string largest_key_;
  uint64_t left_out_ = 0;
};

// The last part of a path whose names are data.
inline constexpr std::string_view kAnyName = "*";

// "name" below "path", quoted where it must be.
std::string FieldBelow(const std::string& path, std::string_view name);

}  // namespace sluice::doctype
