// Rows as Comdb2's cdb2sql prints them: (i=1, d=3.142857, c='hello', b=x'deadbeef',
// t="2019-12-19T131422.330 America/New_York", y="0-5", n=NULL).
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace sluice::query {

// A row that is no object has one column without a name. `zone` is where datetimes are shown.
std::string Cdb2Row(const json::Value& row, std::string_view zone);

}  // namespace sluice::query
