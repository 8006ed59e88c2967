// The interface through which an index with SQL++ text gets its rows. This module can't read SQL++:
// the module that can (query) gives a compiler to Database::Open.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/document.h"
#include "db/index.h"
#include "json/value.h"

namespace sluice::db {

// A compiled definition. Immutable, used by any number of threads at once, and deterministic: a
// document's old rows are found by computing them again.
class IndexProgram {
 public:
  virtual ~IndexProgram() = default;
  // One tuple for each row of this (JSON) document: a value for each part of the definition, in
  // order, MISSING where there is none. Elements of array parts are expanded, the condition and the
  // rule about a missing first part are applied. Empty: the document is not indexed.
  virtual Result<std::vector<std::vector<json::Value>>> Rows(
      std::string_view key, const DocumentView& document) const = 0;
};

// Any thread.
class IndexCompiler {
 public:
  virtual ~IndexCompiler() = default;
  virtual Result<std::shared_ptr<const IndexProgram>> Compile(
      const IndexDefinition& definition) const = 0;
};

}  // namespace sluice::db
