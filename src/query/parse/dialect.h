// The rules that the text of a statement follows: those of SQL++, or those of Comdb2, whose SQL is
// SQLite's with types of its own (docs/reference/tables.md).
#pragma once

#include <cstdint>

namespace sluice::query {

enum class Dialect : uint8_t { kSqlpp, kComdb2 };

}  // namespace sluice::query
