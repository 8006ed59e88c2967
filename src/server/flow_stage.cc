#include "server/flow_stage.h"

#include <cstdlib>
#include <cstring>

#include "flow_engine/guards.h"
#include "flow_engine/starts.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::server {

using json::Value;

Result<std::unique_ptr<FlowStage>> FlowStage::Set(const cli::AppDirectory& app, uint64_t now_ms,
                                                  const std::vector<std::string>& directories) {
  std::unique_ptr<FlowStage> stage(new FlowStage(now_ms));
  RETURN_IF_ERROR(stage->Open(app, directories));
  return stage;
}

FlowStage::~FlowStage() {
  app_.reset();
  services_.reset();
  procedures_.reset();
  queries_.reset();
  database_.reset();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status FlowStage::Open(const cli::AppDirectory& app, const std::vector<std::string>& directories) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "sluice_trial_XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return Error(Code::kIo, "trial.no_directory", "can't make a temporary directory {}: {}", path,
                 error ? error.message() : std::strerror(errno));
  }
  directory_ = path;
  db::DatabaseOptions options;
  options.durability = db::Durability::kNone;
  ASSIGN_OR_RETURN(database_, db::Database::Open(directory_ / "data", options, clock_));
  queries_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
  procedures_ = std::make_unique<procedure::Manager>(*queries_, procedure::ManagerOptions{});
  RETURN_IF_ERROR(procedures_->Start());
  function::Services functions{*database_, *queries_, clock_};
  functions.http = &http_;
  functions.handlers_use_clock = true;
  services_ = std::make_unique<flow_engine::Services>(
      flow_engine::Services{functions, *queries_, *procedures_, directories});
  RETURN_IF_ERROR(MakeKeyspaces(app.keyspaces));
  return MakeTables(app.sql);
}

Status FlowStage::MakeKeyspaces(const cli::KeyspacesSpec& keyspaces) {
  for (const auto& [bucket, spec] : keyspaces.buckets) {
    RETURN_IF_ERROR(database_->admin().CreateBucket(bucket));
    for (const auto& [scope, collections] : spec.scopes) {
      if (scope != db::kDefaultName) RETURN_IF_ERROR(database_->admin().CreateScope(bucket, scope));
      for (const auto& [collection, unused] : collections.collections) {
        if (collection == db::kDefaultName) continue;
        RETURN_IF_ERROR(database_->admin().CreateCollection({bucket, scope, collection}));
      }
    }
  }
  return OkStatus();
}

Status FlowStage::MakeTables(const std::vector<cli::SqlFileStatement>& statements) {
  for (const cli::SqlFileStatement& each : statements) {
    if (each.kind != "table" && each.kind != "index") continue;
    const auto fail = [&](const Status& status) {
      return status.At({each.path, each.statement.line, each.statement.column});
    };
    const auto plan = queries_->Prepare(each.statement.text, {});
    if (!plan) return fail(plan.error());
    const auto run = queries_->Execute(*plan, {});
    if (!run) return fail(run.error());
    while ((*run)->Next()) {
    }
    if (!(*run)->status().ok()) return fail((*run)->status());
  }
  return OkStatus();
}

Status FlowStage::Load(flow_engine::Bundle bundle, flow::Problems* problems) {
  app_ = flow_engine::MakeApp(*services_, std::move(bundle), "", flow_engine::Missing::kIsWrong,
                              problems);
  if (app_ != nullptr) return OkStatus();
  return Error(Code::kInvalidArgument, "trial.invalid", "the app has errors");
}

void FlowStage::Check(flow::Problems* problems) const {
  flow_engine::CheckKeyspaces(*app_, *services_, flow_engine::Missing::kIsWrong, problems);
  flow_engine::CheckStarts(*app_, *services_, flow_engine::Missing::kIsWrong, problems);
  flow_engine::CheckGuards(*app_, problems);
}

Status FlowStage::Store(const db::KeyspaceName& keyspace, const std::string& key,
                        const Value& value) {
  ASSIGN_OR_RETURN(const db::KeyspaceId id, database_->Resolve(keyspace));
  db::Document document;
  document.body = json::ToText(value);
  db::Commit commit;
  commit.shard = database_->ShardOf(id, key);
  commit.writes.push_back(db::PutWrite(id, key, std::move(document)));
  return database_->Apply(std::move(commit)).status;
}

Result<Value> FlowStage::Find(const db::KeyspaceName& keyspace, const std::string& key) const {
  ASSIGN_OR_RETURN(const db::KeyspaceId id, database_->Resolve(keyspace));
  ASSIGN_OR_RETURN(const auto document, database_->Get(id, key));
  if (!document) return Value();
  if (document->datatype != db::Datatype::kJson) return Value::Bytes(document->body);
  return json::Parse(document->body);
}

}  // namespace sluice::server
