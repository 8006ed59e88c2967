// A document as an item of a JSON list or a line of JSON lines, as batches and imports send it:
//
//   {"key":...,"value":...|"base64":"...","expiry":...,"flags":n,"xattrs":{...},
//    "cas":"..." | "if":"absent"|"present","delete":true}
//
// Without xattrs, those of a present document stay.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/commit.h"
#include "json/value.h"

namespace sluice::rest {

// The write that an item asks for, without its keyspace. `raw` is the item's text, from which the
// value is taken as it stands.
Result<db::Write> WriteOfItem(const json::Value& item, std::string_view raw, uint64_t now_ms);

// The text of each element of a list that is the member `name` of the object in `body`, which is
// valid JSON.
std::vector<std::string_view> RawItems(std::string_view body, std::string_view name);

}  // namespace sluice::rest
