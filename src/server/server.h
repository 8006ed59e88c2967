// The running server: everything that is open, in the order in which it was opened.
//
// Start, Stop and the destructor are called by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "server/config.h"

namespace sluice::server {

enum class Mode : uint8_t {
  kProduction,   // everybody must be known
  kDevelopment,  // requests from this machine are the admin's
};

struct Ports {
  uint16_t http = 0;
  uint16_t eventing = 0;
  uint16_t flows = 0;
};

struct FirstAdmin {
  std::string name;
  std::string password_file;
};

class Server {
 public:
  // Returns when requests are answered. The clock must outlive the server.
  static Result<std::unique_ptr<Server>> Start(const LoadedConfig& config, Mode mode,
                                               const Clock& clock);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const Ports& ports() const;
  // When this start made the first user.
  const std::optional<FirstAdmin>& first_admin() const;

  // Answers "not ready", finishes running requests, makes everything durable and closes.
  // Idempotent.
  void Stop();

 private:
  class Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::server
