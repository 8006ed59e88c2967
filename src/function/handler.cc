#include "function/handler.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/check.h"
#include "function/code_error.h"
#include "function/curl/http_client.h"
#include "function/document_cache.h"
#include "function/library.h"
#include "json/crc64.h"
#include "json/print.h"

namespace sluice::function {
namespace {

// For loading a function.
constexpr uint64_t kLoadCpuMs = 30'000;

constexpr size_t kMaxLoggedBytes = 1 << 20;  // of one invocation
constexpr size_t kMaxLogLineBytes = 64 << 10;
constexpr uint32_t kDebuggedTimeoutS = 24 * 3600;

// Each file of the library is a function. It takes the natives, the configuration and an object
// that all files share, and returns entry points.
std::shared_ptr<const js::Environment> SharedEnvironment() {
  static const std::shared_ptr<const js::Environment> environment = [] {
    std::string text = "(() => { const parts = [";
    for (const std::string_view part :
         {kClockJs, kErrorsJs, kBucketsJs, kSubdocJs, kBuiltinsJs, kQueriesJs, kTimersJs, kFlowsJs,
          kCurlJs, kTasksJs, kEntriesJs}) {
      text.append(part).append(",");
    }
    text +=
        "]; return (native, configuration) => { const entries = {}; const shared = {};"
        "for (const part of parts) Object.assign(entries, part(native, configuration, shared));"
        "return entries; }; })()";
    auto made = js::Environment::Make(text);
    CHECK(made.has_value());
    return *made;
  }();
  return environment;
}

std::string TextOrBytes(script::Call& call, size_t index) {
  const bool bytes = call.kind(index) == script::Kind::kBytes;
  return bytes ? std::string(call.Bytes(index)) : call.String(index);
}

// To text, or to bytes if the second argument says so.
void DecodeBase64(script::Call& call) {
  const Result<std::string> decoded = FromBase64(call.String(0));
  if (!decoded) return call.Throw("EventingError", decoded.error().message());
  if (call.Boolean(1)) return call.ReturnBytes(*decoded);
  call.Return(*decoded);
}

}  // namespace

Result<Prepared> Prepare(const Definition& definition) {
  auto prepared = PrepareOrTellAll(definition);
  if (!prepared) return Unexpected(CodeError(definition, prepared.error()));
  return std::move(*prepared);
}

std::expected<Prepared, std::vector<Status>> PrepareOrTellAll(const Definition& definition) {
  PrepareOptions options;
  options.headers = definition.settings.handler_headers;
  options.footers = definition.settings.handler_footers;
  options.constants = definition.constants;
  options.kind = definition.kind;
  for (const BucketBinding& binding : definition.buckets) options.bindings.insert(binding.alias);
  for (const UrlBinding& binding : definition.urls) options.bindings.insert(binding.alias);
  auto source = Prepare(definition.code, options);
  if (!source) return std::unexpected(std::move(source.error()));
  auto kept = std::make_shared<const PreparedSource>(std::move(*source));
  js::Source text{definition.name + ".js", kept->text, kept->first_line};
  return Prepared{std::make_shared<const js::Program>(std::move(text)), std::move(kept)};
}

Handler::Handler(const Services& services, std::shared_ptr<const Definition> definition,
                 LogLine log, script::StopFlag stop)
    : services_(services),
      definition_(std::move(definition)),
      log_(std::move(log)),
      stop_(stop != nullptr ? std::move(stop) : std::make_shared<std::atomic<bool>>(false)) {}
Handler::~Handler() = default;

std::unique_ptr<Handler> Handler::Make(const Services& services,
                                       std::shared_ptr<const Definition> definition,
                                       std::shared_ptr<const js::Program> program, LogLine log,
                                       script::Outcome* failed,
                                       std::shared_ptr<js::Inspector> inspector,
                                       script::StopFlag stop) {
  std::unique_ptr<Handler> handler(
      new Handler(services, std::move(definition), std::move(log), std::move(stop)));
  js::RuntimeOptions options;
  options.environment = SharedEnvironment();
  options.program = std::move(program);
  options.natives = handler->Natives();
  options.configuration = handler->Configuration();
  options.start_cpu_ms = kLoadCpuMs;
  options.stop = handler->stop_;
  handler->debugged_ = inspector != nullptr;
  options.inspector = std::move(inspector);
  handler->keyspaces_.resize(handler->definition_->buckets.size());
  handler->runtime_ = js::Runtime::Start(std::move(options), failed);
  if (handler->runtime_ == nullptr) return nullptr;
  handler->has_on_update_ = handler->runtime_->Defines("OnUpdate");
  handler->has_on_delete_ = handler->runtime_->Defines("OnDelete");
  handler->has_on_deploy_ = handler->runtime_->Defines("OnDeploy");
  return handler;
}

std::string Handler::Configuration() const {
  json::Value buckets = json::Value::EmptyArray();
  for (const BucketBinding& binding : definition_->buckets) {
    buckets.Append(json::Value::Object({{"alias", binding.alias},
                                        {"bucket", binding.keyspace.bucket},
                                        {"scope", binding.keyspace.scope},
                                        {"collection", binding.keyspace.collection},
                                        {"writable", binding.writes_documents()},
                                        {"access", binding.writable ? "rw" : "r"},
                                        {"source", binding.keyspace == definition_->source},
                                        {"wildcard", binding.wildcard()}}));
  }
  json::Value urls = json::Value::EmptyArray();
  for (const UrlBinding& binding : definition_->urls) {
    urls.Append(json::Value::Object({{"alias", binding.alias}, {"hostname", binding.hostname}}));
  }
  return json::ToText(json::Value::Object({{"buckets", buckets},
                                           {"urls", urls},
                                           {"usesClock", services_.handlers_use_clock},
                                           {"task", definition_->is_task()},
                                           {"language", definition_->settings.language},
                                           {"consistency", definition_->settings.consistency}}));
}

// Code also runs while the program loads (constants), and for a debugger between events.
script::Native Handler::InInvocation(script::Native native) {
  return {native.name, [this, run = std::move(native.run)](script::Call& call) {
            if (effects_ != nullptr) return run(call);
            call.Throw("EventingError", "this works only while an event is handled");
          }};
}

// Counts calls by line, while Insight asks for it.
script::Native Handler::Counted(script::Native native) {
  // The rows of a statement are not calls of their own, but take their time.
  const uint64_t calls = native.name == "queryNext" || native.name == "queryClose" ? 0 : 1;
  return {native.name, [this, calls, run = std::move(native.run)](script::Call& call) {
            if (insight_ == nullptr || !insight_->counts_calls()) return run(call);
            const int line = call.Line();
            const uint64_t began_ns = services_.clock.MonotonicNs();
            run(call);
            insight_->AddCall(line, services_.clock.MonotonicNs() - began_ns, calls);
          }};
}

std::vector<script::Native> Handler::Natives() {
  std::vector<script::Native> natives;
  for (auto& group : {BucketNatives(), QueryNatives(), TimerNatives(), FlowNatives(),
                      SubdocNatives(), CurlNatives()}) {
    for (const script::Native& native : group) natives.push_back(InInvocation(native));
  }
  natives.push_back({"log", [this](script::Call& call) { Log(call); }});
  natives.push_back(
      {"crc64", [](script::Call& call) { call.Return(json::Crc64IsoHex(TextOrBytes(call, 0))); }});
  natives.push_back(
      {"base64Encode", [](script::Call& call) { call.Return(ToBase64(TextOrBytes(call, 0))); }});
  natives.push_back({"base64Decode", DecodeBase64});
  natives.push_back({"now", [this](script::Call& call) {
                       call.Return(static_cast<double>(services_.clock.WallMs()));
                     }});
  for (script::Native& native : natives) native = Counted(std::move(native));
  return natives;
}

void Handler::Log(script::Call& call) {
  std::string line = call.String(0);
  if (line.size() > kMaxLogLineBytes) line.resize(kMaxLogLineBytes);
  if (logged_bytes_ >= kMaxLoggedBytes) return;
  logged_bytes_ += line.size() + 1;
  if (insight_ != nullptr) insight_->AddLog(call.Line(), line);
  log_(line);
  if (logged_bytes_ >= kMaxLoggedBytes)
    log_("[this invocation has logged too much; the rest is left out]");
}

uint64_t Handler::RemainingMs() const {
  // A debugged run has no time limit, but its HTTP requests and statements have one.
  if (debugged_) return definition_->settings.execution_timeout_s * 1000ull;
  const uint64_t now_ns = services_.clock.MonotonicNs();
  return now_ns >= deadline_ns_ ? 1 : (deadline_ns_ - now_ns) / 1'000'000 + 1;
}

script::Outcome Handler::Call(Turn& turn, Effects& effects, std::string_view entry,
                              std::span<const script::Argument> arguments, uint32_t timeout_s,
                              uint64_t now_ns, std::optional<json::Value>* packed) {
  effects_ = &effects;
  transaction_ = &effects.documents();
  called_out_ = false;
  interrupted_ = false;
  writes_before_ = transaction_->writes();
  bytes_before_ = transaction_->bytes();
  timers_ = 0;
  timer_bytes_ = 0;
  logged_bytes_ = 0;
  if (debugged_) timeout_s = kDebuggedTimeoutS;
  const uint64_t began_ns = now_ns != 0 ? now_ns : services_.clock.MonotonicNs();
  deadline_ns_ = began_ns + timeout_s * 1'000'000'000ull;
  limited_ = longest_ms_ != 0 && !debugged_;
  const uint64_t cut_ns = limited_ ? began_ns + longest_ms_ * 1'000'000 : UINT64_MAX;
  script::Outcome outcome =
      turn.session_.Call(entry, arguments,
                         {.deadline_ns = std::min(deadline_ns_, cut_ns),
                          .want_value = packed != nullptr,
                          .finish = packed != nullptr ? "answer" : std::string_view(),
                          .packed = packed});
  cut_short_ |= outcome.ended == script::Ended::kTimedOut && cut_ns < deadline_ns_;
  if (!debugged_ && !cut_short_ && statistics_ != &uncounted_) {
    statistics_->latency.Add((services_.clock.MonotonicNs() - began_ns) / 1000);
  }
  if (outcome.ended == script::Ended::kStopped) interrupted_ = true;
  queries_.clear();
  transaction_ = nullptr;
  effects_ = nullptr;
  return outcome;
}

script::Outcome Handler::Run(Turn& turn, Effects& effects, const Event& event) {
  const bool update =
      event.operation == db::Operation::kInsert || event.operation == db::Operation::kUpdate;
  if (update ? !has_on_update_ : !has_on_delete_) return {};
  const auto catalog = services_.database.catalog();
  const db::KeyspaceInfo* keyspace = catalog->Find(event.keyspace);
  const db::KeyspaceName name = keyspace == nullptr ? definition_->source : keyspace->name;
  const std::string cas = std::to_string(event.cas);
  const bool json = event.datatype == db::Datatype::kJson;
  const script::Argument meta[] = {
      std::string_view(event.key),
      std::string_view(cas),
      static_cast<double>(db::VBucketOf(event.key)),
      static_cast<double>(event.sequence),
      std::string_view(json ? "json" : "binary"),
      static_cast<double>(event.expiry_ms / 1000),
      std::string_view(name.bucket),
      std::string_view(name.scope),
      std::string_view(name.collection),
  };
  std::vector<script::Argument> arguments;
  if (update) {
    arguments.push_back(json ? script::Argument(script::Json{event.body})
                             : script::Argument(script::Bytes{event.body}));
    arguments.push_back(script::Json{event.xattrs.empty() ? std::string_view("{}") : event.xattrs});
    arguments.push_back(
        std::string_view(event.operation == db::Operation::kInsert ? "insert" : "update"));
    arguments.push_back(event.previous.empty() ? script::Argument(script::Undefined{})
                                               : script::Argument(script::Json{event.previous}));
  } else {
    arguments.push_back(event.operation == db::Operation::kExpire);
  }
  arguments.insert(arguments.end(), std::begin(meta), std::end(meta));
  return Call(turn, effects, update ? "update" : "remove", arguments,
              definition_->settings.execution_timeout_s);
}

script::Outcome Handler::RunOnDeploy(Turn& turn, Effects& effects, std::string_view reason,
                                     uint64_t delay_ms) {
  const script::Argument arguments[] = {reason, static_cast<double>(delay_ms)};
  return Call(turn, effects, "deploy", arguments, definition_->settings.on_deploy_timeout_s);
}

script::Outcome Handler::RunTask(Turn& turn, Effects& effects, const Task& task,
                                 std::optional<json::Value>* body) {
  streams_ = task.streams;
  // Most often there are none, and JavaScript makes such an object itself.
  const std::string headers = task.headers.size() == 0 ? "" : json::ToText(task.headers);
  const json::Value null(nullptr);
  const script::Argument arguments[] = {
      static_cast<double>(task.instance),
      headers.empty() ? script::Argument(script::Undefined{}) : script::Json{headers},
      script::Pieces{task.input.is_missing() ? &null : &task.input}};
  return Call(turn, effects, "task", arguments, task.timeout_s, task.now_ns, body);
}

}  // namespace sluice::function
