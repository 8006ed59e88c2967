#include "cli/apply.h"

#include <fstream>

#include "cli/importer.h"

namespace sluice::cli {
namespace {

void WriteSeed(Api* api, const SeedFile& seed, const std::function<void(std::string_view)>& say,
               std::vector<Status>* problems) {
  std::ifstream file(seed.path, std::ios::binary);
  if (!file) {
    problems->push_back(Error(Code::kIo, "file.unreadable", "can't read {}", seed.path));
    return;
  }
  Importer importer(
      api, {.keyspace = seed.keyspace, .if_absent = true},
      [&](const ImportProblem& problem) {
        problems->push_back(
            problem.status.At({seed.path, static_cast<uint32_t>(problem.number), 0}));
      },
      [](const ImportCounts&) {});
  const Status ended = importer.Run(file);
  if (!ended.ok()) problems->push_back(ended.At({seed.path, 0, 0}));
  if (importer.counts().imported > 0) {
    say(fmt::format("{} documents put into {}", importer.counts().imported, seed.keyspace));
  }
}

}  // namespace

std::vector<Status> CarryOut(Api* api, const AppDirectory& app, const Plan& plan,
                             const std::function<void(std::string_view)>& say) {
  std::vector<Status> problems;
  for (const Step& step : plan.steps) {
    for (const ApiRequest& request : step.requests) {
      const Status done = api->Do(request);
      if (!done.ok()) {
        problems.push_back(done.Prefixed(step.ToString()));
        return problems;
      }
    }
    say(step.ToString() + ": done");
  }
  for (const SeedFile& seed : app.seeds) WriteSeed(api, seed, say, &problems);
  return problems;
}

}  // namespace sluice::cli
