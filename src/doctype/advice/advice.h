// All advice on a sample of documents: lint, embed or reference, joins.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "doctype/advice/embed.h"
#include "doctype/advice/lint.h"
#include "doctype/advice/observed.h"
#include "doctype/advice/shape.h"
#include "doctype/advice/statistics.h"
#include "doctype/type_set.h"
#include "json/value.h"

namespace sluice::doctype {

class Advice {
 public:
  // `types` are those of the documents, if they have some.
  explicit Advice(TypeSet::Types types = {}) : types_(types), set_(std::move(types)) {}

  // Documents are read twice: first all of them are looked at, for objects whose names are data,
  // then all are added. json.invalid.
  Status Look(std::string_view document);
  Status Add(std::string_view key, std::string_view document);

  // `observed` may be null: nothing is known but the documents.
  std::string ToText(LintOptions options, const Observed* observed) const;
  json::Value ToJson(LintOptions options, const Observed* observed) const;

 private:
  // The advice on the documents of one type.
  struct Typed {
    uint64_t documents = 0;
    uint64_t old = 0;  // not at the current version
    uint64_t largest = 0;
    std::string largest_key;
  };

  LintReport Report(LintOptions options, const Observed* observed) const;
  void AddTyped(const Type& type, const Typed& seen, LintReport* report) const;

  const TypeSet::Types types_;
  const TypeSet set_;
  std::map<std::string, Typed> typed_;  // by the type's name
  std::optional<Shape> shape_;  // of those that were looked at, until the first one is added
  SampleStatistics sample_;
  EmbedAdvice embed_;
};

}  // namespace sluice::doctype
