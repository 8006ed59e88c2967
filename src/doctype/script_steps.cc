#include "doctype/script_steps.h"

#include "base/check.h"
#include "doctype/library.h"

namespace sluice::doctype {
namespace {

std::shared_ptr<const js::Environment> SharedEnvironment() {
  static const std::shared_ptr<const js::Environment> environment = [] {
    auto made = js::Environment::Make(kMigrationsJs);
    CHECK(made.has_value());
    return *made;
  }();
  return environment;
}

// On a line of its own before the file's, whose lines keep their numbers.
constexpr std::string_view kBefore = "var migrationFile = function (module, exports) {\n";
constexpr std::string_view kAfter = "\n};\n";

}  // namespace

std::shared_ptr<const js::Program> ScriptSteps::ProgramOf(const std::string& file,
                                                          const std::string& code) {
  js::Source source;
  source.name = file;
  source.text = std::string(kBefore) + code + std::string(kAfter);
  source.first_line = 0;
  return std::make_shared<const js::Program>(std::move(source));
}

std::unique_ptr<ScriptSteps> ScriptSteps::Start(std::shared_ptr<const js::Program> program,
                                                const ScriptLimits& limits, const Clock& clock,
                                                script::Outcome* failed) {
  std::unique_ptr<ScriptSteps> steps(new ScriptSteps(limits, clock));
  js::RuntimeOptions options;
  options.environment = SharedEnvironment();
  options.program = std::move(program);
  options.limits.heap_bytes = limits.heap_bytes;
  options.limits.buffer_bytes = limits.heap_bytes;
  options.start_cpu_ms = limits.timeout_ms;
  steps->runtime_ = js::Runtime::Start(std::move(options), failed);
  return steps->runtime_ == nullptr ? nullptr : std::move(steps);
}

uint64_t ScriptSteps::DeadlineNs() const {
  return clock_.MonotonicNs() + limits_.timeout_ms * 1'000'000;
}

script::Outcome ScriptSteps::List() {
  js::Runtime::Session session(*runtime_);
  return session.Call("list", {}, {.deadline_ns = DeadlineNs(), .want_value = true});
}

script::Outcome ScriptSteps::Run(std::string_view function, std::string_view document,
                                 const Meta& meta) {
  js::Runtime::Session session(*runtime_);
  const script::Argument arguments[] = {
      function,
      script::Json{document},
      meta.id,
      meta.type,
      meta.from,
      meta.to,
      script::Json{meta.stored.empty() ? std::string_view("null") : meta.stored}};
  return session.Call("run", arguments, {.deadline_ns = DeadlineNs(), .want_value = true});
}

}  // namespace sluice::doctype
