// The types of one keyspace, and which of them a document has. Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/problems.h"
#include "doctype/type.h"

namespace sluice::doctype {

class TypeSet {
 public:
  using Types = std::vector<std::shared_ptr<const Type>>;
  explicit TypeSet(Types types);

  bool empty() const { return types_.empty(); }
  const Types& types() const { return types_; }

  struct Match {
    const Type* type = nullptr;                  // null: the document has none
    std::optional<RevisionKey::Parts> revision;  // the key is that of a revision of such a document
  };
  // For reading. A type with a key pattern is found by the key alone, others by the property.
  Match Find(std::string_view key, std::string_view document) const;
  // By the key alone, for deletes and for scans that look for revisions: nothing for types that
  // are found by a property.
  Match FindByKey(std::string_view key) const;
  // By the property alone, whatever the key is; null for none.
  const Type* FindByProperty(std::string_view document) const;
  // For writing: key and property must not contradict each other. type.mismatch (a key of one type,
  // the property of another), type.key_mismatch (the property of a type whose pattern the key does
  // not match), type.revision_key (revisions are written by the server).
  Result<Match> FindForWrite(std::string_view key, std::string_view document) const;

  // Two types that may claim the same key or the same property value are errors (type.overlap);
  // different delimiters or a prefix that is not the type's name are warnings (type.delimiters,
  // type.prefix).
  static void Check(const Types& types, Problems* problems);

 private:
  const Types types_;
  bool by_property_ = false;  // one of them is found by its property, or checked by it
};

}  // namespace sluice::doctype
