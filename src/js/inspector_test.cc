#include "js/inspector.h"

#include <deque>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mutex.h"
#include "js/runtime.h"

namespace sluice::js {
namespace {

using script::Ended;
using testing::HasSubstr;

constexpr std::string_view kLibrary =
    "(native, configuration) => ({ run: (value) => globalThis.main(value) })";

// A runtime on a thread of its own, as a worker has it, and a client that speaks to it.
class InspectorTest : public testing::Test {
 protected:
  ~InspectorTest() override { End(); }

  void Start(const std::string& text) {
    thread_ = std::thread([this, text] { Run(text); });
  }
  void Connect() {
    client_ = inspector_->Connect({.send = [this](std::string message) { Add(std::move(message)); },
                                   .let_go = [this] { let_go_ = true; }});
    ASSERT_NE(client_, 0u);
  }
  void Begin() {
    Connect();
    Ask("Runtime.enable");
    Ask("Debugger.enable");
    Ask("Runtime.runIfWaitingForDebugger");
  }
  // Sends a command and gives its answer.
  std::string Ask(const std::string& method, const std::string& parameters = "{}") {
    const std::string id = std::to_string(++id_);
    EXPECT_TRUE(inspector_->Receive(client_, R"({"id":)" + id + R"(,"method":")" + method +
                                                 R"(","params":)" + parameters + "}"));
    return Await(R"({"id":)" + id + ",");
  }
  // The next message that begins so; others before it are dropped.
  std::string Await(const std::string& begin) {
    MutexLock lock(mutex_);
    while (true) {
      if (!wake_.WaitFor(lock, std::chrono::seconds(20),
                         [this]() REQUIRES(mutex_) { return !messages_.empty(); })) {
        ADD_FAILURE() << "no message " << begin;
        return "";
      }
      std::string message = std::move(messages_.front());
      messages_.pop_front();
      if (message.starts_with(begin)) return message;
    }
  }
  std::string Paused() { return Await(R"({"method":"Debugger.paused")"); }
  static std::string FrameOf(const std::string& paused) {
    const size_t at = paused.find(R"("callFrameId":")") + 15;
    return paused.substr(at, paused.find('"', at) - at);
  }
  std::string Evaluate(const std::string& paused, const std::string& text) {
    return Ask("Debugger.evaluateOnCallFrame",
               R"({"callFrameId":")" + FrameOf(paused) + R"(","expression":")" + text + R"("})");
  }
  script::Outcome Outcome() {
    MutexLock lock(mutex_);
    EXPECT_TRUE(wake_.WaitFor(lock, std::chrono::seconds(20),
                              [this]() REQUIRES(mutex_) { return !outcomes_.empty(); }));
    script::Outcome outcome = outcomes_.empty() ? script::Outcome{} : outcomes_.front();
    if (!outcomes_.empty()) outcomes_.pop_front();
    return outcome;
  }
  void End() {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
    }
    inspector_->Close();
    if (thread_.joinable()) thread_.join();
  }

  const std::shared_ptr<Inspector> inspector_ = std::make_shared<Inspector>("function:///");
  uint64_t client_ = 0;
  std::atomic<bool> let_go_ = false;

 private:
  void Add(std::string message) {
    const MutexLock lock(mutex_);
    messages_.push_back(std::move(message));
    wake_.NotifyAll();
  }

  bool ending() {
    const MutexLock lock(mutex_);
    return ending_;
  }

  // Whenever a client is ready, a call.
  void Run(const std::string& text) {
    RuntimeOptions options;
    options.environment = *Environment::Make(kLibrary);
    options.program = std::make_shared<Program>(
        Source{.name = "test.js", .text = "'use strict';" + text, .preamble = "const limit = 7;"});
    options.inspector = inspector_;
    script::Outcome failed;
    const auto runtime = Runtime::Start(std::move(options), &failed);
    ASSERT_TRUE(failed.ok()) << failed.message;
    while (!ending()) {
      Runtime::Session session(*runtime);
      session.Serve([this] { return ending() || inspector_->state().ready; });
      if (ending()) return;
      const script::Argument argument = 5.0;
      script::Outcome outcome = session.Call("run", {&argument, 1}, {.want_value = true});
      const MutexLock lock(mutex_);
      outcomes_.push_back(std::move(outcome));
      wake_.NotifyAll();
    }
  }

  Mutex mutex_;
  CondVar wake_;
  std::deque<std::string> messages_ GUARDED_BY(mutex_);
  std::deque<script::Outcome> outcomes_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  int id_ = 1000;
  std::thread thread_;
};

constexpr char kProgram[] =
    "function main(value) {\n"
    "  const twice = value * 2;\n"
    "  return twice + limit;\n"
    "}\n";

