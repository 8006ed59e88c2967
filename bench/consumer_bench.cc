// Consumers of a server over loopback, durable: events a second of a backlog, by one client, from
// the first question until the last acknowledgement is durable. The yardstick is what the same
// server can commit durably, by PUT of a document, with as many in flight.
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "bench/measure.h"
#include "client/client.h"
#include "client/websocket.h"
#include "json/parse.h"
#include "json/print.h"
#include "server/config.h"
#include "server/server.h"

namespace sluice::bench {
namespace {

using json::Value;

constexpr size_t kRowsOfStatement = 100;
constexpr int kRounds = 3;
constexpr double kYardstickSeconds = 1;
constexpr uint64_t kPatienceMs = 60'000;

class ServerRig {
 public:
  explicit ServerRig(const std::string& path) {
    log::Configure(log::Level::kWarn, log::Format::kText);
    const auto loaded = server::LoadConfig({.flags = {{"data.directory", path},
                                                      {"listen.http", "127.0.0.1:0"},
                                                      {"listen.eventing", "127.0.0.1:0"},
                                                      {"listen.flows", "127.0.0.1:0"}}});
    CHECK(loaded.problems.empty());
    auto started = server::Server::Start(loaded.loaded, server::Mode::kDevelopment, clock_);
    CHECK(started.has_value());
    server_ = std::move(*started);
  }

  client::Client NewClient() const {
    auto client = client::Client::Make("http://127.0.0.1:" + std::to_string(server_->ports().http));
    CHECK(client.has_value());
    return std::move(*client);
  }
  static Value Post(client::Client& client, const std::string& path, const Value& body) {
    const auto answer = client.Send({.method = "POST",
                                     .path = path,
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = json::ToText(body)});
    CHECK(answer.has_value());
    auto value = json::Parse(answer->body, {.max_bytes = answer->body.size()});
    CHECK(value.has_value() && answer->status == 200);
    return std::move(*value);
  }
  void Run(const std::string& statement) {
    client::Client client = NewClient();
    Post(client, "/query/service", Value::Object({{"statement", statement}}));
  }
  void InsertRows(size_t rows) {
    client::Client client = NewClient();
    for (size_t at = 0; at < rows; at += kRowsOfStatement) {
      std::string statement = "INSERT INTO t VALUES ";
      for (size_t n = 0; n < kRowsOfStatement; ++n) {
        statement += (n > 0 ? ",(" : "(") + std::to_string(at + n) + "," + std::to_string(n) + ")";
      }
      Post(client, "/query/service", Value::Object({{"statement", statement}}));
    }
  }

