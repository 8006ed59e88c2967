// Consumers by SQL: a client that asks for rows one by one, and so acknowledges them.
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "procedure/test_procedures.h"
#include "procedure/trigger/poll_client.h"

namespace sluice::procedure {
namespace {

using testing::HasSubstr;

// The parameter is the number of shards.
class ConsumerTest : public ProceduresTest, public testing::WithParamInterface<uint16_t> {
 protected:
  ConsumerTest() { options_.shards = GetParam(); }

  using Client = std::unique_ptr<query::Run>;

  Client Exec(std::string_view statement) {
    query::RunRequest request;
    request.acknowledges = true;
    auto run = engine_->Query(statement, {}, std::move(request));
    EXPECT_TRUE(run.has_value()) << run.error().ToString();
    return run ? std::move(*run) : nullptr;
  }
  // A client that takes rows before it acknowledges them; `confirmed` gets what is durable.
  Client ExecAhead(std::string_view statement) {
    receipts_ = std::make_shared<query::Receipts>([this](uint64_t rows) { confirmed_ = rows; });
    query::RunRequest request;
    request.acknowledges = true;
    request.receipts = receipts_;
    auto run = engine_->Query(statement, {}, std::move(request));
    EXPECT_TRUE(run.has_value()) << run.error().ToString();
    return run ? std::move(*run) : nullptr;
  }
  FakeClock fake_clock_;
  std::shared_ptr<query::Receipts> receipts_;
  std::atomic<uint64_t> confirmed_ = 0;

  static std::string Next(Client& client) {
    if (client->Next()) return json::ToText(client->row());
    return client->status().ok() ? "end"
                                 : client->status().id() + ": " + client->status().message();
  }
  static std::string Next(Client& client, int rows) {
    std::string text;
    for (int i = 0; i < rows; ++i) text += Next(client) + "\n";
    return text;
  }
  void MakePlain() {
    Ask("CREATE TABLE t(i int)");
    Ask("CREATE PROCEDURE c {local function main()\n"
        "local consumer = db:consumer()\n"
        "while true do local e = consumer:get() consumer:emit(e.new.i) consumer:consume() end\n"
        "end}");
    EXPECT_EQ(Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)"), "");
  }
  Seats::Occupancy::State StateOf(const std::string& name) {
    return (*manager_->triggers().Find(name))->seats().occupancy().state;
  }
  uint64_t Consumed(const std::string& name) {
    return database_->followers().ReadCursor({FollowerOf(name), 0, 0})->events;
  }
};

TEST_P(ConsumerTest, ARowIsConsumedWhenTheNextIsAskedFor) {
  MakePlain();
  Ask("INSERT INTO t VALUES (1), (2), (3)");
  {
    Client client = Exec("EXEC PROCEDURE c()");
    EXPECT_EQ(Next(client), R"({"$0":1})");
    EXPECT_EQ(Next(client), R"({"$0":2})");
    EXPECT_EQ(Consumed("c"), 1u);
  }
  // The client is gone: what it did not acknowledge comes again.
  Client client = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(client), R"({"$0":2})");
  EXPECT_EQ(Next(client), R"({"$0":3})");
  std::thread later([&] { Ask("INSERT INTO t VALUES (4)"); });
  EXPECT_EQ(Next(client), R"({"$0":4})");
  later.join();
  EXPECT_EQ(Consumed("c"), 3u);
}

TEST_P(ConsumerTest, TheOthersWaitUntilItLeaves) {
  MakePlain();
  Ask("INSERT INTO t VALUES (1), (2)");
  auto first = std::make_unique<Client>(Exec("EXEC PROCEDURE c()"));
  EXPECT_EQ(Next(*first), R"({"$0":1})");
  Client second = Exec("EXEC PROCEDURE c()");
  auto waiting = std::async(std::launch::async, [&] { return Next(second); });
  EXPECT_TRUE(Eventually(
      [&] { return (*manager_->triggers().Find("c"))->seats().occupancy().waiting == 1; }));
  EXPECT_EQ(Next(*first), R"({"$0":2})");
  first.reset();
  EXPECT_EQ(waiting.get(), R"({"$0":2})");
}

TEST_P(ConsumerTest, AStalledClientIsReplaced) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE c {local function main()\n"
      "local consumer = db:consumer() consumer:emit_timeout(10)\n"
      "while true do local e = consumer:get() consumer:emit(e.new.i) consumer:consume() end end}");
  Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2)");
  Client slow = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(slow), R"({"$0":1})");
  EXPECT_TRUE(Eventually([&] { return StateOf("c") == Seats::Occupancy::State::kStalled; }));
  Client other = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(other), R"({"$0":1})");
  EXPECT_THAT(Next(slow), HasSubstr("taken over"));
  EXPECT_EQ(Next(other), R"({"$0":2})");
  EXPECT_EQ(Consumed("c"), 1u);
}

