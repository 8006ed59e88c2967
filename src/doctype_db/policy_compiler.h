// Compiles the stored types of a keyspace into its policy.
// Any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "db/document_policy.h"
#include "doctype/loaded_type.h"
#include "doctype/problems.h"
#include "doctype/script_steps.h"
#include "json/value.h"

namespace sluice::doctype_db {

// Loads a type in its JSON form, with the schemas and code that it contains; null if it has errors.
// Problems name the text `file`.
std::shared_ptr<const doctype::LoadedType> LoadType(const json::Value& text,
                                                    const std::string& file,
                                                    doctype::Problems* problems);

// All problems as one error: the first one, with the others in its message.
Status ErrorOf(const doctype::Problems& problems);

class PolicyCompiler final : public db::PolicyCompiler {
 public:
  // The clock outlives it and all policies.
  explicit PolicyCompiler(const Clock& clock, const doctype::ScriptLimits& limits = {})
      : clock_(clock), limits_(limits) {}

  Result<std::shared_ptr<const db::DocumentPolicy>> Compile(
      const db::KeyspaceName& keyspace, std::span<const db::TypeDefinition> types) const override;

 private:
  const Clock& clock_;
  const doctype::ScriptLimits limits_;
};

}  // namespace sluice::doctype_db
