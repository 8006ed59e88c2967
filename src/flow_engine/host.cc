// How an app is loaded and replaced. Order matters in two places:
//
// - Start: the app first, then the runs that go on with it, then the starts of new ones. Stop is
// the
//   other way round: the engine ends last, because all others give it work.
// - Apply: an app is visible (app()) only after its row is stored, and its flows start only after
//   it is visible. The row of an app with durable flows is kept a second time under its version
//   (AppKey), for runs that outlive the app; Runs::Sweep removes that row later.
#include "flow_engine/host.h"

#include "base/bytes.h"
#include "base/log.h"
#include "db/catalog_rows.h"
#include "flow_engine/guards.h"

namespace sluice::flow_engine {
namespace {

// For all relays together. A relay has at most as many requests on their way as instances.
constexpr size_t kMostRelayThreads = 1000;

std::shared_ptr<const App> EmptyApp(const Services& services) {
  flow::Problems none;
  return MakeApp(services, {}, "", Missing::kIsWrong, &none);
}

// Newer ones sort after older ones.
std::string NewVersion(db::Database& database) {
  std::string stamp;
  AppendU64(&stamp, database.NewCas());
  return ToHex(stamp);
}

bool HasDurableFlow(const App& app) {
  for (const auto& [id, flow] : app.flows->flows()) {
    if (flow->durable) return true;
  }
  return false;
}

}  // namespace

Host::Host(Services services, EngineOptions options, RunRetention retention)
    : services_(std::move(services)),
      engine_(services_.function.database, services_.function.clock, options),
      relays_({.kind = "pool",
               .owner = "relays",
               .most_threads = kMostRelayThreads,
               .most_running = Pool::Processors()}),
      runs_(
          services_, engine_, [this] { return app(); }, retention),
      starts_(services_, engine_,
              [this](const App& app) -> Result<bool> {
                ASSIGN_OR_RETURN(const StoredApp stored, ReadApp());
                return IsStored(app, stored);
              }),
      app_(EmptyApp(services_)) {}

Status Host::Start() {
  refresher_ =
      std::make_unique<db::RowRefresher>(services_.function.database, std::string(kAppRow), "app",
                                         [this](const std::string&) { OnRowChanged(); });
  RETURN_IF_ERROR(LoadApp());
  RETURN_IF_ERROR(runs_.Start());
  RETURN_IF_ERROR(starts_.Configure(app(), Starts::Autostarts::kRun));
  starts_.Start();
  refresher_->Start();
  return OkStatus();
}

void Host::Stop() {
  refresher_.reset();
  starts_.Stop();
  runs_.Stop();
  relays_.Stop();
  engine_.Stop();
  runs_.Leave();
}

Result<Host::StoredApp> Host::ReadApp() const {
  std::string row;
  ASSIGN_OR_RETURN(const bool found,
                   services_.function.database.rows().Get(db::RowFamily::kMeta,
                                                          db::kDefinitionsShard, kAppRow, &row));
  if (!found) return StoredApp();
  ASSIGN_OR_RETURN(const json::Value value, db::DecodeMetaJson(kAppRow, row));
  StoredApp stored;
  ASSIGN_OR_RETURN(stored.bundle, BundleFromJson(value));
  if (value["version"].is_string()) stored.version = value["version"].AsString();
  return stored;
}

std::shared_ptr<const App> Host::Compile(StoredApp stored) const {
  flow::Problems problems;
  auto app =
      MakeApp(services_, std::move(stored.bundle), stored.version, Missing::kWasDropped, &problems);
  if (app != nullptr) CheckUse(*app, Missing::kWasDropped, &problems);
  for (const flow::Problem& problem : problems.Sorted()) {
    if (app == nullptr) {
      log::Error("the app's flows can't be loaded", {{"problem", problem.ToString()}});
    } else {
      log::Warn("the app's flows are loaded with a problem", {{"problem", problem.ToString()}});
    }
  }
  return app;
}

Status Host::LoadApp() {
  ASSIGN_OR_RETURN(StoredApp stored, ReadApp());
  if (stored.bundle.empty()) return OkStatus();
  auto app = Compile(std::move(stored));
  if (app == nullptr) return OkStatus();
  runs_.Note(app);
  app_.Set(std::move(app));
  return OkStatus();
}

bool Host::IsStored(const App& app, const StoredApp& stored) {
  if (stored.bundle.empty() || app.bundle.empty()) {
    return stored.bundle.empty() && app.bundle.empty();
  }
  return app.version == stored.version;
}

Status Host::Refresh(const std::shared_ptr<const App>& made) {
  ASSIGN_OR_RETURN(StoredApp stored, ReadApp());
  const std::shared_ptr<const App> before = app();
  if (IsStored(*before, stored)) return OkStatus();
  std::shared_ptr<const App> next = made;
  if (next == nullptr || !IsStored(*next, stored)) next = Compile(std::move(stored));
  if (next == nullptr) next = EmptyApp(services_);
  runs_.Note(next);
  app_.Set(next);
  const bool same = before->bundle == next->bundle;
  return starts_.Configure(std::move(next),
                           same ? Starts::Autostarts::kLeave : Starts::Autostarts::kRun);
}

void Host::OnRowChanged() {
  const MutexLock change(change_mutex_);
  const Status refreshed = Refresh(nullptr);
  if (refreshed.ok()) return;
  log::Error("the app's flows can't be replaced", {{"error", refreshed.ToString()}});
}

void Host::Check(Bundle bundle, flow::Problems* problems) const {
  const auto app = MakeApp(services_, std::move(bundle), "", Missing::kMayBeDeclared, problems);
  if (app == nullptr) return;
  CheckUse(*app, Missing::kMayBeDeclared, problems);
  CheckGuards(*app, problems);
}

void Host::CheckUse(const App& app, Missing missing, flow::Problems* problems) const {
  CheckKeyspaces(app, services_, missing, problems);
  CheckStarts(app, services_, missing, problems);
}

Status Host::Apply(Bundle bundle, flow::Problems* problems) {
  const MutexLock change(change_mutex_);
  db::Database& database = services_.function.database;
  auto app =
      MakeApp(services_, std::move(bundle), NewVersion(database), Missing::kIsWrong, problems);
  if (app == nullptr) return OkStatus();
  CheckUse(*app, Missing::kIsWrong, problems);
  CheckGuards(*app, problems);
  if (problems->has_errors()) return OkStatus();
  db::Commit commit;
  std::optional<std::string> row;
  if (!app->bundle.empty()) {
    json::Value value = ToJson(app->bundle);
    value.Set("version", json::Value(app->version));
    row = db::EncodeMetaJson(value);
  }
  // Before its row is stored: the sweeper removes rows of apps that were not noted.
  runs_.Note(app);
  // Runs may need this app when another one has replaced it.
  if (HasDurableFlow(*app)) {
    commit.rows.push_back(
        {db::RowFamily::kRun, db::kDefinitionsShard, AppKey(app->version), row, std::nullopt});
  }
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard, std::string(kAppRow),
                         std::move(row), std::nullopt});
  RETURN_IF_ERROR(database.Apply(std::move(commit)).status);
  return Refresh(app);
}

}  // namespace sluice::flow_engine
