// A function's code in one isolate, and the natives that library/*.js calls for it. The natives
// work on the effects of the invocation that runs.
//
// One thread at a time.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/signal.h"
#include "base/status.h"
#include "db/transaction.h"
#include "function/curl/address_rules.h"
#include "function/curl/http_sender.h"
#include "function/definition.h"
#include "function/effects.h"
#include "function/event.h"
#include "function/insight.h"
#include "function/statistics.h"
#include "function/under_way.h"
#include "js/runtime.h"
#include "query/engine.h"
#include "script/stream_source.h"
#include "timer/timer.h"

namespace sluice::function {

// The bounds of one invocation. Its writes are one commit, and are kept in memory until then.
struct InvocationLimits {
  size_t documents = 10'000;  // written documents and started flows
  size_t bytes = 48ull << 20;
  size_t timers = 10'000;
  size_t timer_bytes = 48ull << 20;
};

// The parts of a server that all functions share.
struct Services {
  db::Database& database;
  query::QueryEngine& queries;
  const Clock& clock;
  // The addresses that functions may call over HTTP.
  std::shared_ptr<const AddressRules> addresses =
      std::make_shared<const AddressRules>(PrivateAddresses::kRefused);
  // enable_curl of the configuration, which may change while functions run.
  std::shared_ptr<std::atomic<bool>> curl_allowed = std::make_shared<std::atomic<bool>>(true);
  // For trials: answers all HTTP requests in place of the network, on any thread.
  HttpSender* http = nullptr;
  // For trials: Date has the time of `clock`, not of the machine.
  bool handlers_use_clock = false;
  // The directory of functions' logs; empty: logs are in memory.
  std::filesystem::path log_directory = {};
  InvocationLimits limits = {};
  // Notes the running calls for the process that comes after a crash; may be null. Outlives the
  // functions.
  UnderWay* under_way = nullptr;
  bool hold = false;  // deployed functions are paused until somebody resumes them
  // Woken after each step that a function takes: it has read an event, committed a batch, handled
  // everything, written its log, changed its state. Trials and tests wait for it; null otherwise.
  Signal* progress = nullptr;
  void Progressed() const {
    if (progress != nullptr) progress->Wake();
  }
};

// A definition's code as V8 gets it, and the facts that the checks found in it.
struct Prepared {
  std::shared_ptr<const js::Program> program;
  std::shared_ptr<const PreparedSource> source;
};
// All problems of the code are in one error, a line each; its id is that of the first problem.
Result<Prepared> Prepare(const Definition& definition);
// The same, with an error for each problem, at its place in the code.
std::expected<Prepared, std::vector<Status>> PrepareOrTellAll(const Definition& definition);

class DocumentCache;

class Handler {
 public:
  using LogLine = std::function<void(std::string_view line)>;

  // Compiles and loads the code. Returns null when that fails, and puts the reason into `failed`.
  // With an inspector the code is debugged: runs have no time limit. The flag ends loading and
  // runs, and their statements and HTTP requests.
  static std::unique_ptr<Handler> Make(const Services& services,
                                       std::shared_ptr<const Definition> definition,
                                       std::shared_ptr<const js::Program> program, LogLine log,
                                       script::Outcome* failed,
                                       std::shared_ptr<js::Inspector> inspector = nullptr,
                                       script::StopFlag stop = nullptr);
  ~Handler();

  bool HasOnUpdate() const { return has_on_update_; }
  bool HasOnDelete() const { return has_on_delete_; }
  bool HasOnDeploy() const { return has_on_deploy_; }
  // True after the code has used too much memory: make another handler.
  bool spent() const { return runtime_->spent(); }
  void Stop() { runtime_->Stop(); }
  void ForgetStop() { runtime_->ForgetStop(); }
  // Sets the objects that it counts in, which outlive it.
  void Attach(Statistics& statistics, HeldInsight& insight) {
    statistics_ = &statistics;
    insight_ = &insight;
  }

  // Gives the isolate to this thread; calls need one.
  class Turn {
   public:
    explicit Turn(Handler& handler) : session_(*handler.runtime_) {}
    // For a debugged handler: serves the debugger's client until `until` returns true.
    void Serve(const std::function<bool()>& until) { session_.Serve(until); }

   private:
    friend class Handler;
    js::Runtime::Session session_;
  };

  // Runs OnUpdate or OnDelete, if the function has it. Its writes are in the effects; after a
  // failure the caller drops them.
  script::Outcome Run(Turn& turn, Effects& effects, const Event& event);
  // Whether the last run made HTTP requests, which can't be undone as its writes can.
  bool called_out() const { return called_out_; }
  // Cuts short each run from now on that takes longer; 0: the function's own limit holds.
  void set_longest_ms(uint64_t ms) {
    longest_ms_ = ms;
    cut_short_ = false;
  }
  // Whether the last run was cut short: it took longer than that, or was about to make an HTTP
  // request, which must not be made twice. Run it again without that limit.
  bool cut_short() const { return cut_short_; }
  // Whether a stop ended the last run, or a request or statement of it. The run does not count.
  bool interrupted() const { return interrupted_; }
  script::Outcome RunOnDeploy(Turn& turn, Effects& effects, std::string_view reason,
                              uint64_t delay_ms);
  // For a task: calls handleEvent. `body` gets the value that it returns. If that is an
  // EventEnvelope, or if an error with a status ends the call, the outcome's value is {"status",
  // "headers", "body", "stack"} instead. The task may read `streams`.
  struct Task {
    const json::Value& headers;
    const json::Value& input;
    int instance = 1;
    uint32_t timeout_s = 0;
    uint64_t now_ns = 0;  // monotonic time now; 0: the caller does not know it
    const script::StreamSource* streams = nullptr;
  };
  script::Outcome RunTask(Turn& turn, Effects& effects, const Task& task,
                          std::optional<json::Value>* body);
  bool HasCallback(Turn& turn, const std::string& name);
  // Calls the timer's callback, which must be there.
  script::Outcome RunTimer(Turn& turn, Effects& effects, const timer::Timer& timer);