TEST_F(InspectorTest, PausesAtTheFirstStatementStepsAndEvaluates) {
  Start(kProgram);
  Connect();
  inspector_->Receive(client_, R"({"id":1,"method":"Debugger.enable"})");
  EXPECT_THAT(Await(R"({"method":"Debugger.scriptParsed")"),
              HasSubstr("function:///test.js.headers.js"));
  EXPECT_THAT(Await(R"({"method":"Debugger.scriptParsed")"), HasSubstr("function:///test.js\""));
  Ask("Runtime.runIfWaitingForDebugger");
  std::string paused = Paused();
  EXPECT_THAT(paused, HasSubstr(R"("functionName":"main")"));
  EXPECT_THAT(paused, HasSubstr(R"("lineNumber":1)"));
  Ask("Debugger.stepOver");
  paused = Paused();
  EXPECT_THAT(paused, HasSubstr(R"("lineNumber":2)"));
  EXPECT_THAT(Evaluate(paused, "twice + limit"), HasSubstr(R"("value":17)"));
  Ask("Debugger.resume");
  EXPECT_EQ(Outcome().value, "17");
  Paused();  // the next call
}

TEST_F(InspectorTest, ABreakpointAndTextThatIsNotAscii) {
  Start("function main(value) {\n  let text = 'a';\n  text += '\\u00e4';\n  return text;\n}\n");
  Begin();
  Paused();
  EXPECT_THAT(Ask("Debugger.setBreakpointByUrl", R"({"lineNumber":3,"url":"function:///test.js"})"),
              HasSubstr("breakpointId"));
  Ask("Debugger.resume");
  const std::string paused = Paused();
  EXPECT_THAT(paused, HasSubstr("hitBreakpoints"));
  EXPECT_THAT(Evaluate(paused, "text === 'a\xc3\xa4'"), HasSubstr(R"("value":true)"));
  Ask("Debugger.resume");
  EXPECT_EQ(Outcome().value, "\"a\xc3\xa4\"");
}

TEST_F(InspectorTest, AClientThatLeavesEndsThePausedCallAndAnotherMayCome) {
  Start(kProgram);
  Begin();
  Paused();
  EXPECT_EQ(inspector_->Connect({}), 0u) << "one at a time";
  inspector_->Disconnect(client_);
  EXPECT_EQ(Outcome().ended, Ended::kStopped);
  EXPECT_FALSE(inspector_->Receive(client_, "{}"));
  Begin();
  Paused();
  Ask("Debugger.resume");
  EXPECT_EQ(Outcome().value, "17");
}

TEST_F(InspectorTest, AnEndlessLoopIsPausedByTheClientAndEndedByClose) {
  Start("function main(value) {\n  let n = 0;\n  while (true) n += 1;\n}\n");
  Begin();
  Paused();
  Ask("Debugger.resume");
  Ask("Debugger.pause");
  const std::string paused = Paused();
  EXPECT_THAT(Evaluate(paused, "value === 5"), HasSubstr(R"("value":true)"));
  Ask("Debugger.resume");
  inspector_->Close();
  EXPECT_EQ(Outcome().ended, Ended::kStopped);
  EXPECT_TRUE(let_go_);
  EXPECT_EQ(inspector_->Connect({}), 0u);
}

TEST_F(InspectorTest, AnEndlessEvaluationIsEndedByLeaving) {
  Start(kProgram);
  Connect();
  inspector_->Receive(
      client_, R"({"id":1,"method":"Runtime.evaluate","params":{"expression":"while (true) {}"}})");
  inspector_->Disconnect(client_);
  Begin();
  Paused();
  inspector_->Receive(
      client_, R"({"id":2,"method":"Runtime.evaluate","params":{"expression":"while (true) {}"}})");
  inspector_->Disconnect(client_);
  EXPECT_EQ(Outcome().ended, Ended::kStopped);
}

TEST_F(InspectorTest, AClientThatTerminatesTheCallDoesNotMakeItReturn) {
  Start(kProgram);
  Begin();
  Paused();
  inspector_->Receive(client_, R"({"id":98,"method":"Runtime.terminateExecution"})");
  inspector_->Receive(client_, R"({"id":99,"method":"Debugger.resume"})");
  EXPECT_EQ(Outcome().ended, Ended::kStopped);
}

TEST_F(InspectorTest, GarbageIsAnswered) {
  Start(kProgram);
  Connect();
  for (const std::string& message :
       {std::string("no json"), std::string(), std::string("{}"), std::string("[1,2]"),
        std::string("{\"id\":1}"), std::string("{\"id\":\"x\",\"method\":7}"),
        std::string("\xff\xfe\x00", 3), std::string(100'000, '['), std::string("\xd8\x5a\x00", 3),
        std::string(
            R"({"id":3,"method":"Debugger.setBreakpointByUrl","params":{"lineNumber":-5}})"),
        std::string(R"({"id":4,"method":"No.such"})")}) {
    EXPECT_TRUE(inspector_->Receive(client_, message));
  }
  EXPECT_THAT(Ask("Runtime.evaluate", R"({"expression":"6*7"})"), HasSubstr(R"("value":42)"));
  EXPECT_THAT(Ask("Runtime.evaluate", R"js({"expression":"eval('1')"})js"), HasSubstr("result"));
}

TEST_F(InspectorTest, WhatWaitsIsBounded) {
  Connect();  // nobody serves
  const std::string message(1 << 20, ' ');
  int taken = 0;
  while (taken < 1000 && inspector_->Receive(client_, message)) ++taken;
  EXPECT_EQ(taken, 16);
}

}  // namespace
}  // namespace sluice::js