TEST_P(ConsumerTest, ALostTurnShowsWhenItConsumes) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE c {local function main()\n"
      "local consumer = db:consumer() consumer:emit_timeout(10)\n"
      "local e = consumer:get()\n"
      "db:begin() consumer:emit(e.new.i) consumer:consume() db:emit(db:commit()) end}");
  Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1)");
  Client slow = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(slow), R"({"$0":1})");
  EXPECT_TRUE(Eventually([&] { return StateOf("c") == Seats::Occupancy::State::kStalled; }));
  Client other = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(other), R"({"$0":1})");
  EXPECT_EQ(Next(slow, 2), "{\"$0\":2}\nend\n");
  EXPECT_EQ(Next(other, 2), "{\"$0\":0}\nend\n");
  EXPECT_EQ(Consumed("c"), 1u);
}

// It is no statement that ends: only the time between two waits is limited.
TEST_P(ConsumerTest, ARunOutlastsTheTimeOfAStatement) {
  constexpr uint64_t kTimeoutMs = 60'000;
  lua_clock_ = &fake_clock_;
  Restart();
  MakePlain();
  Ask("CREATE DEFAULT LUA CONSUMER d ON (TABLE t FOR INSERT)");
  query::RunRequest request;
  request.acknowledges = true;
  request.timeout_ms = kTimeoutMs;
  Client own = *engine_->Query("EXEC PROCEDURE c()", {}, request);
  Client standard = *engine_->Query("EXEC PROCEDURE d('{\"with_id\": false}')", {}, request);
  Client second = *engine_->Query("EXEC PROCEDURE c()", {}, request);
  std::future<std::string>
      turn;  // of the second one, which waits from when the first one has a row
  for (const std::string number : {"1", "2", "3"}) {
    auto row = std::async(std::launch::async, [&] { return Next(own); });
    auto event = std::async(std::launch::async, [&] { return Next(standard); });
    fake_clock_.AdvanceMs(kTimeoutMs * 2 / 3);
    Ask("INSERT INTO t VALUES (" + number + ")");
    EXPECT_EQ(row.get(), R"({"$0":)" + number + "}");
    EXPECT_EQ(event.get(), R"({"comdb2_event":"add","i":)" + number + "}");
    if (!turn.valid()) turn = std::async(std::launch::async, [&] { return Next(second); });
  }
  own.reset();
  EXPECT_EQ(turn.get(), R"({"$0":3})");
}

TEST_P(ConsumerTest, AStepHasTheTimeOfAStatement) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE c {local function main()\n"
      "local consumer = db:consumer() consumer:get() db:sleep(60) end}");
  Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1)");
  query::RunRequest request;
  request.acknowledges = true;
  request.timeout_ms = 100;
  Client client = *engine_->Query("EXEC PROCEDURE c()", {}, request);
  EXPECT_EQ(Next(client),
            "procedure.failed: procedure 'c': the run took too long: more than 100 ms since it "
            "last waited for its client or an event");
}

// A client may acknowledge and go at once.
TEST_P(ConsumerTest, WhatWasAcknowledgedBeforeItWentIsConsumed) {
  MakePlain();
  Ask("CREATE DEFAULT LUA CONSUMER d ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2), (3)");
  for (const std::string name : {"c", "d"}) {
    Client client = ExecAhead("EXEC PROCEDURE " + name + "()");
    EXPECT_THAT(Next(client), HasSubstr(":1}"));
    receipts_->Acknowledge(1);
    client.reset();
    EXPECT_EQ(Consumed(name), 1u);
  }
}

