#include "db/row_refresher.h"

#include <utility>

#include "db/row_watch.h"

namespace sluice::db {

RowRefresher::RowRefresher(Database& database, const std::string& prefix, std::string module,
                           Refresh refresh)
    : module_(std::move(module)), refresh_(std::move(refresh)) {
  const auto changed = [this, skip = prefix.size()](std::span<const std::string> keys) {
    for (const std::string& key : keys) changed_.Lock()->insert(key.substr(skip));
    wake_.Wake();
  };
  subscription_ = WatchMetaKeys(database, prefix, changed);
}

RowRefresher::~RowRefresher() {
  subscription_.reset();
  wake_.Close();
  if (thread_.joinable()) thread_.join();
}

void RowRefresher::Start() {
  thread_ = Thread({"rows", module_}, [this] { Loop(); });
}

void RowRefresher::Loop() {
  while (!wake_.closed()) {
    const uint64_t seen = wake_.news();
    const std::set<std::string> changed = changed_.Exchange({});
    for (const std::string& name : changed) {
      if (wake_.closed()) return;
      refresh_(name);
    }
    if (changed.empty()) wake_.Wait(seen);
  }
}

}  // namespace sluice::db
