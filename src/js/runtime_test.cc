#include "js/runtime.h"

#include <atomic>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/clock.h"
#include "js/engine.h"

namespace sluice::js {
namespace {

using script::Ended;
using script::Outcome;

// Entry points `run`, which calls the program's function of that name with what it is given.
constexpr std::string_view kLibrary = R"((native, configuration) => {
  globalThis.say = (text) => native.say(text);
  globalThis.echo = (value) => native.echo(value);
  globalThis.fail = () => native.fail();
  globalThis.begun = () => native.begun();
  globalThis.pause = () => native.pause();
  globalThis.Refused = class Refused extends Error {
    constructor(message) { super(); this.message = message; }
  };
  globalThis.setting = configuration.setting;
  return { run: (...values) => globalThis.main(...values) };
})";

class RuntimeTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const Environment> Shared() {
    static const std::shared_ptr<const Environment> environment = *Environment::Make(kLibrary);
    return environment;
  }

  std::unique_ptr<Runtime> Start(std::string text, Outcome* failed, script::Limits limits = {}) {
    RuntimeOptions options;
    options.environment = Shared();
    options.program = std::make_shared<Program>(Source{"test.js", std::move(text)});
    options.configuration = R"({"setting":"on"})";
    options.limits = limits;
    options.natives = {
        {"say", [this](script::Call& call) { said_.push_back(call.String(0)); }},
        {"echo",
         [](script::Call& call) {
           if (call.kind(0) == script::Kind::kBytes) return call.ReturnBytes(call.Bytes(0));
           if (call.kind(0) == script::Kind::kNumber) return call.Return(call.Number(0) + 1);
           call.Return(call.String(0));
         }},
        {"fail", [](script::Call& call) { call.Throw("Refused", "", R"({"code":7})"); }},
    };
    options.natives.push_back({"begun", [this](script::Call&) { begun_.release(); }});
    options.natives.push_back({"pause", [this](script::Call&) { pause_(); }});
    options.stop = stop_;
    options.start_cpu_ms = start_cpu_ms_;
    return Runtime::Start(std::move(options), failed);
  }

  std::unique_ptr<Runtime> Start(std::string text, script::Limits limits = {}) {
    Outcome failed;
    auto runtime = Start(std::move(text), &failed, limits);
    EXPECT_TRUE(failed.ok()) << failed.message;
    CHECK(runtime != nullptr);
    return runtime;
  }

  static Outcome Run(Runtime& runtime, std::vector<script::Argument> arguments = {},
                     uint64_t timeout_ms = 60'000) {
    Runtime::Session session(runtime);
    return session.Call(
        "run", arguments,
        {.deadline_ns = SystemClock().MonotonicNs() + timeout_ms * 1'000'000, .want_value = true});
  }

  std::string Value(const std::string& body) {
    const auto runtime = Start("'use strict'; function main(a, b, c) {" + body + "}");
    const Outcome outcome = Run(*runtime);
    return outcome.ok() ? outcome.value : outcome.message;
  }

  std::vector<std::string> said_;
  script::StopFlag stop_;
  uint64_t start_cpu_ms_ = 0;
  std::counting_semaphore<> begun_{0};  // how often the program has called begun()
  std::function<void()> pause_;         // for pause()
};

TEST_F(RuntimeTest, CallsWithArgumentsAndAValue) {
  const auto runtime = Start("function main(a, b, c, d) { return [a.x, b, c, d.byteLength]; }");
  const std::string document = R"({"x":"häß"})";
  EXPECT_EQ(
      Run(*runtime, {script::Json{document}, 1.5, std::string_view("s"), script::Bytes{"abc"}})
          .value,
      R"(["häß",1.5,"s",3])");
  EXPECT_EQ(Value(""), "");
  EXPECT_EQ(Value("return null"), "null");
  EXPECT_EQ(Value("return setting"), R"("on")");
}

TEST_F(RuntimeTest, Natives) {
  EXPECT_EQ(Value("say('one'); say('zwölf'); return echo(4)"), "5");
  EXPECT_EQ(said_, (std::vector<std::string>{"one", "zwölf"}));
  EXPECT_EQ(Value("return new Uint8Array(echo(new Uint8Array([1, 2]).buffer))[1]"), "2");
  EXPECT_EQ(Value("try { fail() } catch (e) { return [e instanceof Refused, e.message] }"),
            R"([true,{"code":7}])");
}