  // Durable commits a second, by so many clients.
  double CommitRate(size_t clients) const {
    std::atomic<size_t> done{0};
    std::vector<std::thread> threads;
    const double began = Seconds();
    for (size_t n = 0; n < clients; ++n) {
      threads.emplace_back([&, n] {
        client::Client client = NewClient();
        while (Seconds() - began < kYardstickSeconds) {
          const auto answer = client.Send({.method = "PUT",
                                           .path = "/v1/docs/plain/" + std::to_string(n),
                                           .headers = {{"Content-Type", "application/json"}},
                                           .body = R"({"n":1})"});
          CHECK(answer.has_value() && answer->status < 300);
          ++done;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return static_cast<double>(done) / (Seconds() - began);
  }

 private:
  SystemClock clock_;
  std::unique_ptr<server::Server> server_;
};

// A statement on a stream of its own.
class StreamClient {
 public:
  StreamClient(const ServerRig& rig, Value message) {
    client::Client client = rig.NewClient();
    client::Response refusal;
    auto socket = client.OpenWebSocket({.path = "/query/stream"}, &refusal);
    CHECK(socket.has_value());
    socket_ = std::move(*socket);
    message.Set("id", 1);
    Send(message);
  }
  void Send(const Value& message) { CHECK(socket_->Send(json::ToText(message)).ok()); }
  void Next(size_t rows) { Send(Value::Object({{"id", 1}, {"next", static_cast<int64_t>(rows)}})); }
  Value Read() {
    const auto text = socket_->Read({.timeout_ms = kPatienceMs});
    CHECK(text.has_value());
    auto message = json::Parse(*text, {.max_bytes = text->size()});
    CHECK(message.has_value() && (*message)["done"].is_missing());
    return std::move(*message);
  }

 private:
  std::unique_ptr<client::WebSocket> socket_;
};

Value Exec(const std::string& consumer, const char* options) {
  Value message =
      Value::Object({{"statement", "EXEC PROCEDURE " + consumer + (*options ? "($1)" : "()")}});
  if (*options != '\0') message.Set("args", Value::Array({options}));
  return message;
}

// A row is acknowledged by asking for the next; so many are asked for at once.
void ConsumeByNext(const ServerRig& rig, const std::string& consumer, const char* options,
                   size_t at_once, size_t events) {
  Value message = Exec(consumer, options);
  message.Set("next", static_cast<int64_t>(at_once));
  StreamClient client(rig, message);
  size_t received = 0;
  while (received < events) {
    received += client.Read()["rows"].size();
    client.Next(at_once);
  }
  client.Read();  // something comes when the last one is consumed
}

// Rows come ahead of their acknowledgements; these are sent row by row, or for a message at once.
enum class Acknowledging : uint8_t { kEach, kTogether };
void ConsumeAhead(const ServerRig& rig, const std::string& consumer, const char* options,
                  size_t ahead, Acknowledging acknowledging, size_t events) {
  Value message = Exec(consumer, options);
  message.Set("ahead", static_cast<int64_t>(ahead));
  StreamClient client(rig, message);
  int64_t confirmed = 0;
  while (confirmed < static_cast<int64_t>(events)) {
    const Value read = client.Read();
    if (read["acknowledged"].is_int()) confirmed = read["acknowledged"].AsInt();
    const size_t rows = read["rows"].size();
    if (acknowledging == Acknowledging::kEach) {
      for (size_t row = 0; row < rows; ++row) client.Next(1);
    } else if (rows > 0) {
      client.Next(rows);
    }
  }
}

void ConsumeByPolls(const ServerRig& rig, const std::string& consumer, size_t at_once,
                    size_t events) {
  client::Client client = rig.NewClient();
  Value request = Value::Object({{"client", "bench"}, {"max", static_cast<int64_t>(at_once)}});
  size_t received = 0;
  while (received < events) {
    const Value answer = ServerRig::Post(client, "/v1/consumers/" + consumer + "/next", request);
    const Value& got = answer["events"];
    received += got.size();
    if (got.size() > 0) request.Set("ack", got.items()[got.size() - 1]["id"]);
  }
  request.Set("max", 0);
  request.Set("release", true);
  ServerRig::Post(client, "/v1/consumers/" + consumer + "/next", request);
}

// What the manual's procedure for batches does, a hundred events a transaction.
constexpr const char* kPollBatches = R"(CREATE PROCEDURE polls {
local function main()
  local consumer = db:consumer()
  while true do
    local event = consumer:get()
    local n = 0
    db:begin()
    while event ~= nil do
      n = n + 1
      consumer:next()
      if n == 100 then break end
      db:emit(event.new.i, event.new.j)
      event = consumer:poll(0)
    end
    consumer:emit(event and event.new.i or -1, n)
    db:commit()
  end
end})";

struct Measurement {
  std::string name;
  size_t in_flight;
  size_t events;
  const char* goal;
  std::function<void(size_t events)> consume;
};

void Measure(const ServerRig& rig, const Measurement& measurement) {
  std::vector<double> rates;
  std::vector<double> commits;
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    commits.push_back(rig.CommitRate(measurement.in_flight));
    const double began = Seconds();
    measurement.consume(measurement.events);
    rates.push_back(static_cast<double>(measurement.events) / (Seconds() - began));
    ratios.push_back(rates.back() / commits.back());
  }
  Report(measurement.name, {Median(rates), Median(commits), Median(ratios)}, "events/s",
         "durable commits/s, " + std::to_string(measurement.in_flight) + " in flight", "");
  if (*measurement.goal != '\0') {
    ReportValue(measurement.name, Median(rates), "events/s", measurement.goal);
  }
}

void MeasureAll(ServerRig& rig, size_t events) {
  constexpr const char* kOn = " ON (TABLE t FOR INSERT AND UPDATE AND DELETE)";
  rig.Run("CREATE TABLE t(i int, j int)");
  rig.Run("CREATE BUCKET plain");
  for (const char* name : {"strict", "ahead", "batch", "batch_ahead", "http"}) {
    rig.Run(std::string("CREATE DEFAULT LUA CONSUMER ") + name + kOn);
  }
  rig.Run(kPollBatches);
  rig.Run(std::string("CREATE LUA CONSUMER polls") + kOn);
  rig.InsertRows((kRounds + 1) * events);
  constexpr size_t kAhead = 64;
  constexpr size_t kFarAhead = 10'000;
  constexpr size_t kAtOnce = 1000;
  constexpr const char* kBatch = R"({"batch_consume": true})";
  const auto one = "consumer, one at a time, each acknowledged before the next is sent";
  Measure(rig,
          {one, 1, events / 50, "", [&](size_t n) { ConsumeByNext(rig, "strict", "", 1, n); }});
  Measure(rig,
          {"consumer, one at a time, up to 64 sent ahead", kAhead, events / 5, ">= 6000",
           [&](size_t n) { ConsumeAhead(rig, "ahead", "", kAhead, Acknowledging::kEach, n); }});
  Measure(rig, {"consumer, batches of a procedure with poll", 1, events / 5, "",
                [&](size_t n) { ConsumeByNext(rig, "polls", "", kAtOnce, n); }});
  Measure(rig, {"consumer, long polls of 1000", 1, events, "",
                [&](size_t n) { ConsumeByPolls(rig, "http", kAtOnce, n); }});
  Measure(rig, {"default consumer, batch_consume, each before the next", 1, events / 5, "",
                [&](size_t n) { ConsumeByNext(rig, "batch", kBatch, kAtOnce, n); }});
  Measure(rig, {"default consumer, batch_consume, sent ahead", kFarAhead / kRowsOfStatement, events,
                ">= 150000", [&](size_t n) {
                  ConsumeAhead(rig, "batch_ahead", kBatch, kFarAhead, Acknowledging::kTogether, n);
                }});
}

void Main(bool full) {
  const auto path = std::filesystem::current_path() / "build" / "bench-consumers";
  std::filesystem::remove_all(path);
  {
    ServerRig rig(path.string());
    MeasureAll(rig, full ? 300'000 : 50'000);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  sluice::bench::Main(argc > 1 && std::string_view(argv[1]) == "--full");
  return 0;
}
