#include "doctype_db/policy_compiler.h"

#include "doctype/type_reader.h"
#include "doctype/type_set.h"
#include "doctype_db/keyspace_policy.h"
#include "json/parse.h"

namespace sluice::doctype_db {

std::shared_ptr<const doctype::LoadedType> LoadType(const json::Value& text,
                                                    const std::string& file,
                                                    doctype::Problems* problems) {
  auto type = doctype::ReadTypeJson(text, file, problems);
  if (!type) return nullptr;
  return doctype::LoadedType::Load(std::make_shared<const doctype::Type>(std::move(*type)),
                                   problems);
}

Status ErrorOf(const doctype::Problems& problems) {
  if (problems.errors.empty()) return OkStatus();
  const Status& first = problems.errors.front();
  if (problems.errors.size() == 1) return first;
  std::string more;
  for (size_t i = 1; i < problems.errors.size(); ++i) {
    more += "\n" + problems.errors[i].ToString();
  }
  Status error = Error(first.code(), first.id(), "{}{}", first.message(), more);
  return first.place().line == 0 ? error : error.At(first.place());
}

Result<std::shared_ptr<const db::DocumentPolicy>> PolicyCompiler::Compile(
    const db::KeyspaceName& keyspace, std::span<const db::TypeDefinition> types) const {
  doctype::Problems problems;
  KeyspacePolicy::Types loaded;
  doctype::TypeSet::Types plain;
  for (const db::TypeDefinition& definition : types) {
    ASSIGN_OR_RETURN(const json::Value text, json::Parse(definition.text));
    auto type = LoadType(text, definition.name, &problems);
    if (type == nullptr) return Unexpected(ErrorOf(problems));
    plain.push_back(std::shared_ptr<const doctype::Type>(type, &type->type()));
    loaded.push_back(std::move(type));
  }
  doctype::TypeSet::Check(plain, &problems);
  if (!problems.ok()) return Unexpected(ErrorOf(problems));
  return std::make_shared<const KeyspacePolicy>(keyspace, loaded, limits_, clock_);
}

}  // namespace sluice::doctype_db