TEST_P(ConsumerTest, RegisteringHasATimeout) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE PROCEDURE c {local function main()\n"
      "local consumer = db:consumer({register_timeout = 20})\n"
      "if consumer == nil then db:emit('late') return 0 end\n"
      "consumer:emit('first') end}");
  Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Client first = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(first), R"({"$0":"first"})");
  Client second = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(second, 2), "{\"$0\":\"late\"}\nend\n");
}

// There is nothing to consume: the client must not wait until there is.
TEST_P(ConsumerTest, RowsBeforeItsTurnAreConfirmed) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1)");
  EXPECT_EQ(StateOf("c"), Seats::Occupancy::State::kFree);
  Client first = Exec("EXEC PROCEDURE c()");
  EXPECT_THAT(Next(first), HasSubstr("add"));
  EXPECT_EQ(StateOf("c"), Seats::Occupancy::State::kTaken);
  Client second = ExecAhead("EXEC PROCEDURE c('{\"register_timeout\": 10}')");
  EXPECT_THAT(Next(second), HasSubstr("register_timeout"));
  receipts_->Acknowledge(1);
  EXPECT_TRUE(Eventually([&] { return confirmed_ == 1; }));
}

TEST_P(ConsumerTest, TheSeedsBatches) {
  Ask("CREATE TABLE t(data cstring(20))");
  Ask(R"(CREATE PROCEDURE batch {
local function consume_a_txn(consumer)
        local event0 = consumer:get()
        local txn0 = db:get_event_tid(event0)
        while true do
                local event = consumer:poll(0)
                if event == nil then return end
                if db:get_event_tid(event) ~= txn0 then return end
                db:emit(event.new.data)
                consumer:next()
        end
end
local function main()
        local consumer = db:consumer()
        while true do
                db:begin()
                consume_a_txn(consumer)
                consumer:emit('--sentinal--')
                db:commit()
        end
end
})");
  Ask("CREATE LUA CONSUMER batch ON (TABLE t FOR INSERT)");
  Ask("insert into t(data) values('first')");
  Ask("insert into t(data) values('second'),('third')");
  Ask("insert into t(data) select printf('row %d', value) from generate_series(6, 8)");
  Client client = Exec("EXEC PROCEDURE batch()");
  EXPECT_EQ(Next(client, 8), R"({"$0":"first"}
{"$0":"--sentinal--"}
{"$0":"second"}
{"$0":"third"}
{"$0":"--sentinal--"}
{"$0":"row 6"}
{"$0":"row 7"}
{"$0":"row 8"}
)");
  EXPECT_EQ(Consumed("batch"), 3u);
  EXPECT_EQ(Next(client), R"({"$0":"--sentinal--"})");
  client.reset();
  EXPECT_EQ(Consumed("batch"), 3u);
}

TEST_P(ConsumerTest, InsertEmitAndConsumeAreOneTransaction) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE TABLE audit(i int)");
  Ask(R"(CREATE PROCEDURE c {
local function main()
  local consumer = db:consumer()
  while true do
    local change = consumer:get()
    db:begin()
    db:table('audit'):insert({i = change.new.i})
    consumer:emit(change.new.i)
    consumer:consume()
    db:commit()
  end
end})");
  Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2)");
  {
    Client client = Exec("EXEC PROCEDURE c()");
    EXPECT_EQ(Next(client, 2), "{\"$0\":1}\n{\"$0\":2}\n");
  }
  EXPECT_EQ(Ask("SELECT RAW i FROM audit"), "1\n");
  EXPECT_EQ(Consumed("c"), 1u);
}

