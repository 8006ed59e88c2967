// Functions that stand for operators of SQL++ where Comdb2's rules hold (bind/comdb2.h). No
// statement can write these names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "query/functions/function.h"

namespace sluice::query {

FunctionFamily Comdb2Functions();
FunctionFamily SqliteFunctions();      // functions that SQL++ does not have (sqlite.cc)
FunctionFamily SqliteTimeFunctions();  // strftime and kin (sqlite_time.cc)
FunctionFamily Comdb2TimeFunctions();  // year() and kin (comdb2_time.cc)

// ||: any scalar becomes text.
inline constexpr std::string_view kComdb2Concat = "comdb2 concat";
// Take the rows of a subquery and give the first value (or NULL), or the first column of all rows.
inline constexpr std::string_view kComdb2Scalar = "comdb2 scalar";
inline constexpr std::string_view kComdb2Column = "comdb2 column";
// SQLite's, where SQL++ has another of that name.
inline constexpr std::string_view kComdb2Substr = "comdb2 substr";
inline constexpr std::string_view kComdb2Round = "comdb2 round";
inline constexpr std::string_view kComdb2Divide = "comdb2 divide";
inline constexpr std::string_view kComdb2Mod = "comdb2 mod";
inline constexpr std::string_view kComdb2Max = "comdb2 max";
inline constexpr std::string_view kComdb2Min = "comdb2 min";
inline constexpr std::string_view kComdb2Power = "comdb2 power";
inline constexpr std::string_view kComdb2Length = "comdb2 length";
inline constexpr std::string_view kComdb2Random = "comdb2 random";
inline constexpr std::string_view kComdb2Like = "comdb2 like";
inline constexpr std::string_view kComdb2Compress = "comdb2 compress";
inline constexpr std::string_view kComdb2Uncompress = "comdb2 uncompress";
// Turn a sum into the result of TOTAL, and an array into the result of GROUP_CONCAT.
inline constexpr std::string_view kComdb2Total = "comdb2 total";
inline constexpr std::string_view kComdb2Join = "comdb2 join";

// A scalar as text, as SQLite writes it; nothing for arrays and objects.
std::optional<std::string> Comdb2Text(const Value& value, const std::string& zone);

}  // namespace sluice::query
