// A type in its canonical JSON form, which is stored and which REST shows. ReadTypeJson reads it
// back to the same type; it has the content of files instead of their names.
#pragma once

#include "doctype/type.h"
#include "json/value.h"

namespace sluice::doctype {

json::Value ToJson(const Type& type);

}  // namespace sluice::doctype
