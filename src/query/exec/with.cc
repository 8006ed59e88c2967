// The tables of WITH. A recursive table starts with the rows of its first query. In each round its
// second query runs over the rows of the last round, until a round adds none or a limit is reached.
#include <unordered_set>
#include <utility>

#include "json/compare.h"
#include "query/exec/held_values.h"
#include "query/exec/steps.h"
#include "query/value_size.h"

namespace sluice::query {
namespace {

constexpr size_t kWithRowBytes = 64;
// Rounds of a recursive table that sets no limit of its own.
constexpr uint64_t kMaxRounds = 100'000;

class With final : public PlanNode {
 public:
  With(PlanPtr input, std::vector<TableDefinition> tables)
      : input_(std::move(input)), tables_(std::move(tables)) {}
  std::unique_ptr<Operator> Start() const override {
    return std::make_unique<Run>(input_->Start(), tables_);
  }
  Value Explain() const override {
    Value tables = Value::EmptyArray();
    for (const TableDefinition& table : tables_) {
      Value one = Value::Object({{"name", Value(table.name)}});
      if (table.step != nullptr) one.Set("recursive", table.step->root->Explain());
      tables.Append(std::move(one));
    }
    return Explained("With", {{"tables", std::move(tables)}}, input_.get());
  }

 private:
  class Run final : public Operator {
   public:
    Run(std::unique_ptr<Operator> input, const std::vector<TableDefinition>& tables)
        : input_(std::move(input)), tables_(tables) {}

    void Open(Context& context) override {
      size_t bytes = 0;
      for (const TableDefinition& table : tables_) {
        Value rows;
        bytes += Assign(context, *table.value, rows);
        charge_.Set(context, bytes);
        if (table.step != nullptr) rows = Recurse(context, table, rows);
        context.slot(table.slot) = std::move(rows);
        if (context.failed()) return;
      }
      input_->Open(context);
    }
    bool Next(Context& context) override { return !context.failed() && input_->Next(context); }

   private:
    Value Recurse(Context& context, const TableDefinition& table, const Value& start) {
      std::vector<Value> all;
      std::unordered_set<Value, json::ValueHash> seen;
      std::unordered_set<Value, json::ValueHash> paths;
      const auto add = [&](const Value& row, std::vector<Value>* round) {
        if (all.size() >= table.max_documents || !context.Charge(kWithRowBytes + HeldBytes(row)))
          return;
        if (table.distinct && !seen.insert(row).second) return;
        if (!table.cycle_fields.empty() && !paths.insert(CycleKey(table, row)).second) return;
        all.push_back(row);
        round->push_back(row);
      };
      std::vector<Value> round;
      for (const Value& row : start.items()) add(row, &round);
      const auto step = table.step->root->Start();
      for (uint64_t level = 0; !round.empty() && level < table.max_levels; ++level) {
        if (level >= kMaxRounds) {
          context.Fail(QueryError(QueryCode::kEvaluation,
                                  "WITH RECURSIVE {} did not end after {} rounds: add CYCLE or "
                                  "OPTIONS {{\"levels\": n}}",
                                  table.name, kMaxRounds));
        }
        if (context.failed() || all.size() >= table.max_documents) break;
        context.slot(table.slot) = Value::Array(std::exchange(round, {}));
        step->Open(context);
        while (step->Next(context)) add(context.slot(table.step->result), &round);
      }
      return Value::Array(std::move(all));
    }

    static Value CycleKey(const TableDefinition& table, const Value& row) {
      Value key = Value::EmptyArray();
      for (const std::string& field : table.cycle_fields) {
        const Value& value = row[field];
        key.Append(value.is_missing() ? Value(nullptr) : value);
      }
      return key;
    }

    std::unique_ptr<Operator> input_;
    const std::vector<TableDefinition>& tables_;
    RowCharge charge_;
  };

  const PlanPtr input_;
  const std::vector<TableDefinition> tables_;
};

}  // namespace

PlanPtr MakeWith(PlanPtr input, std::vector<TableDefinition> tables) {
  return std::make_unique<With>(std::move(input), std::move(tables));
}

}  // namespace sluice::query
