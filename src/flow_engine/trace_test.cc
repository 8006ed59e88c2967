#include "flow_engine/trace.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/locked.h"
#include "base/signal.h"
#include "flow_engine/otlp.h"
#include "flow_engine/test_host.h"
#include "function/curl/test_server.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, TraceParentsAreReadStrictly) {
  const auto link = ParseTraceParent(kParent);
  ASSERT_TRUE(link);
  EXPECT_EQ(link->id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(SpanText(link->parent), "00f067aa0ba902b7");
  EXPECT_EQ(link->flags, 1);
  EXPECT_EQ(TraceParentOf({link->id, link->parent, link->flags}), kParent);
  EXPECT_EQ(ParseTraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")->flags, 0);
  // A later version may say more.
  EXPECT_TRUE(ParseTraceParent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"));
  for (const std::string_view wrong : {
           "",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
           "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       }) {
    EXPECT_FALSE(ParseTraceParent(wrong)) << wrong;
  }
}

TEST(TraceContextTest, OtherIdsGetW3CsForm) {
  EXPECT_EQ(WireTraceId("0192f0c1-1111-7222-8333-444455556666"),
            "0192f0c1111172228333444455556666");
  EXPECT_TRUE(IsWireTraceId(WireTraceId("order-17")));
  EXPECT_EQ(WireTraceId("order-17"), WireTraceId("order-17"));
  EXPECT_NE(WireTraceId("order-17"), WireTraceId("order-18"));
  EXPECT_TRUE(IsTraceId("order-17"));
  EXPECT_FALSE(IsTraceId("order 17"));
  EXPECT_FALSE(IsTraceId(std::string(200, 'x')));
}

TracePtr TraceNamed(std::string run, std::string flow, int status, uint64_t took_ns) {
  auto trace = std::make_shared<RunTrace>(
      RunTrace::Head{.run = std::move(run), .flow = std::move(flow), .origin = "rest", .link = {}},
      nullptr);
  flow::RunState state;
  state.status = status;
  trace->Finish(state, took_ns);
  return trace;
}

std::vector<std::string> RunsOf(const std::vector<TracePtr>& traces) {
  std::vector<std::string> runs;
  for (const TracePtr& trace : traces) runs.push_back(trace->head().run);
  return runs;
}

TEST(TraceStoreTest, KeepsTheLatestAndThoseThatFailed) {
  TraceStore store(2);
  store.Add(TraceNamed("bad", "a", 500, 10));
  store.Add(TraceNamed("one", "a", 200, 10));
  store.Add(TraceNamed("two", "b", 200, 30));
  store.Add(TraceNamed("three", "a", 200, 20));
  EXPECT_THAT(RunsOf(store.List({})), ElementsAre("three", "two", "bad"));
  EXPECT_THAT(RunsOf(store.List({.flow = "a"})), ElementsAre("three", "bad"));
  EXPECT_THAT(RunsOf(store.List({.least_ns = 20})), ElementsAre("three", "two"));
  EXPECT_THAT(RunsOf(store.List({.failed = true})), ElementsAre("bad"));
  EXPECT_THAT(RunsOf(store.List({.limit = 1})), ElementsAre("three"));
  EXPECT_THAT(RunsOf(store.Find("two")), ElementsAre("two"));
  EXPECT_TRUE(store.Find("one").empty());
}

constexpr std::string_view kOuter = R"(flow: {id: outer, description: d, ttl: 30s}
first.task: first
tasks:
  - {name: first, process: no.op, input: [], output: [], description: d, execution: sequential, next: [inner]}
  - name: inner
    process: 'flow://inner'
    input: ['input.body -> body']
    output: ['result -> output.body', 'model.trace -> output.header.told']
    description: d
    execution: end
)";
constexpr std::string_view kInner = R"(flow: {id: inner, description: d, ttl: 30s}
first.task: ask
tasks:
  - name: ask
    process: ask.it
    input: ['input.body.fail -> fail']
    output: ['result -> output.body']
    description: d
    execution: end
)";

// Waits for a signal until the condition holds, or for a minute.
template <typename Condition>
bool WaitFor(Signal& signal, Condition holds) {
  const Clock::Time end = MachineClock().Now() + std::chrono::minutes(1);
  while (true) {
    const uint64_t seen = signal.news();
    if (holds()) return true;
    if (signal.Wait(seen, end) == Signal::Waited::kTimeout) return false;
  }
}

class TraceTest : public HostTest {
 protected:
  void SetUp() override {
    options_.exporter = [this](const TracePtr&) { traced_.Wake(); };
    HostTest::SetUp();
  }
  void Load(std::string_view url) {
    ASSERT_EQ(Apply({{"flows.yaml", "flows: ['outer.yml', 'inner.yml']"},
                     {"flows/outer.yml", std::string(kOuter)},
                     {"flows/inner.yml", std::string(kInner)},
                     {"sluice.yaml", fmt::format("tasks: {{ask.it: {{url: '{}/x'}}}}", url)}}),
              "");
  }
  Reply RunTraced(TraceLink link, const std::string& flow = "outer") {
    std::promise<Reply> done;
    flow::Start start;
    start.flow = flow;
    start.input = Value::Object({{"body", Value::EmptyObject()}});
    if (link.tracing == Tracing::kTold) start.trace = link.id;
    host_->engine().Start(host_->app(), std::move(start),
                          [&](Reply reply) { done.set_value(std::move(reply)); }, "rest", 0,
                          {.trace = std::move(link)});
    return done.get_future().get();
  }
  // The answer comes before the run's end.
  std::vector<TracePtr> Wait(size_t count) {
    const auto list = [this] { return host_->engine().traces().List({}); };
    EXPECT_TRUE(WaitFor(traced_, [&] { return list().size() >= count; }));
    return list();
  }

  Signal traced_;
};

TEST_F(TraceTest, ATreeOfSpansAndTheHeadersOfWhomIsCalled) {
  function::TestServer server([](const std::string&) {
    return std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  Load(server.url());
  TraceLink link = *ParseTraceParent(kParent);
  link.tracing = Tracing::kTold;
  link.state = "vendor=1";
  const Reply reply = RunTraced(link);
  EXPECT_EQ(reply.status, 200) << json::ToText(reply.body);
  EXPECT_EQ(reply.headers["told"], Value("4bf92f3577b34da6a3ce929d0e0e4736"));
  const auto traces = Wait(1);
  ASSERT_EQ(traces.size(), 1U);
  const Value view = ViewOf(*traces[0]);
  EXPECT_EQ(view["trace"], Value("4bf92f3577b34da6a3ce929d0e0e4736"));
  EXPECT_EQ(view["parent"], Value("00f067aa0ba902b7"));
  EXPECT_EQ(view["tasks"], Value(3));
  ASSERT_EQ(view["spans"].size(), 2U) << json::ToText(view);
  EXPECT_EQ(view["spans"][0]["task"], Value("first"));
  EXPECT_EQ(view["spans"][1]["route"], Value("flow://inner"));
  EXPECT_EQ(view["spans"][1]["status"], Value(200));
  const Value ask = view["spans"][1]["spans"][0];
  EXPECT_EQ(ask["task"], Value("ask")) << json::ToText(view);
  EXPECT_EQ(ask["flow"], Value("inner"));
  EXPECT_EQ(ask["status"], Value(200));
  EXPECT_THAT(server.last(),
              HasSubstr(fmt::format("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01\r\n",
                                    ask["span"].AsString())));
  EXPECT_THAT(server.last(), HasSubstr("tracestate: vendor=1\r\n"));
  EXPECT_THAT(server.last(), Not(HasSubstr("X-Trace-Id")));
}

TEST_F(TraceTest, FailuresAndIdsOfOtherForms) {
  function::TestServer server([](const std::string&) {
    return std::string(
        "HTTP/1.1 418 No\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nteapot");
  });
  Load(server.url());
  EXPECT_EQ(RunTraced({.tracing = Tracing::kOff}).status, 418);
  EXPECT_THAT(server.last(), Not(HasSubstr("traceparent")));
  EXPECT_EQ(RunTraced({.id = "order-17"}).status, 418);
  const auto traces = Wait(1);
  ASSERT_EQ(traces.size(), 1U) << "one that is not traced is not kept";
  EXPECT_TRUE(traces[0]->failed());
  EXPECT_THAT(traces[0]->message(), HasSubstr("teapot"));
  const Value view = ViewOf(*traces[0]);
  EXPECT_EQ(view["spans"][1]["spans"][0]["message"], Value("teapot")) << json::ToText(view);
  EXPECT_THAT(server.last(), HasSubstr("X-Trace-Id: order-17\r\n"));
  EXPECT_THAT(server.last(), HasSubstr("traceparent: 00-" + WireTraceId("order-17") + "-"));
}

// What a collector got, and what it answers.
class Collector {
 public:
  explicit Collector(int status)
      : status_(status), server_([this](const std::string& request) {
          const int answered = status_;
          const size_t body = request.find("\r\n\r\n");
          if (body != std::string::npos) bodies_.Lock()->push_back(request.substr(body + 4));
          arrived_.Wake();
          return fmt::format("HTTP/1.1 {} X\r\nContent-Length: 2\r\n\r\n{{}}", answered);
        }) {}

  std::string url() const { return server_.url() + "/v1/traces"; }
  void set_status(int status) { status_ = status; }
  size_t count() const { return bodies_.Lock()->size(); }
  bool WaitForRequests(size_t wanted) {
    return WaitFor(arrived_, [&] { return count() >= wanted; });
  }
  std::string body(size_t i) const { return (*bodies_.Lock())[i]; }

 private:
  Locked<std::vector<std::string>> bodies_;
  Signal arrived_;
  std::atomic<int> status_;
  function::TestServer server_;
};

TEST(OtlpTest, TracesReachTheCollector) {
  Collector collector(200);
  const JumpingClock clock;  // the interval takes no time
  OtlpExporter exporter({.url = collector.url()}, clock);
  auto trace =
      std::make_shared<RunTrace>(RunTrace::Head{.run = "0192f0c1-1111-7222-8333-444455556666",
                                                .flow = "orders",
                                                .origin = "rest",
                                                .link = *ParseTraceParent(kParent),
                                                .wall_ns = 1'700'000'000'000'000'000,
                                                .monotonic_ns = 50},
                                 nullptr);
  trace->Note({flow::Call{.call = 2, .flow = "orders", .task = "pay", .route = "pay.it"}}, 60);
  trace->Began(2, 65);
  trace->Answered({.call = 2, .status = 500, .headers = {}, .body = Value("broken")}, 80);
  flow::RunState state;
  state.status = 500;
  state.message = "broken";
  trace->Finish(state, 150);
  exporter.Offer(trace);
  ASSERT_TRUE(collector.WaitForRequests(1));
  exporter.Stop();
  EXPECT_EQ(exporter.counts().exported, 1U);
  const auto body = json::Parse(collector.body(0));
  ASSERT_TRUE(body) << collector.body(0);
  const Value& resource = (*body)["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"][0]["value"]["stringValue"], Value("sluice"));
  const Value spans = resource["scopeSpans"][0]["spans"];
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["traceId"], Value("4bf92f3577b34da6a3ce929d0e0e4736"));
  EXPECT_EQ(spans[0]["parentSpanId"], Value("00f067aa0ba902b7"));
  EXPECT_EQ(spans[0]["name"], Value("orders"));
  EXPECT_EQ(spans[0]["startTimeUnixNano"], Value("1700000000000000000"));
  EXPECT_EQ(spans[0]["endTimeUnixNano"], Value("1700000000000000100"));
  EXPECT_EQ(spans[0]["status"]["code"], Value(2));
  EXPECT_EQ(spans[1]["name"], Value("pay"));
  EXPECT_EQ(spans[1]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_EQ(spans[1]["startTimeUnixNano"], Value("1700000000000000010"));
  EXPECT_EQ(spans[1]["endTimeUnixNano"], Value("1700000000000000030"));
  EXPECT_EQ(spans[1]["status"]["message"], Value("broken"));
}

TEST(OtlpTest, WhatTheCollectorDoesNotTakeIsCountedAndDropped) {
  Collector collector(500);
  const JumpingClock clock;  // the interval takes no time
  OtlpExporter exporter({.url = collector.url(), .max_waiting = 2, .max_batch = 1, .attempts = 1},
                        clock);
  exporter.Offer(TraceNamed("one", "a", 200, 1));
  ASSERT_TRUE(collector.WaitForRequests(1));
  collector.set_status(200);
  exporter.Offer(TraceNamed("two", "a", 200, 1));
  ASSERT_TRUE(collector.WaitForRequests(2));
  // A stop would end the request before its answer is read.
  while (exporter.counts().exported == 0) std::this_thread::yield();
  auto unsampled = std::make_shared<RunTrace>(
      RunTrace::Head{.run = "x", .flow = "a", .origin = "rest", .link = {.flags = 0}}, nullptr);
  exporter.Offer(unsampled);
  exporter.Stop();
  EXPECT_EQ(exporter.counts().dropped, 1U);
  EXPECT_EQ(exporter.counts().failures, 1U);
  EXPECT_EQ(exporter.counts().exported, 1U);
  EXPECT_EQ(collector.count(), 2U);
}

TEST(OtlpTest, AFullQueueKeepsNobodyWaiting) {
  // Nobody listens on this port: the first batch is tried for a while.
  OtlpExporter exporter(
      {.url = "http://127.0.0.1:1/v1/traces", .max_waiting = 10, .max_batch = 5, .interval_ms = 1});
  constexpr uint64_t kOffered = 100;
  for (uint64_t i = 0; i < kOffered; ++i) exporter.Offer(TraceNamed("one", "a", 200, 1));
  exporter.Stop();
  EXPECT_EQ(exporter.counts().exported, 0U);
  EXPECT_EQ(exporter.counts().dropped, kOffered);
  EXPECT_GE(exporter.counts().failures, 1U);
}

}  // namespace
}  // namespace sluice::flow_engine
