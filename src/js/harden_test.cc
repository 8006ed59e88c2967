// Nothing that a program reaches can be changed by it: not by walking from the global object, and
// not by calling what it finds there and looking at what comes back.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "js/runtime.h"

namespace sluice::js {
namespace {

// Returns the names of what is not frozen. What a call returns is its own and may be changed; what
// it inherits from may not.
constexpr const char* kWalk = R"(function main() {
  'use strict';
  const seen = new Set([globalThis]);
  const open = new Set();
  const isObject = (value) => (typeof value === 'object' && value !== null)
    || typeof value === 'function';
  const constructors = [];
  function walk(root, name) {
    const pending = [[root, name]];
    while (pending.length > 0) {
      const [value, path] = pending.pop();
      if (!isObject(value) || seen.has(value)) continue;
      seen.add(value);
      if (!Object.isFrozen(value) && !ArrayBuffer.isView(value)) open.add(path);
      if (typeof value === 'function') constructors.push([value, path]);
      pending.push([Object.getPrototypeOf(value), path + '.__proto__']);
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Object.getOwnPropertyDescriptor(value, key);
        const inner = path + '.' + String(key);
        pending.push([descriptor.value, inner], [descriptor.get, inner], [descriptor.set, inner]);
      }
    }
  }
  for (const key of Reflect.ownKeys(globalThis)) walk(globalThis[key], String(key));
  walk(Object.getPrototypeOf(globalThis), 'globalThis.__proto__');

  const given = [[], ['a'], [1], ['en'], [[1]], [(value) => value], ['a', 'b'], [{ type: 'language' }],
    ['en', { type: 'language' }], [{ next: () => ({ done: true }) }], [/a/g], [new Date(0)]];
  // Prototypes that were looked at; what is ours may be changed.
  const kinds = new Set(given.flat());
  const samples = [];
  function look(value, path, depth) {
    if (!isObject(value) || seen.has(value)) return;
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null || kinds.has(prototype)) return;
    kinds.add(prototype);
    walk(prototype, path + '.__proto__');
    if (depth < 4) samples.push([value, path, depth]);
  }
  const attempt = (make, path, depth) => {
    for (const values of given) {
      try { look(make(values), path, depth); } catch (error) { look(error, path, depth); }
    }
  };
  for (const [make, path] of [...constructors]) {
    if (make === main) continue;
    attempt((values) => Reflect.construct(make, values), `new ${path}`, 0);
    attempt((values) => make(...values), `${path}()`, 0);
  }
  for (const made of [function* () {}, async () => {}, async function* () {}, [], '', 1n, /a/,
    function () { return arguments; }(1), new Proxy({}, {}), class {}, () => {},
    (async () => {})(), Object(Symbol()), [].values(), new Map().keys()]) {
    if (typeof made === 'function') kinds.add(made.prototype);
    look(Object(made), typeof made, 0);
  }
  while (samples.length > 0) {
    const [value, path, depth] = samples.pop();
    for (let from = value; from !== null; from = Object.getPrototypeOf(from)) {
      for (const key of Reflect.ownKeys(from)) {
        let method;
        try { method = value[key]; } catch { continue; }
        const inner = `${path}.${String(key)}`;
        look(method, inner, depth + 1);
        if (method === main || typeof method !== 'function') continue;
        attempt((v) => method.apply(value, v), `${inner}()`,
          depth + 1);
      }
    }
  }
  return [[...open].sort(), kinds.size > 60];
})";

TEST(HardenTest, NothingThatIsReachedCanBeChanged) {
  RuntimeOptions options;
  options.environment = *Environment::Make("() => ({ run: () => globalThis.main() })");
  options.program = std::make_shared<Program>(Source{"test.js", kWalk});
  script::Outcome failed;
  const auto runtime = Runtime::Start(std::move(options), &failed);
  ASSERT_NE(runtime, nullptr) << failed.message;
  Runtime::Session session(*runtime);
  const script::Outcome outcome = session.Call("run", {}, {.want_value = true});
  EXPECT_TRUE(outcome.ok()) << outcome.message << outcome.stack;
  EXPECT_EQ(outcome.value, "[[],true]");
}

}  // namespace
}  // namespace sluice::js