TEST_P(ConsumerTest, RollbackRewindsAndWrongUsesAreTold) {
  Ask("CREATE TABLE t(i int)");
  Ask(R"(CREATE PROCEDURE c {
local function main()
  local consumer = db:consumer({with_tid = true, with_epoch = true, with_sequence = true})
  local e = consumer:get()
  db:begin()
  consumer:next()
  local second = consumer:get()
  db:rollback()
  local again = consumer:get()
  db:emit(e.id == again.id, second.id ~= e.id, again.sequence, again.tid == second.tid)
  db:emit(consumer:consume(), consumer:consume(), 0, 0)
  db:emit(pcall(function() consumer:next() end), 0, 0, 0)
  db:emit(pcall(function() db:consumer() end), 0, 0, 0)
  db:emit(db:get_event_tid(e) == e.tid, db:get_event_epoch(e) == e.epoch, db:get_event_sequence(e), 0)
  again.id = tostring(again.id)
  db:emit(db:get_event_tid(again) == e.tid, db:get_event_epoch(again) == e.epoch, 0, 0)
end})");
  Ask("CREATE LUA CONSUMER c ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2)");
  Client client = Exec("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(client, 7), R"({"$0":true,"$1":true,"$2":1,"$3":true}
{"$0":0,"$1":-1,"$2":0,"$3":0}
{"$0":false,"$1":0,"$2":0,"$3":0}
{"$0":false,"$1":0,"$2":0,"$3":0}
{"$0":true,"$1":true,"$2":1,"$3":0}
{"$0":true,"$1":true,"$2":0,"$3":0}
end
)");
  EXPECT_THAT(Ask("EXEC PROCEDURE c()"), HasSubstr("acknowledges rows"));
  Ask("CREATE PROCEDURE other {local function main() db:consumer() end}");
  EXPECT_THAT(Ask("EXEC PROCEDURE other()"), HasSubstr("there is no consumer 'other'"));
}

TEST_P(ConsumerTest, DefaultConsumers) {
  Ask("CREATE TABLE t(i int, c cstring(10))");
  EXPECT_EQ(Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT AND UPDATE AND DELETE)"),
            "");
  EXPECT_EQ(Ask("SELECT version, `default` FROM comdb2_procedures"),
            "{\"version\":\"comdb2 default consumer 1.1\",\"default\":\"Y\"}\n");
  Ask("INSERT INTO t VALUES (1, 'one'), (2, 'two')");
  Ask("UPDATE t SET c = 'zwei' WHERE i = 2");
  Ask("DELETE FROM t WHERE i = 1");
  Client client = Exec("EXEC PROCEDURE watch('{\"with_id\": false}')");
  EXPECT_EQ(Next(client, 5), R"({"comdb2_event":"add","i":1,"c":"one"}
{"comdb2_event":"add","i":2,"c":"two"}
{"comdb2_event":"old","i":2,"c":"two"}
{"comdb2_event":"new","i":2,"c":"zwei"}
{"comdb2_event":"del","i":1,"c":"one"}
)");
  client.reset();
  EXPECT_EQ(Consumed("watch"), 3u);
  client = Exec(
      "EXEC PROCEDURE watch('{\"batch_consume\": true, \"with_sequence\": true, "
      "\"with_tid\": true, \"with_epoch\": true, \"poll_timeout\": 10}')");
  EXPECT_TRUE(client->Next());
  std::vector<std::string> names;
  for (const json::Field& field : client->row().fields()) names.emplace_back(field.name());
  EXPECT_THAT(names, testing::ElementsAre("comdb2_event", "comdb2_id", "comdb2_tid",
                                          "comdb2_sequence", "comdb2_epoch", "i", "c"));
  EXPECT_EQ(client->row()["comdb2_sequence"], Value(4));
  EXPECT_TRUE(client->Next());
  EXPECT_EQ(client->row()["comdb2_event"], Value("poll_timeout"));
  EXPECT_EQ(Consumed("watch"), 4u);
  EXPECT_THAT(Ask("EXEC PROCEDURE watch('{\"x\": 1}')"), HasSubstr("invalid option 'x'"));
}

TEST_P(ConsumerTest, RowsComeAheadOfTheirAcknowledgements) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT AND UPDATE)");
  Ask("INSERT INTO t VALUES (1), (2), (3)");
  Ask("UPDATE t SET i = 4 WHERE i = 3");
  {
    Client client = ExecAhead("EXEC PROCEDURE watch('{\"with_id\": false}')");
    EXPECT_EQ(Next(client, 5), R"({"comdb2_event":"add","i":1}
{"comdb2_event":"add","i":2}
{"comdb2_event":"add","i":3}
{"comdb2_event":"old","i":3}
{"comdb2_event":"new","i":4}
)");
    EXPECT_EQ(Consumed("watch"), 0u);
    receipts_->Acknowledge(2);
    EXPECT_TRUE(Eventually([&] { return confirmed_ == 2; }));
    EXPECT_EQ(Consumed("watch"), 2u);
    // Half of an update is none.
    receipts_->Acknowledge(4);
    EXPECT_TRUE(Eventually([&] { return confirmed_ == 3; }));
    EXPECT_EQ(Consumed("watch"), 3u);
  }
  Client client = ExecAhead("EXEC PROCEDURE watch('{\"with_id\": false}')");
  EXPECT_EQ(Next(client), R"({"comdb2_event":"old","i":3})");
}

