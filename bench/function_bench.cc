// JavaScript functions inside one process, durable, against a plain loop over V8: parse the
// document, call the handler, print what it set, and one synced RocksDB batch per 256 events. Names
// as Couchbase has them: noop, bktop (one set), bktop_get (a get and a set), n1qlop (a SELECT by
// key), timer_noop (make a timer and fire it; the loop sets two rows, gets one and calls the
// callback). Documents of 1 KB.
//
// Ours is measured over a backlog: the function is paused, documents are written, and the clock
// runs from its resumption until the last one is handled, with one worker as the loop has one
// thread.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <libplatform/libplatform.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>
#include <v8.h>

#include "base/check.h"
#include "bench/function_rig.h"
#include "js/engine.h"

namespace sluice::bench {
namespace {

constexpr size_t kEvents = 20'000;  // of one round
constexpr size_t kBatch = FunctionRig::kBatch;
constexpr int kRounds = 3;

struct Case {
  const char* name;
  const char* code;
  const char* yardstick_code;  // the same without what only the server has
  const char* goal;
};

constexpr Case kCases[] = {
    {"noop", "function OnUpdate(doc, meta) {}", "function OnUpdate(doc, meta) {}", "0.6"},
    {"bktop", "function OnUpdate(doc, meta) { dst[meta.id] = {id: doc.id, n: 1}; }",
     "function OnUpdate(doc, meta) { set(meta.id, JSON.stringify({id: doc.id, n: 1})); }", "0.6"},
    {"bktop_get",
     "function OnUpdate(doc, meta) { const old = dst[meta.id];"
     "  dst[meta.id] = {id: doc.id, n: old === undefined ? 1 : old.n + 1}; }",
     "function OnUpdate(doc, meta) { const text = get(meta.id);"
     "  const old = text === undefined ? undefined : JSON.parse(text);"
     "  set(meta.id, JSON.stringify({id: doc.id, n: old === undefined ? 1 : old.n + 1})); }",
     ""},
    {"n1qlop",
     "function OnUpdate(doc, meta) { const key = meta.id;"
     "  const rows = SELECT RAW s.id FROM src s USE KEYS $key;"
     "  for (const id of rows) { if (id !== doc.id) throw new Error('id'); } }",
     "", ""},
    {"timer_noop",
     "function OnUpdate(doc, meta) { createTimer(Fire, new Date(0), meta.id, {id: meta.id}); }"
     "function Fire(context) {}",
     "function OnUpdate(doc, meta) { const context = JSON.stringify({id: meta.id});"
     "  set('due' + meta.id, context); set('name' + meta.id, 'due' + meta.id);"
     "  Fire(JSON.parse(get(meta.id) ?? context)); }"
     "function Fire(context) {}",
     ""},
};

// --- the yardstick ---

class Loop {
 public:
  Loop(const std::string& path, const char* code) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kLZ4Compression;
    rocksdb::DB* db = nullptr;
    CHECK(rocksdb::DB::Open(options, path, &db).ok());
    db_.reset(db);
    js::StartEngine();
    allocator_.reset(v8::ArrayBuffer::Allocator::NewDefaultAllocator());
    v8::Isolate::CreateParams parameters;
    parameters.array_buffer_allocator = allocator_.get();
    isolate_ = v8::Isolate::New(parameters);
    const v8::Isolate::Scope scope(isolate_);
    const v8::HandleScope handles(isolate_);
    const v8::Local<v8::ObjectTemplate> global = v8::ObjectTemplate::New(isolate_);
    const auto data = v8::External::New(isolate_, this);
    global->Set(isolate_, "set", v8::FunctionTemplate::New(isolate_, Set, data));
    global->Set(isolate_, "get", v8::FunctionTemplate::New(isolate_, Get, data));
    const v8::Local<v8::Context> context = v8::Context::New(isolate_, nullptr, global);
    context_.Reset(isolate_, context);
    const v8::Context::Scope inside(context);
    v8::Script::Compile(context, Text(code)).ToLocalChecked()->Run(context).ToLocalChecked();
    handler_.Reset(
        isolate_,
        context->Global()->Get(context, Text("OnUpdate")).ToLocalChecked().As<v8::Function>());
  }
  ~Loop() {
    {
      const v8::Isolate::Scope scope(isolate_);
      handler_.Reset();
      context_.Reset();
    }
    isolate_->Dispose();
  }

