// Tasks in JavaScript. An instance has one isolate (function::Handler), made by its first call and
// made again when it has used too much memory. The thread that has the instance's slot runs it;
// Stop comes from other threads, so these see the handler through a Locked pointer.
//
// When an app is loaded, the code is checked by our own parser and then by V8, so that mistakes are
// found at that time and not by the first call.
#include "flow_engine/js_task.h"

#include <algorithm>
#include <optional>

#include "base/locked.h"
#include "base/log.h"
#include "db/conflict_retry.h"
#include "flow/text_form.h"
#include "flow_engine/stream.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::flow_engine {
namespace {

class JsTask final : public TaskInstance {
 public:
  JsTask(const function::Services& services, std::shared_ptr<const function::Definition> definition,
         std::shared_ptr<const js::Program> program)
      : services_(services),
        definition_(std::move(definition)),
        program_(std::move(program)),
        reads_origin_(ReadsOrigin(definition_->code)) {}

  bool runs_code() const override { return true; }
  // The writes are one commit. The code runs again when others changed the documents that it read.
  TaskOutput Run(const TaskInput& input) override {
    for (db::ConflictRetry retry;;) {
      function::Effects effects(services_.database, std::nullopt, "");
      TaskOutput output = Attempt(effects, input, retry.attempt() == 1);
      if (output.status >= 400 || Cancelled(input)) return output;
      if (effects.documents().writes() == 0 && effects.timers().rows() == 0) return output;
      db::Commit commit = effects.TakeCommit();
      if (commit.writes.empty() && commit.rows.empty()) return output;
      commit.origin = "task:" + definition_->name;
      const Status status = CommitTask(services_.database, input, output, std::move(commit));
      if (status.ok()) return output;
      if (!retry.Again(status)) return TaskOutput::Failure(status);
    }
  }

  void Renew() override {
    if (handler_ != nullptr) handler_->ForgetStop();
  }
  void Stop() override {
    if (const auto handler = stopped_by_others_.Copy()) handler->Stop();
  }

 private:
  static bool Cancelled(const TaskInput& input) {
    return input.cancelled != nullptr && input.cancelled->load();
  }

  TaskOutput Attempt(function::Effects& effects, const TaskInput& input, bool first) {
    if (handler_ == nullptr || handler_->spent()) {
      script::Outcome failed;
      const auto log = [name = definition_->name](std::string_view line) {
        log::Info("a task logs", {{"route", name}, {"line", std::string(line)}});
      };
      handler_ = function::Handler::Make(services_, definition_, program_, log, &failed);
      stopped_by_others_.Set(handler_);
      if (handler_ == nullptr) return TaskOutput::Failure(500, failed.message);
    }
    if (Cancelled(input))
      return TaskOutput::Failure(408, "the caller no longer waits for the answer");
    // Whole seconds. A caller whose time ends earlier calls Stop.
    const auto timeout_s = static_cast<uint32_t>((input.timeout_ms + 999) / 1000);
    const json::Value headers = reads_origin_ ? HeadersWithOrigin(input) : input.headers;
    function::Handler::Turn turn(*handler_);
    std::optional<json::Value> packed;
    const script::Outcome outcome = handler_->RunTask(turn, effects,
                                                      {.headers = headers,
                                                       .input = input.body,
                                                       .instance = input.instance,
                                                       .timeout_s = timeout_s,
                                                       .now_ns = first ? input.now_ns : 0,
                                                       .streams = input.streams},
                                                      &packed);
    TaskOutput output;
    if (outcome.ok() && packed) {
      output.body = std::move(*packed);
    } else {
      output = OutputOf(outcome);
    }
    output.repeatable = !handler_->called_out();
    return output;
  }

  TaskOutput OutputOf(const script::Outcome& outcome) const {
    if (outcome.ended == script::Ended::kTimedOut) {
      return TaskOutput::Failure(408, fmt::format("{}: {}", definition_->name, outcome.message));
    }
    if (!outcome.ok()) {
      TaskOutput output = TaskOutput::Failure(500, outcome.message);
      output.stack = outcome.stack;
      return output;
    }
    const auto value = json::Parse(outcome.value);
    if (!value) return TaskOutput::Failure(500, "the result has no JSON text");
    TaskOutput output;
    if ((*value)["status"].is_int()) output.status = static_cast<int>((*value)["status"].AsInt());
    for (const json::Field& header : (*value)["headers"].fields()) {
      output.headers.Set(header.name(), header.value.is_string()
                                            ? header.value
                                            : json::Value(json::ToText(header.value)));
    }
    output.body = (*value)["body"];
    if ((*value)["stack"].is_string()) output.stack = (*value)["stack"].AsString();
    return output;
  }

