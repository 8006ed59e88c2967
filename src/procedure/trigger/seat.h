// The clients of a consumer. One of them has the seat: it gets the events. The others wait in the
// order in which they came. The first of them takes over when the holder leaves or has stalled.
//
// Concurrency: any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/locked.h"
#include "base/signal.h"

namespace sluice::procedure {

class Seats;

// The seat of one client. The client holds it until the destructor, or until another client has
// taken over.
class Seat {
 public:
  Seat(std::shared_ptr<Seats> seats, uint64_t number) : seats_(std::move(seats)), number_(number) {}
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  bool held() const;
  // From now on, or from that time on, a waiting client may take over. Resume takes this back.
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

  // Waits for the seat. Operators see the name `client`. Null when the deadline has passed, when
  // `given_up` returned true, or when the consumer was dropped. `given_up` is called every now and
  // then, without a lock.
  std::unique_ptr<Seat> Take(const std::string& client, Deadline deadline,
                             const std::function<bool()>& given_up);
  void Drop();

  // The present state, for operators.
  struct Occupancy {
    enum class State : uint8_t {
      kFree,
      kTaken,
      kStalled,  // the holder is silent: another client may take over
    };
    State state = State::kFree;
    std::string client;  // unless it is free
    size_t waiting = 0;  // others
  };
  Occupancy occupancy() const;

 private:
  friend class Seat;
  struct State {
    uint64_t last_number = 0;
    uint64_t holder = 0;  // the number of its seat; 0 for none
    std::string client;   // of the holder
    Deadline stalls;      // from this time on others may take over
    bool dropped = false;
    std::deque<uint64_t> waiting;

    bool stalled() const;
    bool MayTake(uint64_t number) const;
  };
  Locked<State> state_;
  Signal changed_;
};

std::string_view StateName(Seats::Occupancy::State state);

}  // namespace sluice::procedure
