// The catalog from its rows: all of them when a database is opened, and those of a group when the
// group has been written, by this server or by another one.
//
// Rows are taken in the order of their keys: buckets, followers, the next ids, indexes, keyspaces,
// scopes, types. Deletions come first, because a name may be deleted and made again in one change.
#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_edit.h"
#include "db/catalog_rows.h"
#include "db/row_key.h"
#include "json/print.h"

namespace sluice::db {
namespace {

Status CorruptRow(std::string_view key) {
  return Error(Code::kCorruption, "catalog.corrupt",
               "the stored row '{}' is malformed or of a kind that this server does not know", key);
}

// Kind and name in the key of a row.
struct RowName {
  std::string_view kind;
  std::string_view name;
};
RowName NameOf(std::string_view key) {
  const std::string_view entry = key.substr(kCatalogPrefix.size());
  const size_t slash = entry.find('/');
  if (slash == std::string_view::npos) return {entry, {}};
  return {entry.substr(0, slash), entry.substr(slash + 1)};
}

uint32_t IdOf(const RowName& row) {
  uint32_t id = 0;
  (void)std::from_chars(row.name.data(), row.name.data() + row.name.size(), id);
  return id;
}

// A definition that can't be compiled must not keep the database from opening.
Result<Index> LoadIndex(std::string_view key, std::string_view stored,
                        const IndexCompiler* compiler) {
  ASSIGN_OR_RETURN(const json::Value value, DecodeMetaJson(key, stored, kIndexRowVersion));
  ASSIGN_OR_RETURN(const IndexEntry entry, IndexFromJson(value));
  Result<Index> index =
      Index::Make(entry.id, entry.keyspace, entry.definition, entry.state, compiler);
  if (index) return index;
  // A definition of paths needs no compiler, so its failure means a damaged row. SQL++ text may
  // fail because this server is another version: the index is then invalid, and the rest works.
  if (entry.definition.PathsOnly()) return Unexpected(CorruptRow(key));
  log::Warn("an index can't be used: its definition does not compile",
            {{"index", entry.definition.name}, {"error", index.error().ToString()}});
  return Index::Invalid(entry.id, entry.keyspace, entry.definition, index.error());
}

class CatalogRowFinder final : public storage::BatchVisitor {
 public:
  void Put(storage::Family family, std::string_view key, std::string_view value) override {
    if (Is(family, key)) rows.insert_or_assign(std::string(KeyInShard(key)), std::string(value));
  }
  void Delete(storage::Family family, std::string_view key) override {
    if (Is(family, key)) rows.insert_or_assign(std::string(KeyInShard(key)), std::nullopt);
  }
  void DeleteRange(storage::Family, std::string_view, std::string_view) override {}
  CatalogRowMap rows;

 private:
  bool Is(storage::Family family, std::string_view key) const {
    return family == storage::Family::kMeta && key.starts_with(prefix_);
  }

  const std::string prefix_ = RowKey(kDefinitionsShard, kCatalogPrefix);
};

}  // namespace

CatalogRowMap CatalogRowMapOf(const storage::Batch& batch) {
  CatalogRowFinder finder;
  batch.ForEach(finder);
  return std::move(finder.rows);
}

Result<std::shared_ptr<const Catalog>> CatalogEdit::Load(const storage::Store& store,
                                                         const IndexCompiler* compiler,
                                                         const PolicyCompiler* policies) {
  CatalogRowMap rows;
  const auto iterator = CatalogRows(store, kCatalogPrefix);
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    rows.emplace_hint(rows.end(), iterator->key(), std::string(iterator->value()));
  }
  RETURN_IF_ERROR(iterator->status());
  return FromRows(Catalog(), rows, compiler, policies);
}

