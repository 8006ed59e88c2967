// One client's connection, whatever protocol it speaks. A protocol derives its own class from this
// one and makes the objects (Protocol); the loop owns them.
//
// Operation. The loop calls Start with the transport; Opened is the first event. The derived class
// begins reads and writes, at most one of each at a time, and hears of their ends. Close may be
// called at any time and ends everything: no event follows.
//
// Lifetime. The object is destroyed after Close, when no operation of the transport runs any more
// and CanEnd says that nothing else needs it; whoever makes CanEnd true afterwards calls MaybeEnd.
//
// Concurrency: everything runs on the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/transport.h"

namespace sluice::net {

class IoLoop;

class Connection : private TransportEvents {
 public:
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The loop calls these.
  void Start(std::unique_ptr<Transport> transport);
  // Every ServerOptions::tick_ms, to look at time limits.
  virtual void Tick(uint64_t now_ns) = 0;
  // The server stops: close now, or after the answer that the client waits for.
  virtual void Drain() = 0;

  void Close();

 protected:
  using ReadEnd = TransportEvents::ReadEnd;
  using Done = Transport::Done;

  // `remote` is the client's address, "127.0.0.1:50312".
  Connection(IoLoop& loop, std::string remote);

  // Not ok: the TLS handshake failed; Close is next.
  virtual void Opened() = 0;
  virtual void OnReadEnd(ReadEnd end, size_t size) = 0;
  virtual void OnWriteEnd(bool ok) = 0;
  // The transport took some bytes of a running write.
  virtual void OnWriting() {}
  // After BeginShutDown.
  virtual void OnShutDownEnd() { Close(); }
  // Close was called, for the first time.
  virtual void OnClose() = 0;
  virtual bool CanEnd() const = 0;

  // These are the transport's functions; each operation ends with one of the events above.
  void BeginRead(char* into, size_t size);
  Done BeginWrite(std::string_view first, std::string_view second);
  Done BeginShutDown();
  void MaybeEnd();

  IoLoop& io() const { return loop_; }
  Transport& transport() const { return *transport_; }
  const std::string& remote() const { return remote_; }
  bool closed() const { return closed_; }

 private:
  friend class IoLoop;

  void OnReady(bool ok) final;
  void OnRead(ReadEnd end, size_t size) final;
  void OnWriteProgress() final;
  void OnWritten(bool ok) final;
  void OnShutDown() final;
  Done Began(Done done);

  IoLoop& loop_;
  const std::string remote_;
  std::unique_ptr<Transport> transport_;
  size_t index_ = 0;      // in the loop's list
  uint32_t running_ = 0;  // operations whose event is still to come
  bool closed_ = false;
  bool ended_ = false;
};

// kRefused: there are as many connections as there may be. The protocol says so to the client, as
// far as it can, and closes.
enum class Admission : uint8_t { kServed, kRefused };

// The protocol of a listener.
class Protocol {
 public:
  virtual ~Protocol() = default;
  // On the loop's thread.
  virtual std::unique_ptr<Connection> NewConnection(IoLoop& loop, std::string remote,
                                                    Admission admission) = 0;
};

}  // namespace sluice::net
