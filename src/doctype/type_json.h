// A type in its canonical JSON form: what is stored and what REST shows. ReadTypeJson reads it back
// to the same type; files are replaced by what they hold.
#pragma once

#include "doctype/type.h"
#include "json/value.h"

namespace sluice::doctype {

json::Value ToJson(const Type& type);

}  // namespace sluice::doctype
