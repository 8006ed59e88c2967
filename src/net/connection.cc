#include "net/connection.h"

#include <utility>

#include "net/io_loop.h"

namespace sluice::net {

Connection::Connection(IoLoop& loop, std::string remote)
    : loop_(loop), remote_(std::move(remote)) {}

Connection::~Connection() = default;

void Connection::Start(std::unique_ptr<Transport> transport) {
  transport_ = std::move(transport);
  switch (Began(transport_->Start(this))) {
    case Done::kNow:
      return Opened();
    case Done::kLater:
      return;
    case Done::kFailed:
      return Close();
  }
}

Connection::Done Connection::Began(Done done) {
  if (done == Done::kLater) ++running_;
  return done;
}

void Connection::BeginRead(char* into, size_t size) {
  ++running_;
  transport_->Read(into, size);
}

Connection::Done Connection::BeginWrite(std::string_view first, std::string_view second) {
  return Began(transport_->Write(first, second));
}

Connection::Done Connection::BeginShutDown() { return Began(transport_->ShutDown()); }

void Connection::Close() {
  if (std::exchange(closed_, true)) return;
  OnClose();
  MaybeEnd();
}

void Connection::MaybeEnd() {
  if (!closed_ || running_ > 0 || ended_ || !CanEnd()) return;
  ended_ = true;
  loop_.Retire(this);
}

void Connection::OnReady(bool ok) {
  --running_;
  if (!closed_) ok ? Opened() : Close();
  MaybeEnd();
}

void Connection::OnRead(ReadEnd end, size_t size) {
  --running_;
  if (!closed_) OnReadEnd(end, size);
  MaybeEnd();
}

void Connection::OnWriteProgress() {
  if (!closed_) OnWriting();
}

void Connection::OnWritten(bool ok) {
  --running_;
  if (!closed_) OnWriteEnd(ok);
  MaybeEnd();
}

void Connection::OnShutDown() {
  --running_;
  if (!closed_) OnShutDownEnd();
  MaybeEnd();
}

}  // namespace sluice::net
