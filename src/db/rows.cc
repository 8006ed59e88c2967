#include "db/rows.h"

#include <utility>

#include "base/check.h"

namespace sluice::db {

storage::Family StoredFamily(RowFamily family) {
  switch (family) {
    case RowFamily::kMeta:
      return storage::Family::kMeta;
    case RowFamily::kTimer:
      return storage::Family::kTimer;
    case RowFamily::kFailure:
      return storage::Family::kFailure;
    case RowFamily::kRun:
      return storage::Family::kRun;
    case RowFamily::kRevision:
      return storage::Family::kRevision;
    case RowFamily::kExpiry:
      return storage::Family::kExpiry;
  }
  CHECK(false);
}

std::unique_ptr<RowIterator> Rows::NewIterator(RowFamily family, RowRange range) const {
  storage::IterateOptions options;
  options.lower = std::move(range.from);
  options.upper = std::move(range.to);
  return std::make_unique<RowIterator>(
      store_.NewIterator(StoredFamily(family), std::move(options)));
}

}  // namespace sluice::db
