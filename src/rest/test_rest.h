// For tests: the REST resources over a database in a temporary directory.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "auth/authenticator.h"
#include "auth/directory.h"
#include "base/check.h"
#include "base/clock.h"
#include "db/database.h"
#include "doctype_db/policy_compiler.h"
#include "rest/access.h"
#include "rest/routes.h"

namespace sluice::rest {

// Everything that server/ would make, in its order. Passwords are cheap to hash; background work is
// off.
class TestRest {
 public:
  explicit TestRest(uint16_t shards = 1) {
    std::string path = (std::filesystem::temp_directory_path() / "sluice_rest_XXXXXX").string();
    CHECK(mkdtemp(path.data()) != nullptr);
    path_ = path;
    db::DatabaseOptions options;
    options.shards = shards;
    options.policy_compiler = std::make_shared<doctype_db::PolicyCompiler>(clock_);
    options.expiry_interval_ms = 0;
    options.trim_interval_ms = 0;
    options.access_interval_ms = 0;
    options.durability = db::Durability::kNone;
    auto database = db::Database::Open(path_ + "/data", options, clock_);
    CHECK(database.has_value());
    database_ = std::move(*database);
    auto directory = auth::Directory::Open(*database_, hasher_);
    CHECK(directory.has_value());
    directory_ = std::move(*directory);
    authenticator_ = std::make_unique<auth::Authenticator>(*directory_, hasher_, clock_);
    filter_ = std::make_unique<AccessFilter>(*authenticator_, AccessFilter::Mode::kTrustLoopback);
    context_ = std::make_unique<Context>(Context{.database = *database_,
                                                 .directory = *directory_,
                                                 .metrics = metrics_,
                                                 .lifecycle = lifecycle_,
                                                 .clock = clock_,
                                                 .version = "test",
                                                 .started_ms = clock_.WallMs()});
    lifecycle_.set_phase(Lifecycle::Phase::kReady);
  }
  ~TestRest() {
    authenticator_.reset();
    directory_.reset();
    database_.reset();
    std::filesystem::remove_all(path_);
  }
  TestRest(const TestRest&) = delete;
  TestRest& operator=(const TestRest&) = delete;

  Router NewRouter() {
    Router router;
    CHECK(AddRestRoutes(router, *context_).ok());
    return router;
  }
  Context& context() { return *context_; }
  db::Database& database() { return *database_; }
  auth::Directory& directory() { return *directory_; }
  http::Filter& filter() { return *filter_; }
  Metrics& metrics() { return metrics_; }
  Lifecycle& lifecycle() { return lifecycle_; }
  FakeClock& clock() { return clock_; }

 private:
  FakeClock clock_;
  std::string path_;
  auth::PasswordHasher hasher_{{.memory_kib = 64, .passes = 1}};
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<auth::Directory> directory_;
  std::unique_ptr<auth::Authenticator> authenticator_;
  std::unique_ptr<AccessFilter> filter_;
  Metrics metrics_;
  Lifecycle lifecycle_;
  std::unique_ptr<Context> context_;
};

}  // namespace sluice::rest