TEST_F(RuntimeTest, ErrorsHaveTheirPlace) {
  Outcome failed;
  EXPECT_EQ(Start("function main() {\n  return 1 +;\n}", &failed), nullptr);
  EXPECT_EQ(failed.type, "SyntaxError");
  EXPECT_EQ(failed.place.line, 2);
  EXPECT_EQ(failed.place.column, 13);

  const auto runtime = Start(
      "function main() {\n  const f = () => {\n    throw new RangeError('x');"
      "\n  };\n  f();\n}");
  const Outcome outcome = Run(*runtime);
  EXPECT_EQ(outcome.ended, Ended::kThrew);
  EXPECT_EQ(outcome.type, "RangeError");
  EXPECT_EQ(outcome.message, "RangeError: x");
  EXPECT_EQ(outcome.place.line, 3);
  EXPECT_NE(outcome.stack.find("test.js:5"), std::string::npos) << outcome.stack;
}

TEST_F(RuntimeTest, NothingIsLeftForTheNextCall) {
  // Each tries to leave something behind; sloppy mode, where a refused write is silent.
  const std::vector<std::string> attempts = {
      "globalThis.left = (globalThis.left || 0) + 1; return globalThis.left || 1",
      "left = 5",
      "main.count = (main.count || 0) + 1; return main.count || 1",
      "Array.prototype.left = 1; return [].left",
      "Object.prototype.left = 1; return ({}).left",
      "Math.left = 1; return Math.left",
      "JSON.parse = () => 1; return JSON.parse('[2]')[0]",
      "(function* () {})().__proto__.left = 1; return (function* () {})().left",
      "Object.getPrototypeOf(async () => {}).left = 1; return (async () => {}).left",
      "/(b)/.exec('abc'); return RegExp.$1",
      "Error.stackTraceLimit = 77; return Error.stackTraceLimit",
      "say.left = 1; return say.left",
      "Refused.prototype.left = 1; return new Refused('').left",
      "main.prototype.left = 1; return main.prototype.left",
      "Object.defineProperty(globalThis, 'left', {value: 1}); return 1",
      "Symbol.left = 1; return Symbol.left",
      "this.left = 1; return typeof left",
  };
  for (const std::string& attempt : attempts) {
    const auto runtime = Start("function main() { try { " + attempt + " } catch (e) {} }");
    const Outcome first = Run(*runtime);
    const Outcome second = Run(*runtime);
    EXPECT_EQ(first.value, second.value) << attempt;
    const auto look = Run(*runtime);
    EXPECT_EQ(look.value, first.value) << attempt;
  }
  // In strict mode it throws.
  EXPECT_NE(Value("globalThis.left = 1").find("TypeError"), std::string::npos);
  EXPECT_NE(Value("Array.prototype.left = 1").find("TypeError"), std::string::npos);
}

TEST_F(RuntimeTest, OrdinaryProgramsDoNotNoticeThatBuiltInsAreFrozen) {
  EXPECT_EQ(Value("const o = {}; o.toString = () => 'mine'; return `${o}`"), R"("mine")");
  EXPECT_EQ(Value("const e = new Error('a'); e.name = 'N'; e.message = 'b'; return `${e}`"),
            R"("N: b")");
  EXPECT_EQ(Value("class A { constructor() { this.v = 1; } toString() { return 'A' + this.v; } }"
                  "class B extends A {} return `${new B()}`"),
            R"("A1")");
  EXPECT_EQ(Value("const f = function () {}; f.prototype.toString = () => 'p';"
                  "return `${new f()}`"),
            R"("p")");
  EXPECT_EQ(Value("return [3, 1, 2].sort().map(x => x * 2).join()"), R"("2,4,6")");
  EXPECT_EQ(Value("return Object.keys({a: 1, constructor: 2})"), R"(["a","constructor"])");
  EXPECT_EQ(Value("const d = JSON.parse('{\"toString\": 1}'); d.toString = 2; return d"),
            R"({"toString":2})");
}

