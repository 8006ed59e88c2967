// Durable runs that only wait for a time that is far away: they are in the database and not in
// memory, where only their ids and times are.
//
// Concurrency: any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/thread.h"
#include "flow_engine/run_clock.h"

namespace sluice::flow_engine {

class ParkedRuns {
 public:
  // Goes on with a run whose time has come. False: not now, try again in a moment.
  using Wake = std::function<bool(const std::string& id)>;

  ParkedRuns(const Clock& clock, Wake wake) : time_(clock), wake_(std::move(wake)) {}
  ~ParkedRuns() { Stop(); }
  ParkedRuns(const ParkedRuns&) = delete;
  ParkedRuns& operator=(const ParkedRuns&) = delete;

  void Start();
  void Stop();

  void Add(const std::string& id, uint64_t due_ms);
  // Whether it was there; it is not any more, and the caller goes on with it. Waits for a run that
  // is just going on.
  bool Take(const std::string& id);
  size_t size() const;

 private:
  void Loop();

  RunClock time_;
  const Wake wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable woken_;
  std::set<std::pair<uint64_t, std::string>> by_time_;  // under mutex_
  std::map<std::string, uint64_t, std::less<>> by_id_;  // under mutex_
  std::string waking_;                                  // goes on now; under mutex_
  bool stopping_ = false;                               // under mutex_
  Thread thread_;
};

}  // namespace sluice::flow_engine
