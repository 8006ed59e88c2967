// Keeps RocksDB's flush jobs from starting while the store is in error.
//
// RocksDB 7.8 loses a flush that way: a job that starts after a failed write, and before Resume,
// does nothing, but leaves its request in the queue as if it was under way. Resume then waits for
// that flush for ever. A job that waits at the gate starts while Resume is at work, when RocksDB
// lets flushes run.
//
// Operation: OnBackgroundError closes the gate; Resume opens it once RocksDB says that a recovery
// is under way, and leaves it open if that succeeds. A job waits for kLongestWait at most, by the
// clock that the gate is given.
// Concurrency: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>

#include "base/clock.h"
#include "base/locked.h"
#include "base/signal.h"

namespace sluice::storage {

class FlushGate final : public rocksdb::EnvWrapper {
 public:
  static constexpr std::chrono::seconds kLongestWait{60};

  explicit FlushGate(std::unique_ptr<rocksdb::Env> env, const Clock& clock = MachineClock())
      : EnvWrapper(env.get()), env_(std::move(env)), clock_(clock), opened_(clock) {}

  const char* Name() const override { return "FlushGate"; }
  void Schedule(void (*function)(void*), void* argument, Priority priority, void* tag,
                void (*unscheduled)(void*)) override;

  // For DBOptions::listeners. It outlives neither the gate nor the database.
  std::shared_ptr<rocksdb::EventListener> NewListener();

  // DB::Resume. One at a time.
  rocksdb::Status Resume(rocksdb::DB& db);

  void Open();
  void Close();

 private:
  struct Job;
  // An attempt to recover, by two threads.
  struct Recovery {
    std::atomic<bool> ended = false;
    std::atomic<bool> left = false;
    std::atomic<bool> other_left = false;
    Signal progress;  // one of the above became true
    Locked<rocksdb::Status> result;
  };
  void Recover(rocksdb::DB& db, Recovery& recovery, std::atomic<bool>& left,
               const std::atomic<bool>& other_left);
  void Pass();  // waits until the gate is open

  const std::unique_ptr<rocksdb::Env> env_;
  const Clock& clock_;
  std::atomic<bool> closed_ = false;
  Signal opened_;
};

}  // namespace sluice::storage
