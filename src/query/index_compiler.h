// Indexes on expressions: the implementation of db's interface for definitions with SQL++ text.
#pragma once

#include <memory>

#include "db/index_compiler.h"

namespace sluice::query {

std::shared_ptr<const db::IndexCompiler> MakeIndexCompiler();

}  // namespace sluice::query
