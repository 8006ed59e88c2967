#include "flow_engine/lua_task.h"

#include "flow_engine/stream.h"
#include "procedure/task_run.h"

namespace sluice::flow_engine {
namespace {

class LuaTask final : public TaskInstance {
 public:
  LuaTask(db::Database& database, procedure::TaskRun run, StatementCheck authorize,
          bool reads_origin)
      : database_(database),
        run_(std::move(run)),
        authorize_(std::move(authorize)),
        reads_origin_(reads_origin) {}

  bool runs_code() const override { return true; }
  TaskOutput Run(const TaskInput& input) override {
    procedure::TaskOptions options{.timeout_ms = input.timeout_ms, .cancelled = input.cancelled};
    options.authorize = authorize_;
    options.streams = input.streams;
    options.commit = [&](const procedure::TaskAnswer& answer, db::Commit commit) {
      const TaskOutput output{
          .status = answer.status, .headers = answer.headers, .body = answer.body};
      return CommitTask(database_, input, output, std::move(commit));
    };
    const json::Value headers = reads_origin_ ? HeadersWithOrigin(input) : input.headers;
    auto answer = run_.Run({headers, input.body, json::Value(input.instance)}, options);
    if (answer) {
      return {.status = answer->status,
              .headers = std::move(answer->headers),
              .body = std::move(answer->body),
              .repeatable = true};
    }
    const Status& error = answer.error();
    // A mistake of the program is not the caller's fault.
    const bool program = error.code() == Code::kInvalidArgument;
    return program ? TaskOutput::Failure(500, error.message()) : TaskOutput::Failure(error);
  }

 private:
  db::Database& database_;
  const procedure::TaskRun run_;
  const StatementCheck authorize_;
  const bool reads_origin_;
};

}  // namespace

Result<TaskMaker> MakeLuaTask(db::Database& database, const procedure::Manager& procedures,
                              const std::string& route, const std::string& text,
                              StatementCheck authorize) {
  ASSIGN_OR_RETURN(auto program, lua::Program::Compile(route, text, lua::Numbers::kExact));
  if (!program->Has("main")) {
    return Fail(Code::kInvalidArgument, "lua.no_entry",
                "expected 'local function main(headers, input, instance)'");
  }
  return [&database, &procedures, program, authorize,
          reads_origin = ReadsOrigin(text)]() -> Result<std::unique_ptr<TaskInstance>> {
    return std::make_unique<LuaTask>(database, procedures.NewTask(program), authorize,
                                     reads_origin);
  };
}

}  // namespace sluice::flow_engine
