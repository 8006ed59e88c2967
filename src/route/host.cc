#include "route/host.h"

#include "base/log.h"
#include "db/catalog_rows.h"

namespace sluice::route {
namespace {

std::shared_ptr<const App> EmptyApp(const Services& services) {
  flow::Problems none;
  return MakeApp(services, {}, &none);
}

}  // namespace

Host::Host(Services services, EngineOptions options)
    : services_(std::move(services)),
      engine_(services_.function.clock, options),
      app_(EmptyApp(services_)) {}

Status Host::Start() {
  std::string row;
  ASSIGN_OR_RETURN(const bool found,
                   services_.function.database.store().Get(storage::Family::kMeta, kAppRow, &row));
  if (!found) return OkStatus();
  ASSIGN_OR_RETURN(const json::Value value, db::DecodeMetaJson(kAppRow, row));
  ASSIGN_OR_RETURN(Bundle bundle, BundleFromJson(value));
  flow::Problems problems;
  auto app = MakeApp(services_, std::move(bundle), &problems);
  if (app == nullptr) {
    for (const flow::Problem& problem : problems.Sorted()) {
      log::Error("the app's flows can't be loaded", {{"problem", problem.ToString()}});
    }
    return OkStatus();
  }
  const std::lock_guard lock(mutex_);
  app_ = std::move(app);
  return OkStatus();
}

std::shared_ptr<const App> Host::app() const {
  const std::lock_guard lock(mutex_);
  return app_;
}

void Host::Check(Bundle bundle, flow::Problems* problems) const {
  MakeApp(services_, std::move(bundle), problems);
}

Status Host::Apply(Bundle bundle, flow::Problems* problems) {
  const std::lock_guard change(change_mutex_);
  auto app = MakeApp(services_, std::move(bundle), problems);
  if (app == nullptr) return OkStatus();
  db::Commit commit;
  std::optional<std::string> row;
  if (!app->bundle.empty()) row = db::EncodeMetaJson(ToJson(app->bundle));
  commit.rows.push_back(
      {storage::Family::kMeta, std::string(kAppRow), std::move(row), std::nullopt});
  RETURN_IF_ERROR(services_.function.database.Apply(std::move(commit)).status);
  const std::lock_guard lock(mutex_);
  app_ = std::move(app);
  return OkStatus();
}

}  // namespace sluice::route
