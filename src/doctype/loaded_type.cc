#include "doctype/loaded_type.h"

namespace sluice::doctype {
namespace {

// A schema that stands in the type file is where its version is.
void Locate(const Place& place, size_t first, std::vector<Status>* problems) {
  for (size_t i = first; place.line != 0 && i < problems->size(); ++i) {
    Status& problem = (*problems)[i];
    if (problem.place().line == 0) problem = problem.At(place);
  }
}

}  // namespace

std::shared_ptr<const LoadedType> LoadedType::Load(std::shared_ptr<const Type> type,
                                                   Problems* problems) {
  const size_t before = problems->errors.size();
  std::shared_ptr<LoadedType> loaded(new LoadedType);
  loaded->type_ = type;
  for (const SchemaSource& source : type->schemas) {
    const size_t errors = problems->errors.size();
    const size_t warnings = problems->warnings.size();
    auto schema = Schema::Compile(source.schema, source.place.file, source.text, problems);
    Locate(source.place, errors, &problems->errors);
    Locate(source.place, warnings, &problems->warnings);
    if (schema != nullptr) loaded->schemas_[source.version] = std::move(schema);
  }
  if (!type->migrations.empty()) {
    loaded->migrations_ = Migrations::Compile(type, problems);
  } else if (!type->unversioned.empty() && type->unversioned != type->schema) {
    problems->AddError(Error(Code::kInvalidArgument, "migration.unknown_version",
                             "unversioned: no migration leads from '{}' to the schema version '{}'",
                             type->unversioned, type->schema)
                           .At(type->unversioned_place));
  }
  return problems->errors.size() == before ? loaded : nullptr;
}

const Schema* LoadedType::SchemaOf(std::string_view version) const {
  const auto found = schemas_.find(version);
  return found == schemas_.end() ? nullptr : found->second.get();
}

}  // namespace sluice::doctype
