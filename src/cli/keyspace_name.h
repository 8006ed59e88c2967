// A keyspace's name as users write it: `shop` (its default collection) or `shop.inventory.items`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace sluice::cli {

// Whether "*" may stand for all scopes or all collections.
enum class Wildcards : uint8_t { kRefused, kAllowed };

struct KeyspaceName {
  std::string bucket;
  std::string scope = "_default";
  std::string collection = "_default";

  // cli.invalid_name.
  static Result<KeyspaceName> Parse(std::string_view text,
                                    Wildcards wildcards = Wildcards::kRefused);
};

// Whether the text names a keyspace.
Status CheckKeyspace(std::string_view text);

// Whether a name may be that of a bucket, scope, collection or index (`what`, for the message). The
// server decides; this check finds errors before anything is sent.
Status CheckKeyspacePart(std::string_view what, std::string_view name);

}  // namespace sluice::cli