TEST_P(ConsumerTest, ASentinelEndsATransaction) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2)");
  Ask("INSERT INTO t VALUES (3)");
  for (const std::string batch : {"true", "false"}) {
    Client client = Exec(
        "EXEC PROCEDURE watch('{\"with_id\": false, \"with_txn_sentinel\": true, "
        "\"batch_consume\": " +
        batch + "}')");
    EXPECT_EQ(Next(client, 5),
              "{\"comdb2_event\":\"add\",\"i\":1}\n{\"comdb2_event\":\"add\",\"i\":2}\n"
              "{\"comdb2_event\":\"txn\",\"i\":null}\n{\"comdb2_event\":\"add\",\"i\":3}\n"
              "{\"comdb2_event\":\"txn\",\"i\":null}\n");
    client.reset();
    EXPECT_EQ(Consumed("watch"), 2u);
    Ask("DROP LUA CONSUMER watch");
    Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)");
    Ask("INSERT INTO t VALUES (1), (2)");
    Ask("INSERT INTO t VALUES (3)");
  }
}

TEST_P(ConsumerTest, EndsAfterItsCount) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT AND UPDATE)");
  Ask("INSERT INTO t VALUES (1)");
  Ask("UPDATE t SET i = 2");
  Ask("UPDATE t SET i = 3");
  Client client = Exec("EXEC PROCEDURE watch('{\"with_id\": false, \"consume_count\": 2}')");
  EXPECT_EQ(Next(client, 4),
            "{\"comdb2_event\":\"add\",\"i\":1}\n{\"comdb2_event\":\"old\",\"i\":1}\n"
            "{\"comdb2_event\":\"new\",\"i\":2}\nend\n");
  EXPECT_EQ(Consumed("watch"), 2u);
}

TEST_P(ConsumerTest, TransactionsAheadAreConsumedWhole) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t SELECT value FROM generate_series(1, 3000)");
  Ask("INSERT INTO t VALUES (3001), (3002)");
  Client client =
      ExecAhead("EXEC PROCEDURE watch('{\"with_id\": false, \"batch_consume\": true}')");
  for (int i = 1; i <= 3002; ++i) {
    ASSERT_TRUE(client->Next());
    ASSERT_EQ(client->row()["i"], Value(i));
    if (i == 2999) receipts_->Acknowledge(2999);
  }
  EXPECT_EQ(Consumed("watch"), 0u);
  receipts_->Acknowledge(3001);
  EXPECT_TRUE(Eventually([&] { return confirmed_ == 3000; }));
  EXPECT_EQ(Consumed("watch"), 3000u);
  receipts_->Acknowledge(3002);
  EXPECT_TRUE(Eventually([&] { return confirmed_ == 3002; }));
  EXPECT_EQ(Consumed("watch"), 3002u);
}

TEST_P(ConsumerTest, AnyProceduresRowsAreAcknowledgedByCount) {
  MakePlain();
  Ask("INSERT INTO t VALUES (1), (2)");
  Client client = ExecAhead("EXEC PROCEDURE c()");
  EXPECT_EQ(Next(client), R"({"$0":1})");
  EXPECT_TRUE(client->NextWaits());
  EXPECT_EQ(Consumed("c"), 0u);
  receipts_->Acknowledge(1);
  EXPECT_EQ(Next(client), R"({"$0":2})");
  EXPECT_EQ(confirmed_, 1u);
  EXPECT_EQ(Consumed("c"), 1u);
}

