// Streams as functions read them, and what is left of them after a restart.
#include "flow_engine/stream.h"

#include <filesystem>
#include <fstream>

#include "flow_engine/test_host.h"

namespace sluice::flow_engine {
namespace {

using json::Value;
using testing::HasSubstr;

class StreamTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    streams_ = std::make_shared<StreamScope>();
  }
  // Its id.
  std::string Add(const std::string& bytes) {
    const auto path = directory_ / fmt::format("stream{}.bin", ++files_);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto file = DiskFile::Open(path);
    EXPECT_TRUE(file) << file.error().ToString();
    return *streams_->Add(std::make_shared<Stream>(*file));
  }
  std::string Call(const std::string& route, Value body) {
    std::promise<Reply> done;
    host_->engine().Call(host_->app(), route, Value::EmptyObject(), std::move(body), 60'000,
                         [&](Reply reply) { done.set_value(std::move(reply)); },
                         {.trace = {}, .streams = streams_});
    const Reply reply = done.get_future().get();
    return fmt::format("{} {}", reply.status, json::ToText(reply.body));
  }

  std::shared_ptr<StreamScope> streams_;
  int files_ = 0;
};

constexpr std::string_view kSumJs = R"(function handleEvent(headers, input) {
  let sum = 0;
  let pieces = 0;
  for (let at = 0, more = true; more; ) {
    const piece = readStream(input.stream, at, input.size);
    for (const byte of new Uint8Array(piece.data)) sum += byte;
    pieces += 1;
    at = piece.next;
    more = piece.more;
    if (piece.total !== input.total) throw new Error('total ' + piece.total);
  }
  return { sum, pieces };
}
)";
constexpr std::string_view kSumLua = R"(local function main(headers, input)
  local sum, pieces, at = 0, 0, 0
  while true do
    local piece = db:read_stream(input.stream, at, input.size)
    for i = 1, #piece.data do sum = sum + piece.data:byte(i) end
    pieces = pieces + 1
    at = piece.next
    if not piece.more then break end
  end
  return {sum = sum, pieces = pieces}
end
)";
constexpr std::string_view kTextJs = R"(function handleEvent(headers, input) {
  const parts = [];
  for (let at = 0, more = true; more; ) {
    const piece = readStreamText(input.stream, at, input.size);
    parts.push(piece.data);
    at = piece.next;
    more = piece.more;
  }
  return parts;
}
)";

TEST_F(StreamTest, FunctionsReadStreamsByPieces) {
  ASSERT_EQ(Apply({{"tasks/sum.js.js", std::string(kSumJs)},
                   {"tasks/sum.lua.lua", std::string(kSumLua)},
                   {"tasks/text.js.js", std::string(kTextJs)}}),
            "");
  // All bytes, also those that are no text.
  std::string bytes;
  uint64_t sum = 0;
  for (int i = 0; i < 1000; ++i) {
    bytes += static_cast<char>(i % 256);
    sum += static_cast<uint64_t>(i % 256);
  }
  const std::string id = Add(bytes);
  const Value input = Value::Object({{"stream", id}, {"size", 300}, {"total", 1000}});
  EXPECT_EQ(Call("sum.js", input), fmt::format(R"(200 {{"sum":{},"pieces":4}})", sum));
  EXPECT_EQ(Call("sum.lua", input), fmt::format(R"(200 {{"pieces":4,"sum":{}}})", sum));
  // A file that was cut meanwhile is an error, not an end.
  std::filesystem::resize_file(directory_ / "stream1.bin", 500);
  EXPECT_THAT(Call("sum.js", input), HasSubstr("has become shorter"));
  std::ofstream(directory_ / "stream1.bin", std::ios::binary) << bytes;
  // Characters are not cut.
  const std::string text = Add("aäöü€😀z");
  EXPECT_EQ(Call("text.js", Value::Object({{"stream", text}, {"size", 4}})),
            R"(200 ["aä","öü","€","😀","z"])");
  EXPECT_THAT(Call("text.js", Value::Object({{"stream", id}, {"size", 400}})),
              HasSubstr("not UTF-8 text"));
}

TEST_F(StreamTest, WhatCantBeReadIsTold) {
  ASSERT_EQ(Apply({{"tasks/read.js.js",
                    "function handleEvent(headers, input) { return readStream(input.stream, "
                    "input.offset, input.size).total; }"},
                   {"tasks/text.js.js",
                    "function handleEvent(headers, input) { return readStreamText(input.stream, 0, "
                    "3); }"},
                   {"tasks/read.lua.lua",
                    "local function main(headers, input) return db:read_stream(input.stream, "
                    "input.offset, input.size).total end"}}),
            "");
  const std::string id = Add("abc");
  for (const char* route : {"read.js", "read.lua"}) {
    EXPECT_EQ(Call(route, Value::Object({{"stream", id}})), "200 3");
    EXPECT_EQ(Call(route, Value::Object({{"stream", id}, {"offset", 100}})), "200 3");
    EXPECT_THAT(Call(route, Value::Object({{"stream", "other"}})),
                HasSubstr("this run has no stream 'other' (flow.no_stream)"));
    EXPECT_THAT(Call(route, Value::Object({{"stream", id}, {"size", (1 << 20) + 1}})),
                HasSubstr("from 1 to 1048576 bytes"));
    EXPECT_THAT(Call(route, Value::Object({{"stream", id}, {"offset", -1}})),
                HasSubstr("not negative"));
    EXPECT_THAT(Call(route, Value::Object({{"stream", 7}})), HasSubstr("expected a str"));
  }
  EXPECT_THAT(Call("text.js", Value::Object({{"stream", id}})), HasSubstr("at least 4"));
}

// A stream in the model of a durable run is gone after a restart, and its id means no other one.
TEST_F(StreamTest, ADurableRunIsToldThatItsStreamIsGone) {
  constexpr std::string_view kFlow = R"(
flow: {id: wait, description: d, ttl: 1h, durable: true}
first.task: begin
tasks:
  - name: begin
    process: no.op
    input: ['input.stream -> model.stream']
    output: []
    description: d
    execution: sequential
    next: [read]
  - name: read
    process: stream.read
    input: ['model.stream -> stream']
    output: []
    description: d
    execution: end
    delay: 3s
)";
  host_clock_ = &clock_;
  host_.reset();
  Begin();
  const std::string id = Add("abc");
  ASSERT_EQ(Apply({{"flows.yaml", "flows: ['wait.yml']"}, {"flows/wait.yml", std::string(kFlow)}}),
            "");
  flow::Start start;
  start.flow = "wait";
  start.input = Value::Object({{"stream", id}});
  host_->engine().Start(host_->app(), std::move(start), [](const Reply&) {}, "rest", 0,
                        {.trace = {}, .streams = streams_});
  WaitUntil([&] { return host_->runs().List({})->runs.size() == 1; });
  host_.reset();
  clock_.AdvanceMs(3000);
  Begin();
  WaitUntil([&] { return host_->runs().List({})->runs[0].ended_ms != 0; });
  const RunHead run = host_->runs().List({})->runs[0];
  EXPECT_EQ(run.status, 404);
  EXPECT_EQ(run.message, "this run has no stream '" + id +
                             "' (flow.no_stream): a stream ends with its run, and is not kept when "
                             "the server restarts");
  // The next stream has another id.
  EXPECT_NE(Add("abc"), id);
}

}  // namespace
}  // namespace sluice::flow_engine
