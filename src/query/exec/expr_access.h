// Expressions that read: constants, slots, parameters, documents, parts of values.
#pragma once

#include <string>

#include "query/exec/expr.h"

namespace sluice::query {

ExprPtr MakeLiteral(Value value);
ExprPtr MakeSlot(Slot slot);
ExprPtr MakeParameter(size_t index);
// A path of a document, or the whole, whose group is read first if need be.
ExprPtr MakeDocumentSlot(size_t source, GroupNumber group, Slot slot);
// META(source).field; all of META(source) for an empty field.
ExprPtr MakeMeta(size_t source, std::string field, std::string keyspace);
ExprPtr MakeField(ExprPtr base, std::string name);
ExprPtr MakeAnyCaseField(ExprPtr base, std::string name);
ExprPtr MakeFieldOf(ExprPtr base, ExprPtr name);
ExprPtr MakeElement(ExprPtr base, ExprPtr index);

}  // namespace sluice::query
