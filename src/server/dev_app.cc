#include "server/dev_app.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/api.h"
#include "cli/app_directory.h"
#include "cli/apply.h"
#include "cli/plan.h"

namespace sluice::server {
namespace {

// A save is often several events (write, rename): wait until it has been quiet this long.
constexpr int kQuietMs = 150;
constexpr uint32_t kEvents =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR;

// Files with a leading dot are editors' own, and .sluice is our data directory.
bool IsOurOwn(std::string_view name) { return name.starts_with('.'); }

void LogProblem(const Status& problem) {
  log::Error(problem.message(), {{"id", problem.id()},
                                 {"file", problem.place().file},
                                 {"line", problem.place().line},
                                 {"column", problem.place().column}});
}

Status ApplyApp(const std::string& directory, const std::string& url,
                std::vector<Status>* problems) {
  cli::AppResult read = cli::ReadAppDirectory(directory);
  if (!read.problems.empty()) {
    *problems = std::move(read.problems);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<cli::Api> api, cli::Api::Make({.url = url}));
  ASSIGN_OR_RETURN(const cli::Plan plan, cli::MakeWholePlan(api.get(), read.app, cli::Prune::kNo));
  for (const std::string& difference : plan.differences) log::Warn(difference);
  *problems =
      cli::CarryOut(api.get(), read.app, plan, [](std::string_view line) { log::Info(line); });
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<DevApp>> DevApp::Start(std::string directory, std::string url) {
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  const int wake = eventfd(0, EFD_CLOEXEC);
  if (watch < 0 || wake < 0 || inotify_add_watch(watch, directory.c_str(), kEvents) < 0) {
    const Status failed =
        Error(errno == ENOENT || errno == ENOTDIR ? Code::kNotFound : Code::kIo, "app.no_directory",
              "can't watch the app directory {}: {}", directory, std::strerror(errno));
    if (watch >= 0) close(watch);
    if (wake >= 0) close(wake);
    return Unexpected(failed);
  }
  std::unique_ptr<DevApp> app(new DevApp(std::move(directory), std::move(url), watch, wake));
  app->WatchDirectories();
  app->ApplyNow();
  app->thread_ = Thread({"dev app"}, [raw = app.get()] { raw->Run(); });
  return app;
}

DevApp::DevApp(std::string directory, std::string url, int watch, int wake)
    : directory_(std::move(directory)), url_(std::move(url)), watch_(watch), wake_(wake) {}

DevApp::~DevApp() {
  eventfd_write(wake_, 1);
  thread_.join();
  close(watch_);
  close(wake_);
}

void DevApp::Run() {
  pollfd files[] = {{watch_, POLLIN, 0}, {wake_, POLLIN, 0}};
  bool changed = false;
  while (true) {
    const int ready = poll(files, 2, changed ? kQuietMs : -1);
    if (files[1].revents != 0) return;
    if (ready > 0) {
      changed |= TakeEvents();
    } else if (ready == 0 && std::exchange(changed, false)) {
      WatchDirectories();
      ApplyNow();
    }
  }
}

// Adding an existing watch changes nothing, and there may be new directories.
void DevApp::WatchDirectories() {
  namespace fs = std::filesystem;
  inotify_add_watch(watch_, directory_.c_str(), kEvents);
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory_, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_directory(error)) continue;
    if (IsOurOwn(it->path().filename().native())) {
      it.disable_recursion_pending();
    } else {
      inotify_add_watch(watch_, it->path().c_str(), kEvents);
    }
  }
}

bool DevApp::TakeEvents() {
  alignas(inotify_event) char buffer[16 << 10];
  bool changed = false;
  while (true) {
    const ssize_t size = read(watch_, buffer, sizeof buffer);
    if (size <= 0) return changed;
    for (const char* at = buffer; at < buffer + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      changed |= event->len > 0 && !IsOurOwn(event->name);
      at += sizeof(inotify_event) + event->len;
    }
  }
}

void DevApp::ApplyNow() {
  std::vector<Status> problems;
  const Status failed = ApplyApp(directory_, url_, &problems);
  if (!failed.ok()) problems.push_back(failed);
  for (const Status& problem : problems) LogProblem(problem);
  if (problems.empty()) log::Info("app applied", {{"directory", directory_}});
}

}  // namespace sluice::server
