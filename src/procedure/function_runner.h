// Runs Lua functions inside a statement. Each function that the statement calls has a runtime, made
// at its first call and kept until the statement ends; an aggregate has an instance of its program
// for each group.
//
// A function's own statements only read. Belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lua/runtime.h"
#include "procedure/session.h"
#include "procedure/store.h"
#include "query/engine.h"
#include "query/user_functions.h"

namespace sluice::procedure {

class FunctionRunner final : public query::UserFunctionRunner {
 public:
  // `limits` hold for one call; the time of the request holds for all calls together.
  FunctionRunner(query::QueryEngine& engine, const Store& store, query::QueryContext context,
                 query::RunRequest request, lua::Limits limits);

  Result<Value> Call(const query::UserFunction& function, std::vector<Value> arguments) override;
  Result<std::unique_ptr<query::UserAggregate>> StartAggregate(
      const query::UserFunction& function) override;

 private:
  class Aggregate;
  struct Loaded {
    std::string name;
    Session session;
    std::unique_ptr<lua::Runtime> runtime;
  };

  Result<Loaded*> Load(const query::UserFunction& function);
  static Result<Value> Run(Loaded& loaded, const std::vector<Value>& arguments,
                           std::string_view function, lua::Runtime::Instance instance);

  query::QueryEngine& engine_;
  const Store& store_;
  const query::QueryContext context_;
  query::RunRequest request_;
  lua::Limits limits_;
  std::map<std::string, std::unique_ptr<Loaded>> loaded_;
};

}  // namespace sluice::procedure
