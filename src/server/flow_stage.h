// The environment of a case of `sluice flow test`: a database in a temporary directory with the
// keyspaces and tables of the app, and the app itself. All of it is removed afterwards.
//
// One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "cli/app_directory.h"
#include "db/database.h"
#include "flow/problem.h"
#include "flow_engine/app.h"
#include "function/trial/canned_http.h"
#include "procedure/manager.h"
#include "query/engine.h"

namespace sluice::server {

class FlowStage {
 public:
  // An error: it can't be set up.
  static Result<std::unique_ptr<FlowStage>> Set(const cli::AppDirectory& app, uint64_t now_ms,
                                                const std::vector<std::string>& directories);
  ~FlowStage();
  FlowStage(const FlowStage&) = delete;
  FlowStage& operator=(const FlowStage&) = delete;

  // All that is wrong goes to `problems`.
  Status Load(flow_engine::Bundle bundle, flow::Problems* problems);
  // Reports what the loaded app needs and the database lacks.
  void Check(flow::Problems* problems) const;
  Status Store(const db::KeyspaceName& keyspace, const std::string& key, const json::Value& value);
  // Missing if the document does not exist.
  Result<json::Value> Find(const db::KeyspaceName& keyspace, const std::string& key) const;

  const flow_engine::App& app() const { return *app_; }
  SteppedClock& clock() { return clock_; }

 private:
  explicit FlowStage(uint64_t now_ms) : clock_(now_ms), http_(no_exchanges_) {}
  Status Open(const cli::AppDirectory& app, const std::vector<std::string>& directories);
  Status MakeKeyspaces(const cli::KeyspacesSpec& keyspaces);
  Status MakeTables(const std::vector<cli::SqlFileStatement>& statements);

  SteppedClock clock_;
  const std::vector<function::trial::Exchange> no_exchanges_;
  function::trial::CannedHttp http_;
  std::filesystem::path directory_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> queries_;
  std::unique_ptr<procedure::Manager> procedures_;
  std::unique_ptr<flow_engine::Services> services_;
  std::shared_ptr<const flow_engine::App> app_;
};

}  // namespace sluice::server
