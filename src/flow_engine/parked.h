// Durable runs that only wait for a time that is far away. They are in the database; the memory has
// only their ids and times.
//
// Concurrency: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/locked.h"
#include "base/signal.h"
#include "base/thread.h"
#include "flow_engine/run_clock.h"

namespace sluice::flow_engine {

class ParkedRuns {
 public:
  // Goes on with a run whose time has come. False: try again in a moment.
  using Wake = std::function<bool(const std::string& id)>;

  ParkedRuns(const Clock& clock, Wake wake)
      : time_(clock), wake_(std::move(wake)), changed_(clock) {}
  ~ParkedRuns() { Stop(); }
  ParkedRuns(const ParkedRuns&) = delete;
  ParkedRuns& operator=(const ParkedRuns&) = delete;

  void Start();
  void Stop();

  void Add(const std::string& id, uint64_t due_ms);
  // Removes the run; the caller goes on with it. False: it was not there. Waits while the thread is
  // waking this run.
  bool Take(const std::string& id);
  // Removes the runs for which `which` is true. Waits while the thread is waking one of them.
  void Drop(const std::function<bool(const std::string& id)>& which);
  size_t size() const;

 private:
  struct Table {
    std::set<std::pair<uint64_t, std::string>> by_time;
    std::map<std::string, uint64_t, std::less<>> by_id;
    std::string waking;  // the run that the thread is just waking

    // Whether it is the first one that is due.
    bool Add(const std::string& id, uint64_t due_ms);
  };
  void Loop();
  // Wakes the first run, if it is due. When to look again.
  Clock::Time WakeFirst(Clock::Time now);

  RunClock time_;
  const Wake wake_;
  Locked<Table> table_;
  Signal changed_;  // wakes the thread, and ends it
  Signal woken_;    // wakes the callers of Take
  Thread thread_;
};

}  // namespace sluice::flow_engine
