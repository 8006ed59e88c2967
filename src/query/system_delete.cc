#include "query/system_delete.h"

#include <utility>
#include <vector>

#include "query/error.h"
#include "query/parse/parser.h"

namespace sluice::query {
namespace {

// The field with the id of a row of each.
constexpr std::pair<std::string_view, std::string_view> kIds[] = {
    {"active_requests", "requestId"}, {"completed_requests", "requestId"}, {"prepareds", "name"}};

// Whether it is worth parsing: nearly all statements are not.
bool MayBeOne(std::string_view statement) {
  return statement.find("system") != std::string_view::npos &&
         statement.find_first_of("dD") != std::string_view::npos;
}

class SystemDeleteRun final : public Run {
 public:
  SystemDeleteRun(std::unique_ptr<Run> select, std::function<bool(const std::string&)> remove)
      : select_(std::move(select)), remove_(std::move(remove)) {}

  bool Next() override {
    std::vector<std::string> ids;
    while (select_->Next()) {
      if (select_->row().is_string()) ids.emplace_back(select_->row().AsString());
    }
    if (!select_->status().ok()) return false;
    for (const std::string& id : ids) removed_ += remove_(id) ? 1 : 0;
    return false;
  }
  const Value& row() const override { return select_->row(); }
  Status status() const override { return select_->status(); }
  const std::vector<Status>& row_errors() const override { return select_->row_errors(); }
  const std::vector<Warning>& warnings() const override { return select_->warnings(); }
  uint64_t mutations() const override { return removed_; }
  uint64_t sorted() const override { return 0; }
  Value profile() const override { return {}; }

 private:
  const std::unique_ptr<Run> select_;
  const std::function<bool(const std::string&)> remove_;
  uint64_t removed_ = 0;
};

}  // namespace

Result<std::optional<SystemDelete>> AsSystemDelete(std::string_view statement) {
  if (!MayBeOne(statement)) return std::nullopt;
  const Result<Statement> parsed = ParseStatement(statement);
  const auto* body = parsed ? std::get_if<DeleteStatement>(&parsed->body) : nullptr;
  if (body == nullptr || !body->target.keyspace || body->target.keyspace->name_space != "system") {
    return std::nullopt;
  }
  const std::string& keyspace = body->target.keyspace->parts.back();
  if (body->returning || !body->let.empty() || body->target.use_keys) {
    return QueryFail(QueryCode::kPlan,
                     "DELETE FROM system:{}: WHERE and LIMIT can be used, nothing else", keyspace);
  }
  for (const auto& [name, id] : kIds) {
    if (name != keyspace) continue;
    const std::string alias = body->target.alias.empty() ? keyspace : body->target.alias;
    std::string select =
        fmt::format("SELECT RAW `{0}`.`{1}` FROM system:`{2}` AS `{0}`", alias, id, keyspace);
    if (body->where != nullptr) select += " WHERE " + ToText(*body->where);
    if (body->limit != nullptr) select += " LIMIT " + ToText(*body->limit);
    return SystemDelete{.keyspace = keyspace, .select = std::move(select)};
  }
  return QueryFail(QueryCode::kPlan,
                   "system:{} can't be deleted from; active_requests, completed_requests and "
                   "prepareds can",
                   keyspace);
}

std::unique_ptr<Run> MakeSystemDeleteRun(std::unique_ptr<Run> select,
                                         std::function<bool(const std::string& id)> remove) {
  return std::make_unique<SystemDeleteRun>(std::move(select), std::move(remove));
}

}  // namespace sluice::query
