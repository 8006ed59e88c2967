#include "doctype/type_set.h"

#include <algorithm>
#include <utility>

#include "doctype/document_text.h"

namespace sluice::doctype {
namespace {

// A value in a message.
std::string_view Shown(std::string_view raw) {
  constexpr size_t kMost = 100;
  return raw.size() <= kMost ? raw : "something else";
}

}  // namespace

TypeSet::TypeSet(Types types) : types_(std::move(types)) {
  by_property_ = std::ranges::any_of(types_, [](const auto& type) { return type->by_property; });
}

TypeSet::Match TypeSet::FindByKey(std::string_view key) const {
  // Types with a key pattern come first: a type without one takes any key.
  for (const bool with_key : {true, false}) {
    for (const auto& type : types_) {
      if (!type->revisions || type->key.has_value() != with_key) continue;
      auto revision = type->revisions->key.Read(key);
      if (revision && (!type->key || type->key->Matches(revision->key))) {
        return {type.get(), std::move(revision)};
      }
    }
  }
  for (const auto& type : types_) {
    if (type->key && type->key->Matches(key)) return {type.get(), std::nullopt};
  }
  return {};
}

const Type* TypeSet::FindByProperty(std::string_view document) const {
  if (!by_property_) return nullptr;
  for (const auto& type : types_) {
    if (!type->by_property) continue;
    const auto spans = StampSpans::Find(document, type->properties);
    if (spans && spans->Text(Stamp::kType) == type->name) return type.get();
  }
  return nullptr;
}

TypeSet::Match TypeSet::Find(std::string_view key, std::string_view document) const {
  Match match = FindByKey(key);
  if (match.type != nullptr || !by_property_) return match;
  const Type* const type = FindByProperty(document);
  // With a pattern, the key decides.
  if (type != nullptr && !type->key) match.type = type;
  return match;
}

Result<TypeSet::Match> TypeSet::FindForWrite(std::string_view key,
                                             std::string_view document) const {
  Match match = FindByKey(key);
  if (match.revision) {
    return Fail(Code::kForbidden, "type.revision_key",
                "'{}' is the key of a revision of type '{}', which only the server writes", key,
                match.type->name);
  }
  if (match.type != nullptr) {
    if (!match.type->properties.uses(Stamp::kType)) return match;
    ASSIGN_OR_RETURN(const StampSpans spans, StampSpans::Find(document, match.type->properties));
    if (spans.Raw(Stamp::kType).empty() || spans.Text(Stamp::kType) == match.type->name) {
      return match;
    }
    return Fail(Code::kInvalidArgument, "type.mismatch",
                "the key '{}' is that of a '{}', but its property '{}' is {}", key,
                match.type->name, match.type->properties.PathOf(Stamp::kType),
                Shown(spans.Raw(Stamp::kType)));
  }
  match.type = FindByProperty(document);
  if (match.type != nullptr && match.type->key) {
    return Fail(Code::kInvalidArgument, "type.key_mismatch",
                "a '{}' has a key like '{}', but this one has the key '{}'", match.type->name,
                match.type->key->text(), key);
  }
  return match;
}

void TypeSet::Check(const Types& types, Problems* problems) {
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& type = *types[i];
    if (type.key && !type.key->prefix().starts_with(type.name)) {
      problems->AddWarning(Error(Code::kInvalidArgument, "type.prefix",
                                 "type '{}': keys like '{}' do not begin with the type's name",
                                 type.name, type.key->text()));
    }
    for (size_t j = 0; j < i; ++j) {
      const Type& other = *types[j];
      if (type.name == other.name || (type.key && other.key && type.key->SameKeys(*other.key))) {
        problems->AddError(Error(Code::kConflict, "type.overlap",
                                 "types '{}' and '{}' of {} claim the same documents", other.name,
                                 type.name, type.keyspace));
      } else if (type.key && other.key && !type.key->delimiters().empty() &&
                 !other.key->delimiters().empty() &&
                 type.key->delimiters() != other.key->delimiters()) {
        problems->AddWarning(Error(Code::kInvalidArgument, "type.delimiters",
                                   "types '{}' and '{}' of {} divide keys by different characters: "
                                   "'{}' and '{}'",
                                   other.name, type.name, type.keyspace, other.key->text(),
                                   type.key->text()));
      }
    }
  }
}

}  // namespace sluice::doctype
