#include "procedure/function_store.h"

#include <optional>
#include <utility>

#include "base/bytes.h"
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

Status FunctionStore::Load() {
  db::RowRange options;
  options.from = kFunctionRows;
  options.to = PrefixEnd(kFunctionRows);
  const auto iterator =
      database_.rows().NewIterator(db::RowFamily::kMeta, db::kDefinitionsShard, options);
  auto table = std::make_shared<UserFunctionTable>(*this->table());
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const Value row, db::DecodeMetaJson(iterator->key(), iterator->value()));
    UserFunction function{.name = std::string(iterator->key().substr(kFunctionRows.size())),
                          .aggregate = row["type"] == Value("aggregate"),
                          .deterministic = row["deterministic"] == Value(true)};
    std::string key = LowerCase(function.name);
    table->functions[std::move(key)] = std::make_shared<const UserFunction>(std::move(function));
  }
  table_.Set(std::move(table));
  return iterator->status();
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
  auto next = std::make_shared<UserFunctionTable>(*table());
  std::string key = LowerCase(function.name);
  if (const auto known = next->Find(key)) {
    return Error(Code::kAlreadyExists, "procedure.function_exists",
                 "there is a function '{}' already: drop it first", known->name);
  }
  RETURN_IF_ERROR(Save(function.name, &function));
  next->functions[std::move(key)] = std::make_shared<const UserFunction>(std::move(function));
  ++next->version;
  table_.Set(std::move(next));
  return OkStatus();
}

Status FunctionStore::Drop(const std::string& name, bool aggregate) {
  auto next = std::make_shared<UserFunctionTable>(*table());
  const auto known = next->Find(LowerCase(name));
  if (known == nullptr || known->aggregate != aggregate) {
    return Error(Code::kNotFound, "procedure.function_not_found", "there is no {} function '{}'",
                 KindOf(aggregate), name);
  }
  RETURN_IF_ERROR(Save(known->name, nullptr));
  next->functions.erase(LowerCase(name));
  ++next->version;
  table_.Set(std::move(next));
  return OkStatus();
}

}  // namespace sluice::procedure
