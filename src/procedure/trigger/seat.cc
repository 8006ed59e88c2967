#include "procedure/trigger/seat.h"

#include <algorithm>

namespace sluice::procedure {
namespace {

// A client that waits calls `given_up` this often.
constexpr std::chrono::milliseconds kSeatLook(50);

}  // namespace

Seat::~Seat() {
  {
    const auto state = seats_->state_.Lock();
    if (state->holder == number_) {
      state->holder = 0;
      state->stalls.reset();
    }
  }
  seats_->changed_.Wake();
}

bool Seat::held() const {
  const auto state = seats_->state_.Lock();
  return state->holder == number_ && !state->dropped;
}

void Seat::Stall() { StallAt(MachineClock().Now()); }

void Seat::StallAt(std::chrono::steady_clock::time_point time) {
  {
    const auto state = seats_->state_.Lock();
    if (state->holder == number_) state->stalls = time;
  }
  seats_->changed_.Wake();
}

void Seat::Resume() {
  const auto state = seats_->state_.Lock();
  if (state->holder == number_) state->stalls.reset();
}

bool Seats::State::stalled() const { return stalls && MachineClock().Now() >= *stalls; }

bool Seats::State::MayTake(uint64_t number) const {
  return (holder == 0 || stalled()) && waiting.front() == number;
}

std::unique_ptr<Seat> Seats::Take(const std::string& client, Deadline deadline,
                                  const std::function<bool()>& given_up) {
  uint64_t number = 0;
  {
    const auto state = state_.Lock();
    number = ++state->last_number;
    state->waiting.push_back(number);
  }
  bool over = false;
  bool taken = false;
  while (true) {
    const uint64_t seen = changed_.news();
    {
      const auto state = state_.Lock();
      taken = state->MayTake(number) && !state->dropped;
      if (taken || state->dropped || over) {
        std::erase(state->waiting, number);
        if (!taken) break;
        state->holder = number;
        state->client = client;
        state->stalls.reset();
        break;
      }
    }
    const auto now = MachineClock().Now();
    over = given_up() || (deadline && now >= *deadline);
    if (over) continue;  // looks a last time
    changed_.Wait(seen, deadline ? std::min(*deadline, now + kSeatLook) : now + kSeatLook);
  }
  changed_.Wake();  // the next one may be the first that waits
  return taken ? std::make_unique<Seat>(shared_from_this(), number) : nullptr;
}

void Seats::Drop() {
  state_.Lock()->dropped = true;
  changed_.Wake();
}

Seats::Occupancy Seats::occupancy() const {
  const auto state = state_.Lock();
  Occupancy now{.waiting = state->waiting.size()};
  if (state->holder == 0) return now;
  now.state = state->stalled() ? Occupancy::State::kStalled : Occupancy::State::kTaken;
  now.client = state->client;
  return now;
}

std::string_view StateName(Seats::Occupancy::State state) {
  static constexpr std::string_view kNames[] = {"free", "taken", "stalled"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace sluice::procedure
