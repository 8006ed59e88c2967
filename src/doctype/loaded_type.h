// A type with everything it names compiled: its schemas and its migrations. Immutable; any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "doctype/migrations.h"
#include "doctype/problems.h"
#include "doctype/schema/schema.h"
#include "doctype/type.h"

namespace sluice::doctype {

class LoadedType {
 public:
  // Null if there are errors. Takes some milliseconds for each file of migrations.
  static std::shared_ptr<const LoadedType> Load(std::shared_ptr<const Type> type,
                                                Problems* problems);

  const Type& type() const { return *type_; }
  // Null if the type has no migrations.
  const std::shared_ptr<const Migrations>& migrations() const { return migrations_; }
  // Null if the type has no schema for that version.
  const Schema* SchemaOf(std::string_view version) const;

 private:
  LoadedType() = default;

  std::shared_ptr<const Type> type_;
  std::shared_ptr<const Migrations> migrations_;
  std::map<std::string, std::shared_ptr<const Schema>, std::less<>> schemas_;
};

}  // namespace sluice::doctype
