// The ?include=, ?exclude= and ?remap= of a backup: keyspaces by bucket, scope or collection.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/types.h"

namespace sluice::rest {

// `bucket`, `bucket.scope` or `bucket.scope.collection`; a dot in a name is written `\.`.
using KeyspacePrefix = std::vector<std::string>;

class KeyspaceFilter {
 public:
  // Lists, separated by commas; at most one of them is given.
  static Result<KeyspaceFilter> Parse(std::string_view include, std::string_view exclude);
  bool Takes(const db::KeyspaceName& keyspace) const;

 private:
  std::vector<KeyspacePrefix> include_;
  std::vector<KeyspacePrefix> exclude_;
};

class KeyspaceRemap {
 public:
  // `a:b,c.d:e.f`: what begins with the first begins with the second afterwards. Both have as many
  // parts.
  static Result<KeyspaceRemap> Parse(std::string_view text);
  // The first pair that fits counts.
  void Apply(db::KeyspaceName* keyspace) const;

 private:
  std::vector<std::pair<KeyspacePrefix, KeyspacePrefix>> pairs_;
};

}  // namespace sluice::rest
