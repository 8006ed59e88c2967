#include "doctype/loaded_type.h"

namespace sluice::doctype {

std::shared_ptr<const LoadedType> LoadedType::Load(std::shared_ptr<const Type> type,
                                                   Problems* problems) {
  const size_t before = problems->errors.size();
  std::shared_ptr<LoadedType> loaded(new LoadedType);
  loaded->type_ = type;
  for (const SchemaSource& source : type->schemas) {
    auto schema = Schema::Compile(source.schema, source.place.file, source.text, problems);
    if (schema != nullptr) loaded->schemas_[source.version] = std::move(schema);
  }
  if (!type->migrations.empty()) loaded->migrations_ = Migrations::Compile(type, problems);
  return problems->errors.size() == before ? loaded : nullptr;
}

const Schema* LoadedType::SchemaOf(std::string_view version) const {
  const auto found = schemas_.find(version);
  return found == schemas_.end() ? nullptr : found->second.get();
}

}  // namespace sluice::doctype
