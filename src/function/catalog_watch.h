// Notices changes of the catalog, after which a keyspace may be gone.
#pragma once

#include <functional>

#include "base/signal.h"
#include "base/thread.h"
#include "db/database.h"

namespace sluice::function {

// Calls `changed` on a thread of its own: once at the start and then soon after each change of the
// catalog. One call may stand for several changes.
class CatalogWatch {
 public:
  CatalogWatch(const db::Database& database, std::function<void()> changed);
  ~CatalogWatch();  // waits for a call that runs
  CatalogWatch(const CatalogWatch&) = delete;
  CatalogWatch& operator=(const CatalogWatch&) = delete;

 private:
  void Loop();

  const db::Database& database_;
  const std::function<void()> changed_;
  Signal stop_;
  Thread thread_;
};

}  // namespace sluice::function
