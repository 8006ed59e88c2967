// One run of a statement, or one of the threads of its scan: the frame that its operators and
// expressions share, the present document of every source, parameters, limits, and the error, if
// any.
//
// Fail records an error here and ends the run: expressions may then return any value, and operators
// stop at their next row. So the code that evaluates expressions needs no error checks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "db/document.h"
#include "db/reader.h"
#include "json/value.h"
#include "query/exec/layout.h"
#include "query/functions/function.h"
#include "query/user_functions.h"

namespace sluice::query {

// The fields of META() of a document.
struct DocumentMeta {
  db::Cas cas = 0;
  uint64_t expiry_ms = 0;
  uint32_t flags = 0;
  db::Datatype datatype = db::Datatype::kJson;
  std::string_view xattrs;
};

// The present document of a source. Views are valid until its operator moves on; an operator that
// keeps a row longer must copy it (row_keeper.h).
struct SourceRow {
  bool present = false;  // false on the empty side of an outer join
  uint8_t loaded = 0;    // a bit for each group of paths whose slots are filled
  std::string_view key;
  std::string_view body;
  DocumentMeta meta;
};

// Memory that a statement holds, all its threads together.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}
  bool Take(size_t bytes) {
    return used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_;
  }
  void Give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  size_t limit() const { return limit_; }
  size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_ = 0;
};

class Context;
class Mutator;
class Profile;
class ThreadBudget;
class Turn;

// The keys in [from, to) of a source's keyspace; an empty `to` stands for the end.
struct ScanPart {
  size_t source = 0;
  std::string from;
  std::string to;
  size_t number = 0;  // of the parts that come before it
};

inline constexpr size_t kNoPart = SIZE_MAX;

// The state that the threads of a divided scan share (parallel.h).
struct SharedScan {
  explicit SharedScan(Context& statement) : whole(statement) {}

  Mutex mutex;
  // The statement's, under the mutex while threads run. It keeps the row that it has.
  Context& whole;
  std::atomic<size_t> first_failed = kNoPart;  // parts behind it need not be read
};

// The same for all threads of a run.
struct RunOptions {
  const Clock* clock = nullptr;
  int64_t statement_time_us = 0;
  std::string time_zone = "UTC";
  std::string user;
  uint64_t deadline_ms = UINT64_MAX;  // Unix time
  const std::atomic<bool>* cancelled = nullptr;
  std::shared_ptr<Turn> turn;  // may be null
  MemoryBudget* memory = nullptr;
  std::vector<Value> parameters;  // in the order of the plan's parameter list
  Mutator* mutator = nullptr;     // of statements that write
  bool preserve_expiry = false;
  bool one_source = false;  // as StatementPlan says
  // Scans may be divided among this many threads; more than one only where the reader allows it.
  size_t max_parallelism = 1;
  // For a divided scan: the budget of threads, and the database.
  ThreadBudget* threads = nullptr;
  const db::Database* database = nullptr;
  Profile* profile = nullptr;  // of a plan whose operators count
  // Makes the runner of user-defined functions; null if there are none.
  std::function<std::unique_ptr<UserFunctionRunner>()> new_function_runner;
  // Rows of system:NAME; null when the run has none.
  std::function<Result<std::vector<Value>>(std::string_view name)> system_rows;
};

class Expr;
class SubqueryState;

// The last call of a deterministic function in one place of a statement.
struct KnownCall {
  bool known = false;
  std::vector<Value> arguments;
  Value result;
};

class Context final : public FunctionContext {
 public:
  Context(const Layout& layout, db::Reader& reader, const RunOptions& options);
  // For one thread of a divided scan. Begins with the row that the statement has.
  explicit Context(SharedScan& scan);
  ~Context() override;

