#include "route/lua_task.h"

#include "procedure/task_run.h"

namespace sluice::route {
namespace {

class LuaTask final : public TaskInstance {
 public:
  explicit LuaTask(procedure::TaskRun run) : run_(std::move(run)) {}

  TaskOutput Run(const TaskInput& input) override {
    procedure::TaskOptions options{.timeout_ms = input.timeout_ms, .cancelled = input.cancelled};
    if (input.sink != nullptr) {
      options.commit = [&](const procedure::TaskAnswer& answer, db::Commit commit) {
        return input.sink->Commit(
            {.status = answer.status, .headers = answer.headers, .body = answer.body},
            std::move(commit));
      };
    }
    auto answer = run_.Run({input.headers, input.body, json::Value(input.instance)}, options);
    if (answer) {
      return {.status = answer->status,
              .headers = std::move(answer->headers),
              .body = std::move(answer->body)};
    }
    const Status& error = answer.error();
    // What the program did wrong is not the fault of who asked.
    const bool program = error.code() == Code::kInvalidArgument;
    return program ? TaskOutput::Failure(500, error.message()) : TaskOutput::Failure(error);
  }

 private:
  const procedure::TaskRun run_;
};

}  // namespace

Result<TaskMaker> MakeLuaTask(const procedure::Manager& procedures, const std::string& route,
                              const std::string& text) {
  ASSIGN_OR_RETURN(auto program, lua::Program::Compile(route, text));
  if (!program->Has("main")) {
    return Fail(Code::kInvalidArgument, "lua.no_entry",
                "expected 'local function main(headers, input, instance)'");
  }
  return [&procedures, program]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<LuaTask>(procedures.NewTask(program));
  };
}

}  // namespace sluice::route
