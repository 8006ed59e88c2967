// Indexes on expressions: what db asks for when a definition has SQL++ text.
#pragma once

#include <memory>

#include "db/index_compiler.h"

namespace sluice::query {

std::shared_ptr<const db::IndexCompiler> MakeIndexCompiler();

}  // namespace sluice::query