TEST_P(ConsumerTest, WhoStallsAheadIsReplaced) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT)");
  Ask("INSERT INTO t VALUES (1), (2)");
  constexpr std::string_view kExec =
      "EXEC PROCEDURE watch('{\"with_id\": false, \"emit_timeout\": 10}')";
  Client slow = ExecAhead(kExec);
  EXPECT_EQ(Next(slow, 2),
            "{\"comdb2_event\":\"add\",\"i\":1}\n{\"comdb2_event\":\"add\",\"i\":2}\n");
  Client other = Exec(kExec);
  EXPECT_EQ(Next(other), R"({"comdb2_event":"add","i":1})");
  EXPECT_THAT(Next(slow), HasSubstr("taken over"));
  EXPECT_EQ(Next(other), R"({"comdb2_event":"add","i":2})");
  EXPECT_EQ(Consumed("watch"), 1u);
}

TEST_P(ConsumerTest, StopEndsLongPolls) {
  MakePlain();
  PollClients polls(*engine_, manager_->triggers());
  constexpr uint64_t kForEver = 3'600'000;
  const auto ask = [&](const std::string& client) {
    return polls.Next({.consumer = "c", .client = client, .timeout_ms = kForEver});
  };
  auto first = std::async(std::launch::async, ask, "first");
  LiveQueue& live = **manager_->triggers().Find("c");
  EXPECT_TRUE(Eventually(
      [&] { return live.seats().occupancy().state == Seats::Occupancy::State::kTaken; }));
  auto second = std::async(std::launch::async, ask, "second");
  EXPECT_TRUE(Eventually([&] { return live.seats().occupancy().waiting == 1; }));
  polls.Stop();
  EXPECT_TRUE(first.get()->empty());
  EXPECT_EQ(second.get().error().id(), "consumer.busy");
}

// A client that gives up a request which waits may leave with the next one.
TEST_P(ConsumerTest, AClientLeavesWhileItsPollWaits) {
  MakePlain();
  PollClients polls(*engine_, manager_->triggers());
  auto waiting = std::async(std::launch::async, [&] {
    return polls.Next({.consumer = "c", .client = "one", .timeout_ms = 3'600'000});
  });
  EXPECT_TRUE(Eventually([&] { return StateOf("c") == Seats::Occupancy::State::kTaken; }));
  EXPECT_TRUE(
      polls.Next({.consumer = "c", .client = "one", .max = 0, .timeout_ms = 0, .release = true})
          .has_value());
  EXPECT_TRUE(waiting.get()->empty());
  EXPECT_EQ(StateOf("c"), Seats::Occupancy::State::kFree);
}

TEST_P(ConsumerTest, DepthCountsWhatWaits) {
  Ask("CREATE TABLE t(i int)");
  Ask("CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT AND UPDATE WHEN (new.i % 2 = 0))");
  const auto depth = [&] { return manager_->triggers().StatusOf("watch")->depth; };
  EXPECT_EQ(depth(), 0u);
  Ask("INSERT INTO t SELECT value FROM generate_series(1, 3000)");
  EXPECT_EQ(depth(), 1500u);
  EXPECT_EQ(depth(), 1500u);
  Client client = Exec("EXEC PROCEDURE watch()");
  for (int i = 0; i < 11; ++i) ASSERT_TRUE(client->Next());
  EXPECT_EQ(Consumed("watch"), 10u);
  EXPECT_EQ(depth(), 1490u);
  Ask("DELETE FROM t");
  EXPECT_EQ(depth(), 1490u);
  Ask("INSERT INTO t VALUES (2), (3)");
  EXPECT_EQ(depth(), 1491u);
  for (int i = 0; i < 1490; ++i) ASSERT_TRUE(client->Next());
  EXPECT_EQ(depth(), 1u);
}

TEST_P(ConsumerTest, DropEndsWhoWaits) {
  MakePlain();
  Client client = Exec("EXEC PROCEDURE c()");
  auto waiting = std::async(std::launch::async, [&] { return Next(client); });
  EXPECT_TRUE(Eventually([&] {
    return (*manager_->triggers().Find("c"))->seats().occupancy().state ==
           Seats::Occupancy::State::kTaken;
  }));
  EXPECT_EQ(Ask("DROP LUA CONSUMER c"), "");
  EXPECT_THAT(waiting.get(), HasSubstr("dropped"));
}

INSTANTIATE_TEST_SUITE_P(Shards, ConsumerTest, testing::Values(1, 4));

}  // namespace
}  // namespace sluice::procedure
