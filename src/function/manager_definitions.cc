// Definitions of functions and the configuration of all: kept in memory and in meta rows.
#include "db/catalog_rows.h"
#include "function/managed_function.h"

namespace sluice::function {
namespace {

std::string RowKey(const std::string& name) { return std::string(kDefinitionRows) + name; }

bool SameButDynamic(const Definition& old, const Definition& next) {
  json::Value a = PrintDefinition(old, Secrets::kShown);
  json::Value b = PrintDefinition(next, Secrets::kShown);
  a.Remove("settings");
  b.Remove("settings");
  return a == b && OnlyDynamicChanges(old.settings, next.settings);
}

}  // namespace

Status Manager::Save(const Definition& definition) {
  const json::Value row = PrintDefinition(definition, Secrets::kShown);
  // What can't be read again is not stored.
  if (const auto read = ParseDefinition(row); !read) return read.error();
  db::Commit commit;
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard, RowKey(definition.Location()),
                         db::EncodeMetaJson(row), std::nullopt});
  return services_.database.Apply(std::move(commit)).status;
}

Status Manager::Store(Definition definition) {
  const uint32_t most = config().function_bytes;
  if (definition.code.size() > most && CodeBytes(definition.code) > most) {
    return Error(Code::kTooLarge, "function.too_large",
                 "the code of a function has at most {} bytes when it is deflated (function_size), "
                 "got {}",
                 most, CodeBytes(definition.code));
  }
  definition.settings.deployed = false;
  definition.settings.processing = false;
  const std::string location = definition.Location();
  while (true) {
    const auto fresh = std::make_shared<Function>(services_.database, logs_, definition);
    FunctionPtr function;
    bool made = false;
    {
      const auto functions = functions_.Lock();
      const auto [at, inserted] = functions->try_emplace(location, fresh);
      function = at->second;
      made = inserted;
    }
    ASSIGN_OR_RETURN(const auto change, function->BeginChange());
    if (function->removed) continue;  // meanwhile: make another one
    const Status stored = Replace(function, std::move(definition));
    if (!stored.ok() && made) {
      function->removed = true;
      functions_.Lock()->erase(location);
    }
    return stored;
  }
}

// Under the function's change lock.
Status Manager::Replace(const FunctionPtr& function, Definition definition) {
  const std::string location = definition.Location();
  const std::shared_ptr<const Definition> old = function->current();
  const State state = function->state();
  KeepSecrets(*old, &definition);
  if (state != State::kUndeployed) {
    definition.settings.deployed = true;
    definition.settings.processing = state == State::kDeployed;
    definition.instance_id = old->instance_id;
    definition.uuid = old->uuid;
  }
  if (state == State::kPaused &&
      (old->source != definition.source || old->metadata != definition.metadata ||
       old->settings.boundary != definition.settings.boundary)) {
    return WrongState("function.not_undeployed", location, state, "moved");
  }
  if (state == State::kDeployed && !SameButDynamic(*old, definition)) {
    return WrongState("function.not_undeployed", location, state, "changed");
  }
  RETURN_IF_ERROR(Save(definition));
  return Refresh(function);
}

Status Manager::Check(Definition definition) {
  if (const auto old = Get(definition.Location())) KeepSecrets(*(*old)->current(), &definition);
  const auto prepared =
      CheckDeployment(std::make_shared<const Definition>(std::move(definition)), CheckFor::kAdvice);
  return prepared ? OkStatus() : prepared.error();
}

Result<Definition> Manager::Find(const std::string& name) const {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  return *function->current();
}

std::vector<Definition> Manager::List() const {
  std::vector<Definition> list;
  for (const auto& [name, function] : All()) list.push_back(*function->current());
  return list;
}

Status Manager::Remove(const std::string& name) {
  ASSIGN_OR_RETURN(const FunctionPtr function, Get(name));
  ASSIGN_OR_RETURN(const auto change, function->BeginChange());
  if (function->state() != State::kUndeployed) {
    return WrongState("function.not_undeployed", name, function->state(), "deleted");
  }
  db::Commit commit;
  commit.rows.push_back(
      {db::RowFamily::kMeta, db::kDefinitionsShard, RowKey(name), std::nullopt, std::nullopt});
  RETURN_IF_ERROR(services_.database.Apply(std::move(commit)).status);
  return Refresh(function);
}

// --- configuration of all functions ------------------------------------------------------------

GlobalConfig Manager::config() const { return config_.Copy(); }

Status Manager::SetConfig(const json::Value& changes) {
  const MutexLock lock(shared_rows_mutex_);
  ASSIGN_OR_RETURN(const GlobalConfig next, MergeConfig(config(), changes));
  db::Commit commit;
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard, std::string(kConfigRow),
                         db::EncodeMetaJson(next.given), std::nullopt});
  return services_.database.Apply(std::move(commit)).status;
}

Status Manager::RefreshConfig(const std::optional<std::string>& row) {
  GlobalConfig changed;
  if (row) {
    ASSIGN_OR_RETURN(const json::Value given, db::DecodeMetaJson(kConfigRow, *row));
    ASSIGN_OR_RETURN(changed, MergeConfig({}, given));
  }
  *services_.curl_allowed = changed.curl;
  config_.Set(std::move(changed));
  return OkStatus();
}

}  // namespace sluice::function