TEST_F(RuntimeTest, TextIsNotRunAsCode) {
  EXPECT_NE(Value("return eval('1 + 1')").find("EvalError"), std::string::npos);
  EXPECT_NE(Value("return new Function('return 1')()").find("EvalError"), std::string::npos);
  EXPECT_NE(Value("return (() => {}).constructor('return 1')()").find("EvalError"),
            std::string::npos);
  for (const char* gone : {"WebAssembly", "SharedArrayBuffer", "Atomics", "WeakRef", "console",
                           "FinalizationRegistry", "setTimeout", "require", "process", "window"}) {
    EXPECT_EQ(Value(std::string("return typeof ") + gone), R"("undefined")") << gone;
  }
}

TEST_F(RuntimeTest, EndlessCallsAreEnded) {
  const std::vector<std::string> endless = {
      "while (true) {}",
      "while (true) { try { for (;;) {} } catch (e) {} finally { continue; } }",
      "/(a+)+$/.test('a'.repeat(40) + 'b')",
      "[3, 2, 1].sort(() => { for (;;) {} })",
      "const again = () => Promise.resolve().then(again); again()",
  };
  for (const std::string& body : endless) {
    const auto runtime = Start("function main(go) { if (go) {" + body + "} return 1 }");
    EXPECT_EQ(Run(*runtime, {true}, 50).ended, Ended::kTimedOut) << body;
    EXPECT_EQ(Run(*runtime, {false}).value, "1") << body;
  }
}

TEST_F(RuntimeTest, TooMuchMemoryEndsTheCallAndSpendsTheRuntime) {
  const std::vector<std::string> bombs = {
      "const all = []; for (;;) all.push({x: [1, 2, 3]})",
      "let s = 'x'; const all = []; for (;;) { all.push(s + all.length + s.repeat(1000)) }",
      "const big = new Array(3e7).fill(0).map((v, i) => ({i})); return big.length",
  };
  for (const std::string& body : bombs) {
    const auto runtime = Start("function main() {" + body + "}", {.heap_bytes = 32ull << 20});
    EXPECT_EQ(Run(*runtime).ended, Ended::kOutOfMemory) << body;
    EXPECT_TRUE(runtime->spent());
  }
  const auto runtime =
      Start("function main() { const all = []; for (;;) all.push(new ArrayBuffer(1 << 20)) }");
  const Outcome outcome = Run(*runtime);
  EXPECT_EQ(outcome.ended, Ended::kThrew);
  EXPECT_EQ(outcome.type, "RangeError");
  EXPECT_FALSE(runtime->spent());
}

TEST_F(RuntimeTest, DeepRecursionThrows) {
  const auto runtime = Start("function main() { const f = (n) => f(n + 1) + 1; return f(0) }");
  EXPECT_EQ(Run(*runtime).type, "RangeError");
  // Also on another thread, with a stack elsewhere.
  std::thread([&] { EXPECT_EQ(Run(*runtime).type, "RangeError"); }).join();
}

TEST_F(RuntimeTest, StopFromAnotherThread) {
  const auto runtime = Start("function main(go) { begun(); while (go) {} return 2 }");
  std::thread stopper([&] {
    begun_.acquire();
    runtime->Stop();
  });
  EXPECT_EQ(Run(*runtime, {true}).ended, Ended::kStopped);
  stopper.join();
  EXPECT_EQ(Run(*runtime, {false}).value, "2");
}

// While V8 makes the text of a stack it forgets that it was told to end.
TEST_F(RuntimeTest, AStackDoesNotSwallowTheEnd) {
  for (const std::string body :
       {"for (;;) new Error('x').stack.length",
        "for (;;) try { null.x } catch (e) { say(e.stack) }",
        "const f = () => { for (;;) new Error('x').stack.length }; try { f() } finally { f() }"}) {
    const auto runtime = Start("function main() { begun();" + body + "}");
    EXPECT_EQ(Run(*runtime, {}, 100).ended, Ended::kTimedOut) << body;
    begun_.acquire();
    std::thread stopper([&] {
      begun_.acquire();
      runtime->Stop();
    });
    EXPECT_EQ(Run(*runtime).ended, Ended::kStopped) << body;
    stopper.join();
  }
}

