// What a worker does about HTTP requests: they are not undone, so it commits after each.
#include <algorithm>

#include "function/curl/test_server.h"
#include "function/handler_fixture.h"
#include "function/manager.h"
#include "function/test_progress.h"

namespace sluice::function {
namespace {

using CurlBatchTest = HandlerTest;

TEST_F(CurlBatchTest, EventsThatCalledOutAreCommittedBeforeTheNextOneRuns) {
  constexpr int kEvents = 20;
  const db::KeyspaceId source = *database_->Resolve({.bucket = "src"});
  for (int i = 0; i < kEvents; ++i) {
    db::Commit commit;
    commit.writes.push_back(
        db::PutWrite(source, "k" + std::to_string(i), db::Document{.body = "1"}));
    ASSERT_TRUE(database_->Apply(std::move(commit)).status.ok());
  }
  std::vector<int> committed;  // when each request came
  TestServer server([&](const std::string&) {
    int count = 0;
    for (int i = 0; i < kEvents; ++i) {
      if (Document("dst", "k" + std::to_string(i)).body != "-") ++count;
    }
    committed.push_back(count);
    return Respond("200 OK", "");
  });
  definition_.metadata = {.bucket = "dst"};
  definition_.urls = {{.alias = "api", .hostname = server.url()}};
  definition_.code = "function OnUpdate(doc, meta) {\n  dst[meta.id] = curl('GET', api).status;\n}";
  Progress progress;
  Services services{*database_, *engine_, clock_, addresses_};
  services.progress = progress.signal();
  Manager manager(services);
  ASSERT_TRUE(manager.Start().ok());
  ASSERT_TRUE(manager.Store(definition_).ok());
  ASSERT_TRUE(manager.Deploy("f").ok());
  EXPECT_TRUE(progress.Await([&] { return manager.StatusOf("f")->caught_up; }));
  manager.Stop();
  ASSERT_EQ(committed.size(), size_t{kEvents});
  for (int i = 0; i < kEvents; ++i) EXPECT_EQ(committed[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace sluice::function