  size_t Run(const std::vector<std::string>& bodies) {
    const v8::Isolate::Scope scope(isolate_);
    rocksdb::WriteOptions durable;
    durable.sync = true;
    for (size_t i = 0; i < bodies.size(); ++i) {
      One(i, bodies[i]);
      if ((i + 1) % kBatch != 0 && i + 1 != bodies.size()) continue;
      batch_.Put("cursor", std::to_string(i));
      CHECK(db_->Write(durable, &batch_).ok());
      batch_.Clear();
    }
    return bodies.size();
  }

 private:
  v8::Local<v8::String> Text(const std::string& text) {
    return v8::String::NewFromUtf8(isolate_, text.data(), v8::NewStringType::kNormal,
                                   static_cast<int>(text.size()))
        .ToLocalChecked();
  }
  void One(size_t n, const std::string& body) {
    const v8::HandleScope handles(isolate_);
    const v8::Local<v8::Context> context = context_.Get(isolate_);
    const v8::Context::Scope inside(context);
    const v8::Local<v8::Object> meta = v8::Object::New(isolate_);
    meta->Set(context, Text("id"), Text(Key(n))).Check();
    meta->Set(context, Text("cas"), Text(std::to_string(n))).Check();
    v8::Local<v8::Value> arguments[] = {v8::JSON::Parse(context, Text(body)).ToLocalChecked(),
                                        meta};
    CHECK(!handler_.Get(isolate_)->Call(context, v8::Undefined(isolate_), 2, arguments).IsEmpty());
  }
  static void Set(const v8::FunctionCallbackInfo<v8::Value>& info) {
    auto* self = static_cast<Loop*>(info.Data().As<v8::External>()->Value());
    const v8::String::Utf8Value key(info.GetIsolate(), info[0]);
    const v8::String::Utf8Value value(info.GetIsolate(), info[1]);
    self->batch_.Put(*key, *value);
  }
  static void Get(const v8::FunctionCallbackInfo<v8::Value>& info) {
    auto* self = static_cast<Loop*>(info.Data().As<v8::External>()->Value());
    const v8::String::Utf8Value key(info.GetIsolate(), info[0]);
    std::string value;
    if (self->db_->Get({}, *key, &value).ok()) info.GetReturnValue().Set(self->Text(value));
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
  std::unique_ptr<v8::ArrayBuffer::Allocator> allocator_;
  v8::Isolate* isolate_ = nullptr;
  v8::Global<v8::Context> context_;
  v8::Global<v8::Function> handler_;
};

void Bench(const std::string& directory, const Case& which) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  const std::vector<std::string> bodies = Bodies(kEvents);
  {
    FunctionRig ours(directory + "/ours");
    ours.makes_timers = std::string_view(which.code).find("createTimer") != std::string_view::npos;
    ours.Deploy(which.code);
    const bool compared = which.yardstick_code[0] != '\0';
    std::unique_ptr<Loop> loop;
    if (compared) loop = std::make_unique<Loop>(directory + "/loop", which.yardstick_code);
    std::vector<double> our_rates;
    std::vector<double> loop_rates;
    std::vector<double> ratios;
    for (int round = 0; round <= kRounds; ++round) {
      double loop_rate = 0;
      if (compared) {
        const double began = Seconds();
        loop->Run(bodies);
        loop_rate = kEvents / (Seconds() - began);
      }
      const double our_rate = ours.BacklogRate(bodies);
      if (round == 0) continue;  // what is measured is the steady state
      our_rates.push_back(our_rate);
      loop_rates.push_back(loop_rate);
      ratios.push_back(compared ? our_rate / loop_rate : 0);
    }
    const std::string name = std::string("function, ") + which.name;
    if (compared) {
      Report(name, {Median(our_rates), Median(loop_rates), Median(ratios)}, "events/s",
             "V8 loop and a RocksDB batch per 256", which.goal);
    } else {
      ReportValue(name, Median(our_rates), "events/s");
    }
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace sluice::bench

int main() {
  const std::string directory =
      (std::filesystem::current_path() / "build" / "bench-functions").string();
  for (const auto& which : sluice::bench::kCases) sluice::bench::Bench(directory, which);
  return 0;
}
