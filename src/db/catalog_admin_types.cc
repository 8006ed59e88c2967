// Document types: setting and dropping them.
#include <algorithm>

#include "base/mutex.h"
#include "db/database_impl.h"

namespace sluice::db {

using Indexes = std::vector<std::shared_ptr<const Index>>;

Status CatalogAdmin::PutType(const KeyspaceName& name, TypeDefinition type) {
  MutexLock alone(impl_->catalog_change_mutex_);
  const std::shared_ptr<const Catalog> before = impl_->CurrentCatalog();
  ASSIGN_OR_RETURN(const auto keyspace, before->Resolve(name));
  if (keyspace->table != nullptr) {
    return Error(Code::kInvalidArgument, "keyspace.is_system",
                 "{} is a table: its columns say what its rows are", name.ToString());
  }
  const std::string type_name = type.name;
  const KeyspaceInfo* const had = before->FindType(type_name);
  if (had != nullptr && had->id != keyspace->id) {
    return Error(Code::kConflict, "type.other_keyspace",
                 "there is a document type '{}' of {}, which would lose it: remove it first, or "
                 "choose another name",
                 type_name, had->name.ToString());
  }
  std::vector<TypeDefinition> types = keyspace->types;
  std::erase_if(types, [&](const TypeDefinition& each) { return each.name == type_name; });
  types.push_back(std::move(type));
  Indexes unfinished;
  RETURN_IF_ERROR(impl_->SetTypes(keyspace->id, std::move(types), &unfinished));
  alone.Unlock();
  return impl_->BuildRemade(unfinished);
}

Status CatalogAdmin::DropType(const std::string& type) {
  MutexLock alone(impl_->catalog_change_mutex_);
  const std::shared_ptr<const Catalog> before = impl_->CurrentCatalog();
  const KeyspaceInfo* const keyspace = before->FindType(type);
  if (keyspace == nullptr) {
    return Error(Code::kNotFound, "type.not_found", "there is no document type '{}'", type);
  }
  std::vector<TypeDefinition> types = keyspace->types;
  std::erase_if(types, [&](const TypeDefinition& each) { return each.name == type; });
  Indexes unfinished;
  RETURN_IF_ERROR(impl_->SetTypes(keyspace->id, std::move(types), &unfinished));
  alone.Unlock();
  return impl_->BuildRemade(unfinished);
}

// The policy is compiled before the change of the catalog, because committers stand still during
// that. The caller builds the indexes in `unfinished` after it has released the mutex.
Status DatabaseImpl::SetTypes(KeyspaceId keyspace, std::vector<TypeDefinition> types,
                              std::vector<std::shared_ptr<const Index>>* unfinished) {
  const std::shared_ptr<const Catalog> before = CurrentCatalog();
  const KeyspaceName name = before->Find(keyspace)->name;
  std::shared_ptr<const DocumentPolicy> policy;
  if (!types.empty()) {
    ASSIGN_OR_RETURN(policy, policies.Compile(name, types));
  }
  std::vector<IndexId> made;
  RETURN_IF_ERROR(ChangeCatalogAlone([&](CatalogEdit& edit) -> Status {
    ASSIGN_OR_RETURN(made, edit.SetTypes(keyspace, std::move(types), std::move(policy)));
    return OkStatus();
  }));
  const std::shared_ptr<const Catalog> after = CurrentCatalog();
  for (const auto& index : after->Find(keyspace)->indexes) {
    if (std::ranges::find(made, index->id()) != made.end()) unfinished->push_back(index);
  }
  return OkStatus();
}

// Skips an index that was dropped meanwhile, or replaced by the next change of types.
Status DatabaseImpl::BuildRemade(const std::vector<std::shared_ptr<const Index>>& indexes) {
  for (const auto& index : indexes) {
    const Status built = BuildIndex(index);
    if (!built.ok() && built.id() != "index.not_found") return built;
  }
  return OkStatus();
}

}  // namespace sluice::db
