// Lua procedures, behind the interface that `query` declares.
//
// Concurrency: any thread. Outlives the runs that it started; the engine knows it from Start to
// the destructor.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lua/runtime.h"
#include "procedure/store.h"
#include "query/engine.h"
#include "query/procedures.h"

namespace sluice::procedure {

struct ManagerOptions {
  lua::Limits limits;
  size_t max_runs = 1000;  // at the same time
};

class Manager final : public query::Procedures {
 public:
  Manager(query::QueryEngine& engine, ManagerOptions options);
  ~Manager() override;

  // Reads what is stored, and takes the engine's statements from then on.
  Status Start();

  Result<std::vector<Value>> Define(const query::ProcedureStatement& statement) override;
  Result<std::unique_ptr<query::Run>> Start(const std::string& name, std::vector<Value> arguments,
                                            const query::QueryContext& context,
                                            query::RunRequest request) override;
  std::vector<Value> List() const override { return store_.List(); }

 private:
  query::QueryEngine& engine_;
  const ManagerOptions options_;
  Store store_;
  const std::shared_ptr<std::atomic<size_t>> running_;
};

}  // namespace sluice::procedure
