// The shape of values: types, fields, samples. For INFER and INFER_VALUE.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "json/value.h"

namespace sluice::query {

class Shape {
 public:
  void Add(const json::Value& value) { Add(value, 0); }
  uint64_t documents() const { return documents_; }
  // {"#docs", "%docs", "type", "samples"?, "properties"?}; the latter for each field.
  json::Value Describe() const { return Describe(documents_); }

 private:
  void Add(const json::Value& value, int depth);
  json::Value Describe(uint64_t total) const;

  uint64_t documents_ = 0;
  std::map<std::string, uint64_t, std::less<>> types_;
  std::vector<json::Value> samples_;
  std::map<std::string, Shape, std::less<>> fields_;
};

}  // namespace sluice::query