Result<std::shared_ptr<const Catalog>> CatalogEdit::FromRows(const Catalog& base,
                                                             const CatalogRowMap& rows,
                                                             const IndexCompiler* compiler,
                                                             const PolicyCompiler* policies) {
  CatalogEdit edit{base, compiler};
  for (const auto& [key, value] : rows) {
    if (!value) edit.UnloadRow(key);
  }
  for (const auto& [key, value] : rows) {
    if (value && NameOf(key).kind != "index") RETURN_IF_ERROR(edit.LoadRow(key, *value));
  }
  RETURN_IF_ERROR(edit.LoadIndexes(rows));
  const Catalog& catalog = *edit.next_;
  for (const auto& [key, value] : rows) {
    if (!value || NameOf(key).kind != "keyspace") continue;
    // An id at or above the counter would be given out a second time (invariant 4).
    if ((IdOf(NameOf(key)) & ~kTableIdBit) >= catalog.next_keyspace_) {
      return Unexpected(CorruptRow(IdsRowKey()));
    }
  }
  edit.CompileTypes(policies);
  return edit.Finish();
}

// What the row has made may be gone already, together with what it belongs to.
void CatalogEdit::UnloadRow(std::string_view key) {
  const RowName row = NameOf(key);
  if (row.kind == "bucket") {
    next_->buckets_.erase(std::string(row.name));
  } else if (row.kind == "scope") {
    const size_t split = row.name.find('/');
    const auto bucket = next_->buckets_.find(row.name.substr(0, split));
    if (bucket == next_->buckets_.end() || split == std::string_view::npos) return;
    bucket->second.scopes.erase(std::string(row.name.substr(split + 1)));
  } else if (row.kind == "keyspace") {
    const auto keyspace = next_->keyspaces_.find(IdOf(row));
    if (keyspace == next_->keyspaces_.end()) return;
    ForgetName(*keyspace->second);
    next_->transient_.erase(keyspace->first);
    next_->keyspaces_.erase(keyspace);
  } else if (row.kind == "follower") {
    next_->followers_.erase(std::string(row.name));
  } else if (row.kind == "type") {
    const KeyspaceInfo* const keyspace = next_->FindType(row.name);
    if (keyspace == nullptr) return;
    auto changed = std::make_shared<KeyspaceInfo>(*keyspace);
    std::erase_if(changed->types,
                  [&](const TypeDefinition& each) { return each.name == row.name; });
    retyped_.insert(changed->id);
    next_->keyspaces_[changed->id] = std::move(changed);
  }
}

// Only if the name is not another keyspace's by now.
void CatalogEdit::ForgetName(const KeyspaceInfo& keyspace) {
  const auto bucket = next_->buckets_.find(keyspace.name.bucket);
  if (bucket == next_->buckets_.end()) return;
  const auto scope = bucket->second.scopes.find(keyspace.name.scope);
  if (scope == bucket->second.scopes.end()) return;
  auto& names = scope->second.collections;
  const auto name = names.find(keyspace.name.collection);
  if (name != names.end() && name->second == keyspace.id) names.erase(name);
}

Status CatalogEdit::LoadRow(std::string_view key, std::string_view stored) {
  ASSIGN_OR_RETURN(const json::Value value, DecodeMetaJson(key, stored));
  const RowName row = NameOf(key);
  const std::string name(row.name);
  if (row.kind == "bucket") {
    // operator[] makes an empty entry, unless one is there. A scope's row comes after its
    // keyspaces.
    next_->buckets_[name];
  } else if (row.kind == "scope") {
    const size_t split = name.find('/');
    if (split == std::string::npos) return CorruptRow(key);
    next_->buckets_[name.substr(0, split)].scopes[name.substr(split + 1)];
  } else if (row.kind == "keyspace") {
    return LoadKeyspace(value);
  } else if (row.kind == "follower") {
    ASSIGN_OR_RETURN(FollowerInfo follower, FollowerFromJson(value));
    next_->followers_[name] = std::move(follower);
  } else if (row.kind == "type") {
    return LoadType(name, value);
  } else if (row.kind == "ids") {
    if (!value["keyspace"].is_int() || !value["index"].is_int()) return CorruptRow(key);
    next_->next_keyspace_ = static_cast<KeyspaceId>(value["keyspace"].AsInt());
    next_->next_index_ = static_cast<IndexId>(value["index"].AsInt());
  } else {
    return CorruptRow(key);
  }
  return OkStatus();
}

