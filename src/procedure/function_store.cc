#include "procedure/function_store.h"

#include <optional>
#include <utility>

#include "db/catalog_rows.h"

namespace sluice::procedure {
namespace {

using json::Value;
using query::UserFunction;
using query::UserFunctionTable;

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

std::string_view KindOf(bool aggregate) { return aggregate ? "aggregate" : "scalar"; }

}  // namespace

Status CheckFunction(const UserFunction& function, const lua::Program& program) {
  if (function.aggregate ? program.Has("step") && program.Has("final")
                         : program.Has(function.name)) {
    return OkStatus();
  }
  return Error(Code::kInvalidArgument, "procedure.function",
               "the {} function '{}' needs {} in the procedure of its name",
               KindOf(function.aggregate), function.name,
               function.aggregate ? "'local function step' and 'local function final'"
                                  : "'local function " + function.name + "'");
}

FunctionStore::FunctionStore(db::Database& database)
    : database_(database),
      table_(std::make_shared<const UserFunctionTable>()),
      watch_(database, std::string(kFunctionRows),
             [this](const auto& name, const auto& row) { return Refresh(name, row); }) {}

Status FunctionStore::Refresh(const std::string& name, const std::optional<std::string>& row) {
  auto next = std::make_shared<UserFunctionTable>(*table());
  const std::string key = LowerCase(name);
  if (row) {
    ASSIGN_OR_RETURN(const Value value,
                     db::DecodeMetaJson(std::string(kFunctionRows) + name, *row));
    next->functions[key] = std::make_shared<const UserFunction>(
        UserFunction{.name = name,
                     .aggregate = value["type"] == Value("aggregate"),
                     .deterministic = value["deterministic"] == Value(true)});
  } else if (const auto known = next->Find(key); known != nullptr && known->name == name) {
    next->functions.erase(key);
  }
  ++next->version;
  table_.Set(std::move(next));
  return OkStatus();
}

std::shared_ptr<const UserFunction> FunctionStore::Of(const std::string& procedure) const {
  auto function = table()->Find(LowerCase(procedure));
  return function != nullptr && function->name == procedure ? function : nullptr;
}

// Deletes the row if `function` is null.
Status FunctionStore::Save(const std::string& name, const UserFunction* function) {
  db::Commit commit;
  std::optional<std::string> row;
  if (function != nullptr) {
    row = db::EncodeMetaJson(Value::Object({{"type", Value(KindOf(function->aggregate))},
                                            {"deterministic", Value(function->deterministic)}}));
  }
  commit.rows.push_back({db::RowFamily::kMeta, db::kDefinitionsShard,
                         std::string(kFunctionRows) + name, std::move(row), std::nullopt});
  return database_.Apply(std::move(commit)).status;
}

Status FunctionStore::Create(UserFunction function) {
  if (const auto known = table()->Find(LowerCase(function.name))) {
    return Error(Code::kAlreadyExists, "procedure.function_exists",
                 "there is a function '{}' already: drop it first", known->name);
  }
  return Save(function.name, &function);
}

Status FunctionStore::Drop(const std::string& name, bool aggregate) {
  const auto known = table()->Find(LowerCase(name));
  if (known == nullptr || known->aggregate != aggregate) {
    return Error(Code::kNotFound, "procedure.function_not_found", "there is no {} function '{}'",
                 KindOf(aggregate), name);
  }
  return Save(known->name, nullptr);
}

}  // namespace sluice::procedure