  // --- the row ---
  Value& slot(Slot slot) { return frame_[slot]; }
  const Value& slot(Slot slot) const { return frame_[slot]; }
  SourceRow& source(size_t index) { return sources_[index]; }
  // Makes a document the present one of a source.
  void SetDocument(size_t source, std::string_view key, const db::DocumentView& document);
  void SetAbsent(size_t source);
  // Fills the slots of a group, unless they are filled for the present document.
  void Load(size_t source, GroupNumber group) {
    const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(group));
    if ((sources_[source].loaded & bit) == 0) LoadNow(source, group);
  }

  // --- the run ---
  const Layout& layout() const { return layout_; }
  db::Reader& reader() { return reader_; }
  const RunOptions& options() const { return options_; }
  // Null for the statement's own context.
  SharedScan* scan() const { return scan_; }
  // From now on a scan of the part's source reads this part; `part` must stay in place.
  void BeginPart(const ScanPart& part) { part_ = &part; }
  // The part of a source's keyspace that this thread reads; null for all of it.
  const ScanPart* PartOf(size_t source) const {
    return part_ != nullptr && part_->source == source ? part_ : nullptr;
  }
  size_t max_parallelism() const { return scan_ != nullptr ? 1 : options_.max_parallelism; }
  const Value& parameter(size_t index) const { return options_.parameters[index]; }
  bool failed() const { return failed_; }
  const Status& status() const { return status_; }
  // Call it for every row that is read, and with more `steps` for work that takes as long as that
  // many rows. False if the run must stop.
  bool Tick(size_t steps = 1) {
    ticks_ += steps;
    if (ticks_ >= kTicksPerCheck) CheckLimits();
    return !failed_;
  }
  // Memory that an operator holds on to. False, and the run has failed, when there is no more.
  bool Charge(size_t bytes);
  void Release(size_t bytes);
  // A charge changes hands: from the context that gives it up to another one of the same run.
  void Detach(size_t bytes) { charged_ -= bytes; }
  void Adopt(size_t bytes) { charged_ += bytes; }
  size_t charged() const { return charged_; }
  std::unique_ptr<SubqueryState>& subquery(uint32_t number) { return subqueries_[number]; }
  // Made at the first call; null, and the run has failed, if there are no user-defined functions.
  UserFunctionRunner* user_functions();
  KnownCall& last_call(const Expr* call) { return last_calls_[call]; }
  const std::vector<Warning>& warnings() const { return warnings_; }
  std::vector<Warning> TakeWarnings() { return std::exchange(warnings_, {}); }
  // Handles a document that a scan can't read: warns and continues, up to a limit.
  bool LeaveOut(std::string_view key, const Status& why);
  // Rows that ORDER BY has put in order.
  void AddSorted(uint64_t rows) { sorted_ += rows; }
  uint64_t sorted() const { return sorted_; }

  // --- FunctionContext ---
  int64_t statement_time_us() const override { return options_.statement_time_us; }
  int64_t wall_time_us() const override;
  const std::string& time_zone() const override { return options_.time_zone; }
  uint64_t Random() override;
  const std::string& user() const override { return options_.user; }
  void Warn(QueryCode code, std::string message) override;
  void Fail(Status status) override;
  bool Allow(size_t bytes) override;
  bool Spend(size_t steps) override { return Tick(steps); }
  const re2::RE2* Regex(std::string_view pattern, Match match) override;

 private:
  static constexpr size_t kTicksPerCheck = 256;

  void LoadNow(size_t source, GroupNumber group);
  void CheckLimits();
  bool IsCancelled() const;
  bool IsLate() const;

  const Layout& layout_;
  db::Reader& reader_;
  const RunOptions& options_;
  SharedScan* const scan_ = nullptr;
  const ScanPart* part_ = nullptr;
  std::vector<Value> frame_;
  std::vector<SourceRow> sources_;
  std::unique_ptr<UserFunctionRunner> user_functions_;  // outlives aggregates of subqueries
  std::vector<std::unique_ptr<SubqueryState>> subqueries_;
  std::vector<Value> extracted_;
  bool failed_ = false;
  Status status_;
  size_t ticks_ = 0;  // since the limits were looked at
  size_t charged_ = 0;
  uint64_t sorted_ = 0;
  std::vector<Warning> warnings_;
  std::set<std::string, std::less<>> left_out_;  // keys
  std::unique_ptr<std::mt19937_64> random_;      // made when first asked for: it is large
  std::unordered_map<std::string, std::unique_ptr<re2::RE2>> regexes_;
  std::unordered_map<const Expr*, KnownCall> last_calls_;
};

}  // namespace sluice::query
