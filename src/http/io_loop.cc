#include "http/io_loop.h"

#include <ctime>

#include <boost/asio/post.hpp>

#include "base/check.h"
#include "http/connection.h"

namespace sluice::http {
namespace {

// Answers of jobs wait for those of the next ones, so long at most.
constexpr uint64_t kAnswersTogetherNs = 500'000;

}  // namespace

bool ServerContext::TryEnter(size_t limit) {
  if (connections.fetch_add(1) < limit) return true;
  Leave();
  return false;
}

void ServerContext::Leave() {
  if (connections.fetch_sub(1) != 1) return;
  const std::lock_guard lock(mutex_);
  none_.notify_all();
}

bool ServerContext::AwaitNone(uint64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  return none_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                        [this] { return connections.load() == 0; });
}

void ServerContext::AwaitNone() {
  std::unique_lock lock(mutex_);
  none_.wait(lock, [this] { return connections.load() == 0; });
}

// Only the loop's own thread touches its descriptors, so the reactor needs no locks of its own;
// posting from other threads stays allowed.
IoLoop::IoLoop(ServerContext* server, uint64_t id_seed)
    : server_(server),
      context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO),
      timer_(context_),
      ids_(id_seed),
      threads_(server->environment.clock, [this] { Work(); }) {
  RefreshDate();
}

IoLoop::~IoLoop() { CHECK(connections_.empty()); }

void IoLoop::Start() {
  work_.emplace(context_.get_executor());
  threads_.Start();
}

void IoLoop::End() { context_.stop(); }

void IoLoop::Join() {
  threads_.Join();
  retired_.clear();
  // What waits here may keep the loop itself.
  std::vector<std::move_only_function<void()>> dropped;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  dropped.swap(posted_);
}

// On a thread that has just been given the loop. All events that there are come first, then the
// jobs that came of them, then their answers: one after the other, these find and leave the same
// code in the caches, and a client on this machine is woken less often.
void IoLoop::Work() {
  do {
    context_.poll();
    RunPosted();
    if (!RunJobs()) return;
  } while (context_.run_one() > 0);
  jobs_.clear();
}

// False when the loop was lost to another thread.
bool IoLoop::RunJobs() {
  uint64_t began_ns = 0;
  while (!jobs_.empty() && threads_.can_run() && !context_.stopped()) {
    if (began_ns == 0) began_ns = server_->now_ns();
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    server_->watch.Wake();
    if (!threads_.Run(std::move(job))) {
      // One that waits for such a thread may go on.
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
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    // The thread that has the loop looks by itself; if it loses the loop, the next one does.
    wake = posted_.empty() && !threads_.Mine();
    posted_.push_back(std::move(run));
  }
  if (wake) boost::asio::post(context_, [] {});
}

// Until there is nothing more: what runs here may post, and nobody is woken for that.
void IoLoop::RunPosted() {
  std::vector<std::move_only_function<void()>> batch;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      batch.swap(posted_);
    }
    if (batch.empty()) return;
    for (auto& run : batch) run();
    batch.clear();
  }
}

void IoLoop::SetRouter(size_t listener, std::shared_ptr<const Router> router) {
  if (routers_.size() <= listener) routers_.resize(listener + 1);
  routers_[listener] = std::move(router);
}

void IoLoop::Adopt(std::unique_ptr<Connection> connection) {
  RefreshDate();
  ArmTick();
  connection->set_index(connections_.size());
  connections_.push_back(std::move(connection));
  connections_.back()->Start();
}

void IoLoop::Retire(Connection* connection) {
  const size_t index = connection->index();
  CHECK(index < connections_.size() && connections_[index].get() == connection);
  if (retired_.empty()) {
    boost::asio::post(context_, [this] {
      const std::vector<std::unique_ptr<Connection>> gone = std::move(retired_);
      retired_.clear();
      for (size_t i = 0; i < gone.size(); ++i) server_->Leave();
    });
  }
  retired_.push_back(std::move(connections_[index]));
  if (index + 1 != connections_.size()) {
    connections_[index] = std::move(connections_.back());
    connections_[index]->set_index(index);
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
  RefreshDate();
  const uint64_t now_ns = server_->now_ns();
  for (size_t i = connections_.size(); i-- > 0;) connections_[i]->Tick(now_ns);
  if (!connections_.empty()) ArmTick();
}

void IoLoop::RefreshDate() {
  const uint64_t second = server_->environment.clock.WallMs() / 1000;
  if (second == date_second_) return;
  date_second_ = second;
  const time_t seconds = static_cast<time_t>(second);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  char text[32];
  date_.assign(text, strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &utc));
}

}  // namespace sluice::http