TEST_F(RuntimeTest, AFlagEndsWhatRunsAndWhatIsLoaded) {
  stop_ = std::make_shared<std::atomic<bool>>(false);
  const auto runtime = Start("function main(go) { if (go) begun(); while (go) {} return 2 }");
  EXPECT_EQ(Run(*runtime, {false}).value, "2");
  std::thread stopper([&] {
    begun_.acquire();
    *stop_ = true;
  });
  EXPECT_EQ(Run(*runtime, {true}).ended, Ended::kStopped);
  stopper.join();
  // What ends in time by itself counts.
  EXPECT_EQ(Run(*runtime, {false}).value, "2");
  Outcome failed;
  EXPECT_EQ(Start("for (;;) {}", &failed), nullptr);
  EXPECT_EQ(failed.ended, Ended::kStopped);
}

// Loading waits for nothing, so that the time that others have the processor is not its own.
TEST_F(RuntimeTest, LoadingIsBoundedByTimeOnTheProcessor) {
  start_cpu_ms_ = 300;
  // Waits for longer than a program has to load: until that time is over for another one.
  pause_ = [this] {
    std::thread([this] {
      Outcome failed;
      EXPECT_EQ(Start("for (;;) {}", &failed), nullptr);
      EXPECT_EQ(failed.ended, Ended::kTimedOut);
    }).join();
  };
  const auto runtime = Start(
      "const until = Date.now() + 1; while (Date.now() < until) {}\n"
      "pause(); function main() { return 2 }");
  EXPECT_EQ(Run(*runtime).value, "2");
}

TEST_F(RuntimeTest, AStopBetweenCallsIsForTheNextOneOrForgotten) {
  const auto runtime = Start("function main(n) { while (n-- > 0) {} return 2 }");
  runtime->Stop();
  EXPECT_EQ(Run(*runtime, {1e9}).ended, Ended::kStopped);
  EXPECT_EQ(Run(*runtime, {1.0}).value, "2");
  runtime->Stop();
  runtime->ForgetStop();
  EXPECT_EQ(Run(*runtime, {1e5}).value, "2");
}

// A race of a thread that stops calls with the ends of these calls.
TEST_F(RuntimeTest, AStopThatWasForgottenEndsNoCall) {
  const auto runtime = Start("function main(n) { while (n-- > 0) {} return 2 }");
  std::atomic<int> begun = 0;
  std::atomic<int> stopped = 0;
  constexpr int kCalls = 1000;
  std::thread stopper([&] {
    for (int i = 1; i <= kCalls; ++i) {
      while (begun != i) std::this_thread::yield();
      runtime->Stop();
      stopped = i;
    }
  });
  for (int i = 1; i <= kCalls; ++i) {
    begun = i;
    Run(*runtime, {100.0});
    while (stopped != i) std::this_thread::yield();
    runtime->ForgetStop();
    EXPECT_EQ(Run(*runtime, {1e4}).value, "2") << i;
  }
  stopper.join();
}

// V8 optimises on a thread of its own, and asks the isolate to take the code. A request that comes
// at the end of a session is for the next one, also on another thread.
TEST_F(RuntimeTest, FunctionsAreOptimisedThoughSessionsAreShort) {
  constexpr int kOptimised = 1 << 4;
  AddEngineFlags("--allow-natives-syntax");
  const auto runtime = Start(
      "function sum(n) { let sum = 0; for (let i = 0; i < n; ++i) sum += i; return sum }"
      "%PrepareFunctionForOptimization(sum);"
      "function main(step) { switch (step) {"
      "  case 1: sum(10); %OptimizeFunctionOnNextCall(sum, 'concurrent'); return sum(10);"
      "  case 2: return %WaitForBackgroundOptimization();"
      "  default: sum(10); return %GetOptimizationStatus(sum);"
      "} }");
  Run(*runtime, {1.0});
  Run(*runtime, {2.0});
  std::thread([&] { EXPECT_NE(std::stoi(Run(*runtime, {3.0}).value) & kOptimised, 0); }).join();
}