 private:
  Handler(const Services& services, std::shared_ptr<const Definition> definition, LogLine log,
          script::StopFlag stop);

  std::vector<script::Native> Natives();
  script::Native InInvocation(script::Native native);
  script::Native Counted(script::Native native);
  std::vector<script::Native> BucketNatives();
  std::vector<script::Native> QueryNatives();
  std::vector<script::Native> TimerNatives();
  std::vector<script::Native> FlowNatives();
  std::vector<script::Native> CurlNatives();
  std::vector<script::Native> SubdocNatives();
  std::string Configuration() const;
  script::Outcome Call(Turn& turn, Effects& effects, std::string_view entry,
                       std::span<const script::Argument> arguments, uint32_t timeout_s,
                       uint64_t now_ns = 0, std::optional<json::Value>* packed = nullptr);

  // Natives.
  void Get(script::Call& call);
  void Set(script::Call& call);
  void Remove(script::Call& call);
  void Fetch(script::Call& call);
  void Store(script::Call& call);
  void Erase(script::Call& call);
  void Touch(script::Call& call);
  void Count(script::Call& call);
  void Log(script::Call& call);
  void QueryStart(script::Call& call);
  void QueryNext(script::Call& call);
  void QueryClose(script::Call& call);
  void CreateTimer(script::Call& call);
  void CancelTimer(script::Call& call);
  void StartFlow(script::Call& call);
  void ReadStream(script::Call& call);
  void Curl(script::Call& call);
  void MutateIn(script::Call& call);
  void LookupIn(script::Call& call);

  // The keyspace of a binding; that of a wildcard has the scope and collection that the call names.
  // Empty after it has thrown an error.
  std::optional<db::KeyspaceId> KeyspaceOf(script::Call& call, size_t binding,
                                           std::optional<size_t> names = std::nullopt);
  void ThrowKv(script::Call& call, const Status& status);
  // `type` is the argument that names the error's class.
  void ThrowQuery(script::Call& call, size_t type, const Status& status);
  struct OpenQuery {
    std::unique_ptr<query::Run> run;
    bool writes = false;
    std::deque<std::string> rows;  // JSON; those that were read ahead
  };
  Status Begin(OpenQuery& query);
  void AnswerStored(script::Call& call, const Result<db::Cas>& stored);
  // Error function.too_many_writes when the invocation has written more than it may, `more`
  // documents included.
  Status CheckWritten(size_t more = 0) const;
  // False after an error was thrown.
  bool MayWrite(script::Call& call, db::KeyspaceId keyspace, size_t key_argument);
  DocumentCache& Cache();
  HttpSender& Http();
  // Empties the cache after a statement that has written.
  void NoteWrites(const query::Run& run);
  bool MayStore(script::Call& call, const db::Document& document);
  bool MayCreateTimer(script::Call& call, const timer::Timer& timer);
  uint64_t RemainingMs() const;

  const Services services_;
  const std::shared_ptr<const Definition> definition_;
  const LogLine log_;
  std::vector<std::optional<db::KeyspaceId>> keyspaces_;  // of bindings that are not wildcards
  std::unique_ptr<js::Runtime> runtime_;
  bool debugged_ = false;
  bool has_on_update_ = false;
  bool has_on_delete_ = false;
  bool has_on_deploy_ = false;
  std::map<std::string, bool> callbacks_;  // whether the code has a timer callback, by name
  std::unique_ptr<DocumentCache> cache_;   // made by the first read that may use it
  std::unique_ptr<HttpSender> http_;       // made by the first request
  Statistics uncounted_;
  Statistics* statistics_ = &uncounted_;
  HeldInsight* insight_ = nullptr;
  const script::StopFlag stop_;  // never null

  // The invocation that runs.
  Effects* effects_ = nullptr;
  db::Transaction* transaction_ = nullptr;  // of the effects
  const script::StreamSource* streams_ = nullptr;
  uint64_t deadline_ns_ = 0;
  bool called_out_ = false;
  bool interrupted_ = false;
  uint64_t longest_ms_ = 0;
  bool limited_ = false;  // longest_ms_ holds for the run
  bool cut_short_ = false;
  size_t writes_before_ = 0;  // in the transaction
  size_t bytes_before_ = 0;   // in the transaction
  size_t timers_ = 0;
  size_t timer_bytes_ = 0;
  size_t logged_bytes_ = 0;
  std::map<uint32_t, std::unique_ptr<OpenQuery>> queries_;
  uint32_t next_query_ = 1;
};

}  // namespace sluice::function
