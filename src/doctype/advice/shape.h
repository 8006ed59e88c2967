// The shape of the values at one path and below it: the tree from which schemas and TypeScript
// declarations are printed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace sluice::doctype {

class Shape {
 public:
  // Beyond these, names or values are taken for data.
  static constexpr size_t kMaxFields = 200;
  static constexpr size_t kMapNames = 20;
  static constexpr size_t kMaxChoices = 8;
  static constexpr int kMaxDepth = 32;

  void Add(const json::Value& value, int depth = 0);

  uint64_t count() const { return count_; }
  // The fields of objects in the order in which they were seen first.
  const std::vector<std::pair<std::string, std::unique_ptr<Shape>>>& fields() const {
    return fields_;
  }
  const Shape* Field(std::string_view name) const;
  void Merge(const Shape& other);

  // Objects whose names are data, such as currencies by their codes: more than kMapNames of them,
  // whose values all look the same. Values that are scalars may be fields of a record, so there
  // names must differ from object to object, or be no identifiers.
  bool IsMap() const;
  // The paths below this shape of objects that are maps: "currencies", "stats.chrome", "a.*.b". A
  // document itself is none.
  std::set<std::string> MapPaths() const;

  // A JSON Schema, draft 2020-12.
  json::Value ToSchema() const;
  // A type of TypeScript; `indent` is that of the line it begins on.
  std::string ToTypeScript(int indent = 0) const;

 private:
  void AddString(std::string_view text);
  void AddObject(const json::Value& object, int depth);
  std::vector<std::string> Choices() const;
  std::string_view FormatName() const;
  uint64_t Kinds() const;  // a bit for each kind of value but null
  bool OneShape() const;   // of all fields
  Shape Values() const;    // of a map
  void AddMapPaths(const std::string& path, std::set<std::string>* paths) const;
  json::Value ObjectSchema() const;
  std::string ObjectTypeScript(int indent) const;

  bool document_ = false;  // not what is inside of one
  uint64_t count_ = 0;
  uint64_t nulls_ = 0, booleans_ = 0, integers_ = 0, doubles_ = 0, strings_ = 0, arrays_ = 0,
           objects_ = 0;
  uint64_t date_times_ = 0, dates_ = 0, uuids_ = 0, emails_ = 0;
  std::map<std::string, uint64_t> texts_;  // while they are few
  bool many_texts_ = false;
  std::vector<std::pair<std::string, std::unique_ptr<Shape>>> fields_;
  std::map<std::string, size_t, std::less<>> field_numbers_;
  bool open_ = false;  // more names than kMaxFields: a map
  std::unique_ptr<Shape> items_;
};

}  // namespace sluice::doctype
