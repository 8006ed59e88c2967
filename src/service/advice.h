// Advice on the documents of a keyspace: what a sample of them says, with what was seen of their
// use.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.h"
#include "db/catalog.h"
#include "db/database.h"
#include "doctype/advice/observed.h"
#include "json/value.h"

namespace sluice::service {

// Calls its argument with the text of each function, procedure and flow there is.
using CodeVisitor = std::function<void(const std::function<void(std::string_view code)>&)>;

// Where it comes from.
struct AdviceSources {
  const db::Database& database;
  uint64_t started_ms = 0;  // Unix time; use was seen since then
  CodeVisitor code;
};

struct AdviceOptions {
  uint64_t sample = 0;        // how many documents are read; 0: as many as is usual
  bool full = false;          // all of them
  bool synchronised = false;  // with mobile devices
};

// Blocks.
Result<json::Value> Advise(const AdviceSources& sources, const db::KeyspaceInfo& keyspace,
                           const AdviceOptions& options);

// How documents were used since the server's start.
doctype::Observed Observe(const AdviceSources& sources, const db::KeyspaceInfo& keyspace);

}  // namespace sluice::service
