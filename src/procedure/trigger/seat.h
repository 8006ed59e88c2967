// Who has a consumer: one client at a time. The others wait in the order in which they came; one of
// them takes over when the client that has it leaves, or has stalled.
//
// Concurrency: any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace sluice::procedure {

class Seats;

// Held for as long as it lives, unless somebody took over.
class Seat {
 public:
  Seat(std::shared_ptr<Seats> seats, uint64_t number) : seats_(std::move(seats)), number_(number) {}
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  bool held() const;
  // Somebody who waits may take over from now on; Resume ends that, if nobody did.
  void Stall();
  void StallAt(std::chrono::steady_clock::time_point time);
  void Resume();

 private:
  const std::shared_ptr<Seats> seats_;
  const uint64_t number_;
};

class Seats : public std::enable_shared_from_this<Seats> {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  // `client` is who takes it, for operators. Null when the deadline passed, when `given_up` says
  // so, or when the consumer was dropped. `given_up` is asked now and then.
  std::unique_ptr<Seat> Take(const std::string& client, Deadline deadline,
                             const std::function<bool()>& given_up);
  void Drop();

  // Who has it at the moment.
  struct Occupancy {
    enum class State : uint8_t {
      kFree,
      kTaken,
      kStalled,  // it is silent: whoever comes may take over
    };
    State state = State::kFree;
    std::string client;  // unless it is free
    size_t waiting = 0;  // others
  };
  Occupancy occupancy() const;

 private:
  friend class Seat;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t last_number_ = 0;      // under mutex_
  uint64_t holder_ = 0;           // under mutex_; 0 for nobody
  std::string client_;            // under mutex_; of the holder
  Deadline stalls_;               // under mutex_; from when on others may take over
  bool dropped_ = false;          // under mutex_
  std::deque<uint64_t> waiting_;  // under mutex_
};

std::string_view StateName(Seats::Occupancy::State state);

}  // namespace sluice::procedure
