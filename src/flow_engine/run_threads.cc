#include "flow_engine/run_threads.h"

#include <utility>

namespace sluice::flow_engine {
namespace {

// A job that a caller runs or drops.
class GivenAwayJob {
 public:
  GivenAwayJob(InFlight& count, Pool::Job job) : count_(&count), job_(std::move(job)) {
    count_->Add();
  }
  GivenAwayJob(GivenAwayJob&& other) noexcept
      : count_(std::exchange(other.count_, nullptr)), job_(std::move(other.job_)) {}
  ~GivenAwayJob() {
    job_ = nullptr;
    if (count_ != nullptr) count_->Done();
  }
  GivenAwayJob(const GivenAwayJob&) = delete;
  GivenAwayJob& operator=(const GivenAwayJob&) = delete;

  void operator()() { job_(); }

 private:
  InFlight* count_;
  Pool::Job job_;
};

}  // namespace

void RunThreads::Begin(const RunContext& context, Pool::Job job) {
  if (context.run) {
    context.run(GivenAwayJob(given_away_, std::move(job)));
  } else if (context.pool != nullptr) {
    context.pool->Post(GivenAwayJob(given_away_, std::move(job)));
  } else {
    pool_.Post(std::move(job));
  }
}

void RunThreads::Stop() {
  pool_.Stop();
  given_away_.Wait();
}

}  // namespace sluice::flow_engine
