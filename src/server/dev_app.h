// The app directory of `serve --dev`: applied at the start and again whenever a file is saved.
//
// It goes through the server's own REST interface, with the same code as `sluice apply`, so that
// there is one way to apply an app. It drops nothing. It logs problems, and the server keeps its
// present state.
#pragma once

#include <string>

#include "base/status.h"
#include "base/thread.h"

namespace sluice::server {

class DevApp {
 public:
  // `url` is the server's own. Returns when the app was applied for the first time; fails when the
  // directory can't be watched.
  static Result<std::unique_ptr<DevApp>> Start(std::string directory, std::string url);
  ~DevApp();  // ends the thread
  DevApp(const DevApp&) = delete;
  DevApp& operator=(const DevApp&) = delete;

 private:
  DevApp(std::string directory, std::string url, int watch, int wake);

  void Run();
  // Reads the events of inotify; true if one of the app's files changed.
  bool TakeEvents();
  void WatchDirectories();
  void ApplyNow();

  const std::string directory_;
  const std::string url_;
  const int watch_;  // inotify
  const int wake_;   // eventfd: stop
  Thread thread_;
};

}  // namespace sluice::server
