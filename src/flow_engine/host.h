// Has the app that a server runs, with its engine, runs and starts. The app is stored in a meta row
// (docs/formats/flows.md) and replaced as a whole. Runs finish with the app that they began with.
// The app that runs follows the row, whoever writes it: Apply calls Refresh after its commit, and
// for the changes of others a thread does (db/row_refresher.h).
//
// Concurrency: any thread.
#pragma once

#include <memory>
#include <string>

#include "base/locked.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "db/row_refresher.h"
#include "flow/problem.h"
#include "flow_engine/app.h"
#include "flow_engine/engine.h"
#include "flow_engine/runs.h"
#include "flow_engine/starts.h"

namespace sluice::flow_engine {

inline constexpr std::string_view kAppRow = "flows/app";

class Host {
 public:
  Host(Services services, EngineOptions options, RunRetention retention = {});
  ~Host() { Stop(); }

  // Loads the stored app, and goes on with durable runs. If keyspaces were dropped since, it logs
  // warnings, and calls that need them fail. If the app can't be compiled any more, it logs errors
  // and runs without an app.
  Status Start();
  void Stop();

  std::shared_ptr<const App> app() const { return app_.Copy(); }
  Engine& engine() { return engine_; }
  Runs& runs() { return runs_; }
  // Threads for relays, which wait for clients, however slow these are: relays could keep all
  // threads of the engine.
  Pool& relays() { return relays_; }

  // Compiles the bundle, stores it, waits for that and runs it. If `problems` has errors then,
  // nothing has changed.
  Status Apply(Bundle bundle, flow::Problems* problems);
  // Adds the problems that Apply would find.
  void Check(Bundle bundle, flow::Problems* problems) const;

 private:
  // What the row says; version and bundle are empty when there is none.
  struct StoredApp {
    std::string version;
    Bundle bundle;
  };
  Result<StoredApp> ReadApp() const;
  static bool IsStored(const App& app, const StoredApp& stored);
  // Null, with errors in the log, if it can't be compiled.
  std::shared_ptr<const App> Compile(StoredApp stored) const;
  Status LoadApp();
  // Runs the app of the row, if that does not run yet. `made` is an app that may be the row's.
  Status Refresh(const std::shared_ptr<const App>& made) REQUIRES(change_mutex_);
  void OnRowChanged();
  // Checks that the database has the keyspaces of the app.
  void CheckUse(const App& app, Missing missing, flow::Problems* problems) const;

  const Services services_;
  Engine engine_;
  Pool relays_;
  Runs runs_;
  Starts starts_;
  Mutex change_mutex_;                      // one change at a time
  Locked<std::shared_ptr<const App>> app_;  // never null
  std::unique_ptr<db::RowRefresher> refresher_;
};

}  // namespace sluice::flow_engine
