#include "procedure/trigger/seat.h"

#include <algorithm>

namespace sluice::procedure {
namespace {

constexpr std::chrono::milliseconds kLook(50);

}  // namespace

Seat::~Seat() {
  {
    const std::lock_guard lock(seats_->mutex_);
    if (seats_->holder_ == number_) {
      seats_->holder_ = 0;
      seats_->stalls_.reset();
    }
  }
  seats_->changed_.notify_all();
}

bool Seat::held() const {
  const std::lock_guard lock(seats_->mutex_);
  return seats_->holder_ == number_ && !seats_->dropped_;
}

void Seat::Stall() { StallAt(std::chrono::steady_clock::now()); }

void Seat::StallAt(std::chrono::steady_clock::time_point time) {
  {
    const std::lock_guard lock(seats_->mutex_);
    if (seats_->holder_ == number_) seats_->stalls_ = time;
  }
  seats_->changed_.notify_all();
}

void Seat::Resume() {
  const std::lock_guard lock(seats_->mutex_);
  if (seats_->holder_ == number_) seats_->stalls_.reset();
}

std::unique_ptr<Seat> Seats::Take(const std::string& client, Deadline deadline,
                                  const std::function<bool()>& given_up) {
  std::unique_lock lock(mutex_);
  const uint64_t number = ++last_number_;
  waiting_.push_back(number);
  const auto mine = [&] {
    const bool stalled = stalls_ && std::chrono::steady_clock::now() >= *stalls_;
    return (holder_ == 0 || stalled) && waiting_.front() == number;
  };
  while (!mine() && !dropped_ && !given_up()) {
    const auto now = std::chrono::steady_clock::now();
    if (deadline && now >= *deadline) break;
    changed_.wait_until(lock, deadline ? std::min(*deadline, now + kLook) : now + kLook);
  }
  const bool taken = mine() && !dropped_;
  std::erase(waiting_, number);
  if (taken) {
    holder_ = number;
    client_ = client;
    stalls_.reset();
  }
  lock.unlock();
  changed_.notify_all();
  return taken ? std::make_unique<Seat>(shared_from_this(), number) : nullptr;
}

void Seats::Drop() {
  {
    const std::lock_guard lock(mutex_);
    dropped_ = true;
  }
  changed_.notify_all();
}

Seats::Occupancy Seats::occupancy() const {
  using State = Occupancy::State;
  const std::lock_guard lock(mutex_);
  Occupancy now{.waiting = waiting_.size()};
  if (holder_ == 0) return now;
  const bool stalled = stalls_ && std::chrono::steady_clock::now() >= *stalls_;
  now.state = stalled ? State::kStalled : State::kTaken;
  now.client = client_;
  return now;
}

std::string_view StateName(Seats::Occupancy::State state) {
  static constexpr std::string_view kNames[] = {"free", "taken", "stalled"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace sluice::procedure
