#include "function/catalog_watch.h"

#include <chrono>
#include <optional>
#include <utility>

namespace sluice::function {
namespace {

// The catalog tells nobody of its changes; to look at its number costs nothing.
constexpr std::chrono::milliseconds kInterval(200);

}  // namespace

CatalogWatch::CatalogWatch(const db::Database& database, std::function<void()> changed)
    : database_(database),
      changed_(std::move(changed)),
      thread_({"fn catalog"}, [this] { Loop(); }) {}

CatalogWatch::~CatalogWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void CatalogWatch::Loop() {
  std::optional<uint64_t> seen;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const uint64_t version = database_.catalog()->version();
    if (version != seen) {
      seen = version;
      lock.unlock();
      changed_();
      lock.lock();
      continue;
    }
    wake_.wait_for(lock, kInterval, [this] { return stopping_; });
  }
}

}  // namespace sluice::function