// Sessions take turns on several threads while V8 collects garbage. Objects that live on from
// session to session must stay whole, and the limit of the stack must be that of the session's
// thread.
TEST_F(RuntimeTest, IsolatesMoveBetweenThreadsWhileGarbageIsCollected) {
  constexpr size_t kRuntimes = 3;
  constexpr size_t kThreads = 4;
  constexpr size_t kSessions = 200;  // of each thread
  AddEngineFlags("--allow-natives-syntax");
  std::vector<std::unique_ptr<Runtime>> runtimes;
  for (size_t i = 0; i < kRuntimes; ++i) {
    runtimes.push_back(Start(R"(
      const kept = new Map([['calls', 0]]);
      function tree(depth) { return depth === 0 ? [] : [tree(depth - 1), 'x'.repeat(depth % 7)] }
      function endless() { return endless() + 1 }
      function check() {
        const expected = JSON.stringify(tree(20));
        for (const [key, value] of kept) {
          if (key === 'calls') continue;
          if (value.text !== 'n' + value.number || JSON.stringify(value.tree) !== expected) {
            throw new Error('damaged');
          }
        }
      }
      function main(number) {
        kept.set(number % 50, {number, tree: tree(20), text: 'n' + number});
        if (number % 8 === 0) %CollectGarbage(0);
        if (number % 40 === 0) {
          try { endless() } catch (e) { if (!(e instanceof RangeError)) throw e }
        }
        check();
        kept.set('calls', kept.get('calls') + 1);
        return kept.get('calls');
      })"));
  }
  std::atomic<size_t> number = 0;
  std::atomic<size_t> failed = 0;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < kSessions; ++i) {
        Runtime& runtime = *runtimes[(thread + i) % kRuntimes];
        if (!Run(runtime, {static_cast<double>(++number)}).ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0u);
  size_t calls = 0;
  for (const auto& runtime : runtimes) calls += std::stoul(Run(*runtime, {1.0}).value);
  EXPECT_EQ(calls, kThreads * kSessions + kRuntimes);
}

TEST_F(RuntimeTest, WhatAProgramChangesBeforeItIsSealedDoesNotKeepItFromLoading) {
  for (const char* const change :
       {"Object.prototype.get = function() {};", "delete globalThis.BigInt64Array;",
        "const Int8Array = null;", "globalThis.Float64Array = 5;"}) {
    const auto runtime = Start(std::string(change) + "function main() { return [1, 2]; }");
    EXPECT_EQ(Run(*runtime).value, "[1,2]") << change;
  }
}

TEST_F(RuntimeTest, ThePromisesOfACallThatFailedAreNotForTheNext) {
  const auto runtime = Start(
      "function main(how) { Promise.resolve().then(() => { say('then'); });"
      "  if (how === 1) throw new Error('no');"
      "  while (how === 2) {} return 'done' }");
  EXPECT_EQ(Run(*runtime, {1.0}).ended, Ended::kThrew);
  EXPECT_EQ(said_, std::vector<std::string>{"then"});
  said_.clear();
  EXPECT_EQ(Run(*runtime, {2.0}, 50).ended, Ended::kTimedOut);
  EXPECT_EQ(said_, std::vector<std::string>{});
  EXPECT_EQ(Run(*runtime, {0.0}).value, R"("done")");
  EXPECT_EQ(said_, std::vector<std::string>{"then"});
}

TEST_F(RuntimeTest, ThePromisesOfACallEndWithIt) {
  const auto runtime = Start("function main() { Promise.resolve().then(() => say('then')) }");
  EXPECT_TRUE(Run(*runtime).ok());
  EXPECT_EQ(said_, std::vector<std::string>{"then"});
}

TEST_F(RuntimeTest, StartsAgainFromTheCodeThatWasKept) {
  RuntimeOptions options;
  options.environment = Shared();
  options.program = std::make_shared<Program>(Source{"test.js", "function main() { return 9 }"});
  for (int i = 0; i < 3; ++i) {
    Outcome failed;
    RuntimeOptions copy = options;
    copy.natives = {{"say", [](script::Call&) {}}};
    const auto runtime = Runtime::Start(std::move(copy), &failed);
    ASSERT_NE(runtime, nullptr) << failed.message;
    EXPECT_EQ(Run(*runtime).value, "9");
    EXPECT_NE(options.program->code(), nullptr);
  }
}

TEST_F(RuntimeTest, LinesPutBeforeTheTextDoNotCount) {
  RuntimeOptions options;
  options.environment = Shared();
  options.program = std::make_shared<Program>(
      Source{"test.js", "'use strict';\nfunction main() { throw new Error('x') }", 0});
  Outcome failed;
  const auto runtime = Runtime::Start(std::move(options), &failed);
  ASSERT_NE(runtime, nullptr);
  EXPECT_EQ(Run(*runtime).place.line, 1);
}

}  // namespace
}  // namespace sluice::js
