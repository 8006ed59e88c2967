// Remembers the last policy that was compiled. A change of types is compiled on the thread that
// makes it, which may take its time and hears of errors. When its rows are in the store, the
// catalog is made from them on the committer's thread (catalog_load.cc), which finds the policy
// here.
//
// Concurrency: any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/locked.h"
#include "db/document_policy.h"

namespace sluice::db {

class LastPolicy final : public PolicyCompiler {
 public:
  explicit LastPolicy(std::shared_ptr<const PolicyCompiler> compiler)
      : compiler_(std::move(compiler)) {}

  Result<std::shared_ptr<const DocumentPolicy>> Compile(
      const KeyspaceName& keyspace, std::span<const TypeDefinition> types) const override;

 private:
  const std::shared_ptr<const PolicyCompiler> compiler_;
  // The keyspace and its types in canonical text, and the policy.
  using Entry = std::pair<std::string, std::shared_ptr<const DocumentPolicy>>;
  mutable Locked<Entry> last_;
};

}  // namespace sluice::db