// Its indexes and types have rows of their own.
Status CatalogEdit::LoadKeyspace(const json::Value& value) {
  ASSIGN_OR_RETURN(KeyspaceInfo info, KeyspaceFromJson(value));
  if (const KeyspaceInfo* const old = next_->Find(info.id); old != nullptr) {
    ForgetName(*old);
    info.indexes = old->indexes;
    info.types = old->types;
    info.policy = old->policy;
  }
  const KeyspaceId id = info.id;
  next_->buckets_[info.name.bucket].scopes[info.name.scope].collections[info.name.collection] = id;
  next_->keyspaces_[id] = std::make_shared<const KeyspaceInfo>(std::move(info));
  return OkStatus();
}

// The indexes of a keyspace are in the order of their ids.
Status CatalogEdit::LoadIndexes(const CatalogRowMap& rows) {
  std::set<IndexId> gone;
  std::map<KeyspaceId, std::vector<std::shared_ptr<const Index>>> loaded;
  for (const auto& [key, value] : rows) {
    if (NameOf(key).kind != "index") continue;
    gone.insert(IdOf(NameOf(key)));
    if (!value) continue;
    ASSIGN_OR_RETURN(Index index, LoadIndex(key, *value, compiler_));
    if (next_->Find(index.keyspace()) == nullptr || index.id() >= next_->next_index_) {
      return CorruptRow(key);
    }
    loaded[index.keyspace()].push_back(std::make_shared<const Index>(std::move(index)));
  }
  if (gone.empty()) return OkStatus();
  const auto is_gone = [&](const auto& index) { return gone.contains(index->id()); };
  for (auto& [id, keyspace] : next_->keyspaces_) {
    const auto added = loaded.find(id);
    if (added == loaded.end() && std::ranges::none_of(keyspace->indexes, is_gone)) continue;
    auto changed = std::make_shared<KeyspaceInfo>(*keyspace);
    std::erase_if(changed->indexes, is_gone);
    if (added != loaded.end()) {
      changed->indexes.insert(changed->indexes.end(), added->second.begin(), added->second.end());
      std::ranges::sort(changed->indexes, {}, [](const auto& index) { return index->id(); });
    }
    keyspace = std::move(changed);
  }
  return OkStatus();
}

Status CatalogEdit::LoadType(std::string_view name, const json::Value& value) {
  const auto corrupt = [&] {
    return Error(Code::kCorruption, "catalog.corrupt", "the stored document type '{}' is malformed",
                 name);
  };
  if (!value["keyspace"].is_int() || !value["definition"].is_object()) return corrupt();
  const auto found = next_->keyspaces_.find(static_cast<KeyspaceId>(value["keyspace"].AsInt()));
  if (found == next_->keyspaces_.end()) return corrupt();
  auto changed = std::make_shared<KeyspaceInfo>(*found->second);
  std::erase_if(changed->types, [&](const TypeDefinition& each) { return each.name == name; });
  changed->types.push_back({std::string(name), json::ToText(value["definition"])});
  std::ranges::sort(changed->types, {}, &TypeDefinition::name);
  retyped_.insert(found->first);
  found->second = std::move(changed);
  return OkStatus();
}

void CatalogEdit::CompileTypes(const PolicyCompiler* compiler) {
  for (const KeyspaceId id : retyped_) {
    const auto found = next_->keyspaces_.find(id);
    if (found == next_->keyspaces_.end()) continue;
    auto changed = std::make_shared<KeyspaceInfo>(*found->second);
    CompilePolicy(compiler, changed.get());
    found->second = std::move(changed);
  }
}

}  // namespace sluice::db
