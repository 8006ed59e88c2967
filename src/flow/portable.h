// Values as JSON that reads back as the same values: bytes, times, decimals and whole doubles
// survive, which plain JSON text would change. Values that are plain already are not copied.
//
//   bytes      {"$sluice":"bytes","v":"aGk="}
//   datetime   {"$sluice":"datetime","v":1}
//   interval   {"$sluice":"months","v":1} or {"$sluice":"interval","v":1}
//   decimal    {"$sluice":"decimal","v":"12.50"}
//   a double without a fraction          {"$sluice":"double","v":"2"}
//   a field "$sluice", "$$sluice", ...   with one more dollar
#pragma once

#include "base/status.h"
#include "json/value.h"

namespace sluice::flow {

json::Value ToPortable(const json::Value& value);
// Error flow.bad_state.
Result<json::Value> FromPortable(const json::Value& value);

}  // namespace sluice::flow
