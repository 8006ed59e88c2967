#include "function/catalog_watch.h"

#include <chrono>
#include <optional>
#include <utility>

namespace sluice::function {
namespace {

// The catalog has no listeners; to compare its version costs next to nothing.
constexpr std::chrono::milliseconds kInterval(200);

}  // namespace

CatalogWatch::CatalogWatch(const db::Database& database, std::function<void()> changed)
    : database_(database),
      changed_(std::move(changed)),
      thread_({"fn catalog"}, [this] { Loop(); }) {}

CatalogWatch::~CatalogWatch() {
  stop_.Close();
  thread_.join();
}

void CatalogWatch::Loop() {
  std::optional<uint64_t> seen;
  while (!stop_.closed()) {
    const uint64_t version = database_.catalog()->version();
    if (version != seen) {
      seen = version;
      changed_();
      continue;
    }
    stop_.Wait(stop_.news(), MachineClock().Now() + kInterval);
  }
}

}  // namespace sluice::function
