#include "query/exec/parallel.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "db/database.h"
#include "query/exec/thread_budget.h"

namespace sluice::query {
namespace {

// More parts than threads, so that one that is held up leaves its share to the others.
constexpr size_t kPartsPerThread = 4;

std::vector<ScanPart> Divide(const Context& context, const ScannedSource& scanned, size_t threads) {
  std::vector<ScanPart> parts;
  const std::vector<std::string> points = context.options().database->estimates().SplitPoints(
      scanned.keyspace, threads * kPartsPerThread);
  for (size_t i = 0; i <= points.size(); ++i) {
    parts.push_back({.source = scanned.source,
                     .from = i == 0 ? std::string() : points[i - 1],
                     .to = i == points.size() ? std::string() : points[i],
                     .number = i});
  }
  return parts;
}

class DividedScan {
 public:
  DividedScan(Context& context, const PlanNode& plan, std::vector<ScanPart> parts,
              PartReader& reader)
      : plan_(plan),
        reader_(reader),
        shared_(context),
        merging_(shared_),
        parts_(std::move(parts)),
        outcomes_(parts_.size()) {
    reader.Begin(parts_.size());
  }

  // The calling thread is one of them.
  void Run(size_t threads) {
    threads = std::min(threads, parts_.size());
    std::vector<std::exception_ptr> thrown(threads);
    // All contexts begin with the statement's row, which subqueries may change once threads run.
    std::vector<std::unique_ptr<Context>> contexts;
    for (size_t i = 0; i < threads; ++i) contexts.push_back(std::make_unique<Context>(shared_));
    const auto run = [&](size_t i) {
      try {
        ReadParts(*contexts[i]);
      } catch (...) {  // to be thrown again where it would have been without this thread
        thrown[i] = std::current_exception();
        shared_.first_failed = 0;
      }
    };
    {
      std::vector<Thread> others;
      try {
        for (size_t i = 1; i < threads; ++i)
          others.emplace_back(ThreadName{"scan"}, [&run, i] { run(i); });
      } catch (const std::system_error&) {
        // The system has no more threads; those that there are do the work.
      }
      run(0);
    }
    for (const std::exception_ptr& exception : thrown) {
      if (exception != nullptr) std::rethrow_exception(exception);
    }
  }

  // After Run. False when another try, with one thread, may have enough memory.
  bool Finish() {
    Context& whole = shared_.whole;
    if (whole.failed()) return true;
    if (shared_.first_failed != kNoPart) {
      for (size_t part = merged_; part < outcomes_.size(); ++part) {
        whole.options().memory->Give(outcomes_[part].kept_bytes);
      }
      const Status& status = outcomes_[shared_.first_failed].status;
      if (CodeOf(status) == QueryCode::kMemoryQuota) return false;
      whole.Fail(status);
      return true;
    }
    whole.Adopt(merging_.charged());
    merging_.Detach(merging_.charged());
    return true;
  }

 private:
  struct Outcome {
    bool read = false;
    size_t kept_bytes = 0;
    Status status;
    std::vector<Warning> warnings;
  };

  void ReadParts(Context& context) {
    const std::unique_ptr<Operator> input = plan_.Start();
    for (size_t part; (part = next_part_.fetch_add(1)) < parts_.size();) {
      if (shared_.first_failed < part) return;
      context.BeginPart(parts_[part]);
      input->Open(context);
      Outcome& outcome = outcomes_[part];
      outcome.kept_bytes = reader_.Read(part, *input, context);
      context.Detach(outcome.kept_bytes);
      outcome.warnings = context.TakeWarnings();
      if (context.failed()) return Fail(part, context.status());
      MergeReady(part);
    }
  }

  void Fail(size_t part, const Status& status) {
    outcomes_[part].status = status;
    size_t first = shared_.first_failed;
    while (part < first && !shared_.first_failed.compare_exchange_weak(first, part)) {
    }
  }

  // Marks this part as read, and merges all complete parts from the front.
  void MergeReady(size_t part) {
    const MutexLock lock(shared_.mutex);
    outcomes_[part].read = true;
    while (!merging_.failed() && merged_ < outcomes_.size() && outcomes_[merged_].read) {
      const size_t next = merged_++;
      merging_.Adopt(outcomes_[next].kept_bytes);
      for (const Warning& warning : outcomes_[next].warnings) {
        shared_.whole.Warn(warning.code, warning.message);
      }
      reader_.Merge(next, merging_);
      if (merging_.failed()) Fail(next, merging_.status());
    }
  }

  const PlanNode& plan_;
  PartReader& reader_;
  SharedScan shared_;
  Context merging_;  // under the mutex; apart from the statement's so that it may fail alone
  const std::vector<ScanPart> parts_;
  std::vector<Outcome>
      outcomes_;  // each belongs to the reader of the part, then to the holder of the mutex
  std::atomic<size_t> next_part_ = 0;
  size_t merged_ = 0;  // under the mutex
};

}  // namespace

bool ReadInParts(Context& context, const PlanNode& plan, PartReader& reader) {
  const size_t most = context.max_parallelism();
  if (most < 2 || context.failed()) return false;
  const std::optional<ScannedSource> scanned = plan.Splittable();
  if (!scanned) return false;
  const ThreadBudget::Lease others = context.options().threads->Take(most - 1);
  if (others.count() == 0) return false;
  std::vector<ScanPart> parts = Divide(context, *scanned, others.count() + 1);
  if (parts.size() < 2) return false;
  DividedScan scan(context, plan, std::move(parts), reader);
  scan.Run(others.count() + 1);
  return scan.Finish();
}

}  // namespace sluice::query
