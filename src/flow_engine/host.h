// The app that a server runs: kept in a meta row (docs/formats/flows.md), replaced as a whole. Runs
// finish with the app that they began with.
//
// Concurrency: any thread.
#pragma once

#include <memory>

#include "base/locked.h"
#include "base/mutex.h"
#include "flow/problem.h"
#include "flow_engine/app.h"
#include "flow_engine/engine.h"
#include "flow_engine/pool.h"
#include "flow_engine/runs.h"
#include "flow_engine/starts.h"

namespace sluice::flow_engine {

inline constexpr std::string_view kAppRow = "flows/app";

class Host {
 public:
  Host(Services services, EngineOptions options, RunRetention retention = {});
  ~Host() { Stop(); }

  // Loads what is stored. What was dropped since is told in the log, and to those who call what
  // needs it; an app that can't be compiled any more is left out, and told there, too. Durable runs
  // go on.
  Status Start();
  void Stop();

  std::shared_ptr<const App> app() const { return app_.Copy(); }
  Engine& engine() { return engine_; }
  Runs& runs() { return runs_; }
  // Threads of relays. These wait for clients, however slow they are: of other threads they would
  // take all.
  Pool& relays() { return relays_; }

  // Compiles the bundle; with errors nothing changes. Else it is stored and runs from then on.
  // Waits.
  Status Apply(Bundle bundle, flow::Problems* problems);
  // What Apply would say.
  void Check(Bundle bundle, flow::Problems* problems) const;

 private:
  Status LoadApp();
  // What an app needs of the database.
  void CheckUse(const App& app, Missing missing, flow::Problems* problems) const;

  const Services services_;
  Engine engine_;
  Pool relays_;
  Runs runs_;
  Starts starts_;
  Mutex change_mutex_;                      // one change at a time
  Locked<std::shared_ptr<const App>> app_;  // never null
};

}  // namespace sluice::flow_engine