  const function::Services& services_;
  const std::shared_ptr<const function::Definition> definition_;
  const std::shared_ptr<const js::Program> program_;
  const bool reads_origin_;
  std::shared_ptr<function::Handler> handler_;  // belongs to the thread that runs the instance
  Locked<std::shared_ptr<function::Handler>> stopped_by_others_;  // the same one
};

// Whether the line, or the one before it, may be part of an embedded SQL++ statement.
bool MayBeStatement(std::string_view code, uint32_t line) {
  constexpr std::string_view kVerbs[] = {"select", "insert", "upsert", "update",
                                         "delete", "merge",  "with"};
  uint32_t number = 1;
  for (size_t start = 0; start < code.size() && number <= line; ++number) {
    const size_t end = std::min(code.find('\n', start), code.size());
    const std::string text = flow::LowerCase(code.substr(start, end - start));
    start = end + 1;
    if (number + 1 < line) continue;
    for (const std::string_view verb : kVerbs) {
      if (text.find(verb) != std::string::npos) return true;
    }
  }
  return false;
}

// Our parser often reports a bracket without an end far from the mistake; V8 finds the place where
// the code can't go on. But V8 knows no embedded statements, so its report about one is ignored.
Status AtMistake(const Status& error, const function::Definition& definition,
                 js::SyntaxChecker* checker) {
  if (error.message().find("has no end") == std::string::npos) return error;
  const script::Outcome found = checker->Compile({definition.name + ".js", definition.code});
  const auto line = static_cast<uint32_t>(found.place.line);
  const bool later = line > error.place().line;
  if (found.ok() || !later || found.message.find("end of input") != std::string::npos ||
      MayBeStatement(definition.code, line)) {
    return error;
  }
  return Error(Code::kInvalidArgument, "function.syntax", "{}; {}:{}: {}", found.message,
               error.place().line, error.place().column, error.message())
      .At({"", line, static_cast<uint32_t>(found.place.column)});
}

// Finds the mistakes that only V8 sees, when the app is loaded and not in the first call. The top
// level has nothing but functions, so it is enough to declare them; unless one takes the name of a
// built-in class that the library needs: then the code is loaded as a whole.
script::Outcome Load(const function::Services& services,
                     const std::shared_ptr<const function::Definition>& definition,
                     const function::Prepared& prepared, js::SyntaxChecker* checker) {
  script::Outcome outcome = checker->Declare(prepared.program->source());
  const auto may_be_class = [](const std::string& name) {
    return name[0] >= 'A' && name[0] <= 'Z';
  };
  if (!outcome.ok() || std::ranges::none_of(prepared.source->facts.functions, may_be_class)) {
    return outcome;
  }
  function::Handler::Make(
      services, definition, prepared.program, [](std::string_view) {}, &outcome);
  return outcome;
}

}  // namespace

std::expected<TaskMaker, std::vector<Status>> MakeJsTask(const function::Services& services,
                                                         function::Definition definition,
                                                         js::SyntaxChecker* checker) {
  definition.kind = function::CodeKind::kTask;
  const auto prepared = function::PrepareOrTellAll(definition);
  if (!prepared) {
    std::vector<Status> errors;
    for (const Status& error : prepared.error()) {
      errors.push_back(AtMistake(error, definition, checker));
    }
    return std::unexpected(std::move(errors));
  }
  const auto shared = std::make_shared<const function::Definition>(std::move(definition));
  const script::Outcome failed = Load(services, shared, *prepared, checker);
  if (!failed.ok()) {
    const function::SourcePlace place =
        prepared->source->columns.ToUser({.line = static_cast<uint32_t>(failed.place.line),
                                          .column = static_cast<uint32_t>(failed.place.column)});
    return std::unexpected(
        std::vector<Status>{Error(Code::kInvalidArgument, "function.compile", "{}", failed.message)
                                .At({"", place.line, place.column})});
  }
  return
      [&services, shared, program = prepared->program]() -> Result<std::unique_ptr<TaskInstance>> {
        return std::make_unique<JsTask>(services, shared, program);
      };
}

}  // namespace sluice::flow_engine
