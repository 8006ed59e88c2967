#include "http/io_loop.h"

#include <ctime>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "base/check.h"
#include "http/connection.h"

namespace sluice::http {

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
      ids_(id_seed) {
  RefreshDate();
}

IoLoop::~IoLoop() { CHECK(connections_.empty()); }

void IoLoop::Start() {
  thread_ = std::thread([this] {
    const auto work = boost::asio::make_work_guard(context_);
    context_.run();
  });
}

void IoLoop::Join() {
  context_.stop();
  if (thread_.joinable()) thread_.join();
  retired_.clear();
}

void IoLoop::Post(std::move_only_function<void()> run) {
  bool first;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(run));
  }
  if (first) boost::asio::post(context_, [this] { RunPosted(); });
}

void IoLoop::RunPosted() {
  std::vector<std::move_only_function<void()>> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(posted_);
  }
  for (auto& run : batch) run();
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
