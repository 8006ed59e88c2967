// All advice on a sample of documents: lint, embed or reference, joins.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "doctype/advice/embed.h"
#include "doctype/advice/lint.h"
#include "doctype/advice/observed.h"
#include "doctype/advice/statistics.h"
#include "json/value.h"

namespace sluice::doctype {

class Advice {
 public:
  Status Add(std::string_view key, std::string_view document) {
    RETURN_IF_ERROR(sample_.Add(key, document));
    return embed_.Add(document);
  }

  // `observed` may be null: nothing is known but the documents.
  std::string ToText(LintOptions options, const Observed* observed) const;
  json::Value ToJson(LintOptions options, const Observed* observed) const;

 private:
  SampleStatistics sample_;
  EmbedAdvice embed_;
};

}  // namespace sluice::doctype
