#include "net/io_loop.h"

#include <boost/asio/post.hpp>

#include "base/check.h"

namespace sluice::net {
namespace {

// An answer of a job waits at most this long for the answers of the jobs after it.
constexpr uint64_t kAnswersTogetherNs = 500'000;

}  // namespace

bool ServerContext::TryEnter(size_t limit) {
  if (connections.fetch_add(1) < limit) return true;
  Leave();
  return false;
}

void ServerContext::Leave() {
  if (connections.fetch_sub(1) == 1) none_.Wake();
}

bool ServerContext::AwaitNone(Signal::Deadline deadline) {
  while (true) {
    const uint64_t seen = none_.news();
    if (connections.load() == 0) return true;
    if (none_.Wait(seen, deadline) == Signal::Waited::kTimeout) return connections.load() == 0;
  }
}

// Only the loop's own thread touches its descriptors, so the reactor needs no locks of its own;
// posting from other threads stays allowed.
IoLoop::IoLoop(ServerContext* server, size_t index)
    : server_(server),
      index_(index),
      context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      timer_(context_),
      threads_(server->clock, [this] { Work(); }) {}

IoLoop::~IoLoop() { CHECK(connections_.empty()); }

void IoLoop::Start() {
  work_.emplace(context_.get_executor());
  threads_.Start();
}

void IoLoop::End() { context_.stop(); }

void IoLoop::Join() {
  threads_.Join();
  retired_.clear();
  // Functions that still wait may own the loop itself.
  posted_.Set({.runs = {}, .ended = true});
}

// On a thread that has just got the loop. It does all events that are there, then the jobs that
// these have made, then sends the answers. In groups, similar work finds its code in the caches,
// and a client on this machine is woken less often.
void IoLoop::Work() {
  do {
    context_.poll();
    RunPosted();
    if (!RunJobs()) return;
  } while (context_.run_one() > 0);
  jobs_.clear();
}

// False when another thread has taken the loop.
bool IoLoop::RunJobs() {
  uint64_t began_ns = 0;
  while (!jobs_.empty() && threads_.can_run() && !context_.stopped()) {
    if (began_ns == 0) began_ns = server_->now_ns();
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    if (!threads_.Run(std::move(job))) {
      // Jobs may have waited because too many threads had lost the loop: the owner looks again.
      Post([] {});
      return false;
    }
    if (!jobs_.empty() && server_->now_ns() - began_ns < kAnswersTogetherNs) continue;
    RunPosted();
    began_ns = 0;
  }
  return true;
}

void IoLoop::Run(std::move_only_function<void()> job) { jobs_.push_back(std::move(job)); }

void IoLoop::Post(std::move_only_function<void()> run) {
  bool wake;
  {
    const auto posted = posted_.Lock();
    if (posted->ended) return;
    // The thread that has the loop looks by itself. If it loses the loop from here on, the next
    // thread looks after this lock is released.
    wake = posted->runs.empty() && !threads_.Mine();
    posted->runs.push_back(std::move(run));
  }
  if (wake) boost::asio::post(context_, [] {});
}

// Until there are no more: functions that run here may post others, for which nobody is woken.
void IoLoop::RunPosted() {
  std::vector<std::move_only_function<void()>> batch;
  while (true) {
    batch.swap(posted_.Lock()->runs);
    if (batch.empty()) return;
    for (auto& run : batch) run();
    batch.clear();
  }
}

void IoLoop::Adopt(std::unique_ptr<Connection> connection, std::unique_ptr<Transport> transport) {
  ArmTick();
  connection->index_ = connections_.size();
  connections_.push_back(std::move(connection));
  connections_.back()->Start(std::move(transport));
}

void IoLoop::Retire(Connection* connection) {
  const size_t index = connection->index_;
  CHECK(index < connections_.size() && connections_[index].get() == connection);
  if (retired_.empty()) {
    boost::asio::post(context_, [this] {
      std::vector<std::unique_ptr<Connection>> gone = std::move(retired_);
      retired_.clear();
      // They are destroyed before they leave the count: the protocol may be destroyed after that.
      const size_t count = gone.size();
      gone.clear();
      for (size_t i = 0; i < count; ++i) server_->Leave();
    });
  }
  retired_.push_back(std::move(connections_[index]));
  if (index + 1 != connections_.size()) {
    connections_[index] = std::move(connections_.back());
    connections_[index]->index_ = index;
  }
  connections_.pop_back();
}

void IoLoop::BeginDrain() {
  draining_ = true;
  // Backwards, because a connection that ends is replaced by the last one.
  for (size_t i = connections_.size(); i-- > 0;) connections_[i]->Drain();
}

void IoLoop::CloseAll() {
  for (size_t i = connections_.size(); i-- > 0;) connections_[i]->Close();
}

void IoLoop::ArmTick() {
  if (tick_armed_) return;
  tick_armed_ = true;
  timer_.expires_after(std::chrono::milliseconds(server_->options.tick_ms));
  timer_.async_wait([this](const boost::system::error_code& error) {
    tick_armed_ = false;
    if (!error) Tick();
  });
}

void IoLoop::Tick() {
  const uint64_t now_ns = server_->now_ns();
  for (size_t i = connections_.size(); i-- > 0;) connections_[i]->Tick(now_ns);
  if (!connections_.empty()) ArmTick();
}

}  // namespace sluice::net
