// Objects with named methods that a host gives to Lua code. Defining one needs no header of Lua.
//
//   HostClass counters{.name = "counter",
//                      .methods = {{"next", [](HostObject& self, Call& call) -> Status {...}}}};
//
// Values cross the border as json::Value: integers exactly, bytes, datetimes, intervals and
// decimals as typed values of Lua, null as NULL, missing as nil, arrays and objects as tables.
// Thread: a method runs on the thread of the script, and may block; if it blocks for long, it must
// check Call::ended() now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace sluice::lua {

using json::Value;

class HostObject;
class Call;

// A call of the object itself runs the method with the name "__call".
struct Method {
  std::string name;
  // A status that is not OK is raised as an error in the script, with its message.
  std::function<Status(HostObject& self, Call& call)> run;
};

// Outlives the runtimes that have objects of it.
struct HostClass {
  std::string name;
  std::vector<Method> methods;
  std::vector<std::pair<std::string, Value>> constants;
};

class HostObject {
 public:
  explicit HostObject(const HostClass& type) : type_(type) {}
  virtual ~HostObject() = default;
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;
  const HostClass& type() const { return type_; }
  // The approximate memory that the object holds outside of Lua; it counts as memory of the run.
  virtual size_t bytes() const { return kSmallObject; }

 private:
  static constexpr size_t kSmallObject = 256;
  const HostClass& type_;
};

// An argument for another runtime: a value, an object, or a table with objects in it.
struct Passed {
  Value value;
  std::shared_ptr<HostObject> object;
  bool is_table = false;
  struct Field;
  std::vector<Field> fields;  // of a table
};
struct Passed::Field {
  Value key;
  Passed value;
};

enum class Kind : uint8_t { kNil, kValue, kTable, kFunction, kObject };

// One call of a method: its arguments without the object, and the way to answer.
class Call {
 public:
  virtual ~Call() = default;

  virtual size_t size() const = 0;
  virtual Kind kind(size_t index) const = 0;  // kNil past the end
  // Missing for nil. Error lua.argument for functions, objects, and tables that hold them, that
  // hold themselves or are nested too deeply.
  virtual Result<Value> Get(size_t index) const = 0;
  // The name of the program's own function there, if it stands outside of others; empty for
  // anything else.
  virtual std::string FunctionName(size_t index) const = 0;
  // With the types of the values: {"type": "int", "value": 5}; typed ones also have a "text", a
  // NULL has no value. Tables stay arrays and objects.
  virtual Result<Value> GetAnnotated(size_t index) const = 0;
  virtual Result<Passed> Pass(size_t index) const = 0;
  // The host object there, or null.
  virtual std::shared_ptr<HostObject> Object(size_t index) const = 0;

  // Each adds one result. Without any the call returns nothing.
  virtual void Return(Value value) = 0;
  // Returns an object whose fields can also be read by position: row[1].
  virtual void ReturnRow(Value row) = 0;
  virtual void Return(std::shared_ptr<HostObject> object) = 0;

  // True when the run was stopped or is over its time: a method that waits gives up.
  virtual bool ended() const = 0;
  // True when the run was stopped, whatever its step has taken: a method that waits for an event
  // or for the client gives up, which may take any time, and begins another step after the wait.
  virtual bool stopped() const = 0;
  // The time left for this step of the run; kNoLimit without a limit.
  static constexpr uint64_t kNoLimit = UINT64_MAX;
  virtual uint64_t RemainingMs() const = 0;
  // Begins a step, with instructions and time of its own: of methods that wait for the next event
  // or for the client.
  virtual void Renew() = 0;
  // Charges this many instructions.
  virtual void Spend(uint64_t instructions) = 0;
};

}  // namespace sluice::lua
