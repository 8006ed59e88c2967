// JSON Schema, drafts 2020-12, 2019-09 and 7, compiled once. A schema and everything that it refers
// to is in one document: `$ref` leads to "#/...", "#anchor", or the document's own $id.
//
// `format` is checked. Patterns are RE2's, so none can run for ever; look-around and references
// back are refused when the schema is compiled. $dynamicRef and $recursiveRef are refused, too.
// Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/problems.h"
#include "json/value.h"

namespace sluice::doctype {

struct SchemaError {
  std::string instance;  // a JSON pointer into the document: "/phones/0/number"
  std::string schema;    // and into the schema: "/properties/phones/items/pattern"
  std::string message;
};

class Schema {
 public:
  static constexpr size_t kMaxErrors = 100;
  // The most comparisons of a schema node with a document value in one validation.
  static constexpr uint64_t kMaxSteps = 20'000'000;

  // Null if there are errors: schema.invalid, schema.unresolved_ref, schema.unsupported,
  // schema.bad_pattern. Warnings: schema.unknown_keyword, schema.unknown_format. Problems name
  // `file`; `text`, if not empty, is the text of `schema`, for lines and columns.
  static std::shared_ptr<const Schema> Compile(const json::Value& schema, const std::string& file,
                                               std::string_view text, Problems* problems);
  ~Schema();

  // The errors of a document, at most kMaxErrors; empty if it is valid.
  std::vector<SchemaError> Validate(const json::Value& document) const;
  // The same as one error, schema.violated, whose field "violations" is a JSON array of objects
  // with path, schema and message.
  Status Check(const json::Value& document) const;

 private:
  class Nodes;
  class Compiler;
  class Validator;
  explicit Schema(std::unique_ptr<const Nodes> nodes);

  const std::unique_ptr<const Nodes> nodes_;
};

}  // namespace sluice::doctype
