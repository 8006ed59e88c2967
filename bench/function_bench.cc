// JavaScript functions inside one process, durable, against a plain loop over V8: parse the
// document, call the handler, print what it set, and one synced RocksDB batch per 256 events. Names
// as Couchbase has them: noop, bktop (one set), bktop_get (a get and a set), n1qlop (a SELECT by
// key). Documents of 1 KB.
//
// Ours is measured over a backlog: the function is paused, documents are written, and the clock
// runs from its resumption until the last one is handled, with one worker as the loop has one
// thread.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <libplatform/libplatform.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>
#include <v8.h>

#include "base/check.h"
#include "base/clock.h"
#include "bench/measure.h"
#include "db/database.h"
#include "function/manager.h"
#include "js/engine.h"
#include "query/engine.h"

namespace sluice::bench {
namespace {

constexpr size_t kEvents = 20'000;  // of one round
constexpr size_t kBatch = 256;
constexpr int kRounds = 3;

std::string Key(size_t n) { return "user::" + std::to_string(n); }

std::string Body(size_t n) {
  std::string body = R"({"type":"user","id":)" + std::to_string(n) + R"(,"items":[)";
  for (size_t i = 0; i < 8; ++i) {
    body += (i > 0 ? "," : "") + (R"({"name":"item )" + std::to_string(i * n)) +
            R"(","price":12.5,"tags":["river","gate"]})";
  }
  body += R"(],"text":")";
  while (body.size() < 1000) body += "lock gate ";
  return body + "\"}";
}

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

// --- ours ---

class Ours {
 public:
  Ours(const std::string& path, const char* code) {
    auto opened = db::Database::Open(path, {}, clock_);
    CHECK(opened.has_value());
    database_ = std::move(*opened);
    engine_ = std::make_unique<query::QueryEngine>(*database_, query::EngineOptions{});
    manager_ =
        std::make_unique<function::Manager>(function::Services{*database_, *engine_, clock_});
    CHECK(manager_->Start().ok());
    for (const char* bucket : {"src", "dst", "meta"}) CHECK(database_->CreateBucket(bucket).ok());
    function::Definition definition;
    definition.name = "bench";
    definition.code = code;
    definition.source = {.bucket = "src"};
    definition.metadata = {.bucket = "meta"};
    definition.buckets = {{"dst", {.bucket = "dst"}, true}};
    CHECK(manager_->Store(definition).ok());
    CHECK(manager_->Deploy("bench").ok());
  }

  // Seconds from resuming until everything is handled.
  double Run(const std::vector<std::string>& bodies) {
    Settle();
    CHECK(manager_->Pause("bench").ok());
    Write(bodies);
    const double began = Seconds();
    CHECK(manager_->Resume("bench").ok());
    Settle();
    return Seconds() - began;
  }

 private:
  void Write(const std::vector<std::string>& bodies) {
    const db::KeyspaceId keyspace = *database_->Resolve({.bucket = "src"});
    for (size_t n = 0; n < bodies.size();) {
      db::Commit commit;
      for (const size_t end = std::min(n + kBatch, bodies.size()); n < end; ++n) {
        commit.writes.push_back(db::PutWrite(keyspace, Key(n), db::Document{.body = bodies[n]}));
      }
      CHECK(database_->Apply(std::move(commit)).status.ok());
    }
  }
  void Settle() {
    while (!manager_->StatusOf("bench")->caught_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  SystemClock clock_;
  std::unique_ptr<db::Database> database_;
  std::unique_ptr<query::QueryEngine> engine_;
  std::unique_ptr<function::Manager> manager_;
};

void Bench(const std::string& directory, const Case& which) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  std::vector<std::string> bodies;
  for (size_t n = 0; n < kEvents; ++n) bodies.push_back(Body(n));
  {
    Ours ours(directory + "/ours", which.code);
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
      const double our_rate = kEvents / ours.Run(bodies);
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
      std::printf(
          "{\"name\": \"%s\", \"value\": %.0f, \"unit\": \"events/s\", \"yardstick\": null, "
          "\"ratio\": null, \"goal\": null}\n",
          name.c_str(), Median(our_rates));
      std::fflush(stdout);
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
