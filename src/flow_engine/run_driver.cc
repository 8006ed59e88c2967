#include "flow_engine/run_driver.h"

#include <utility>

namespace sluice::flow_engine {

std::vector<StepFile> TakeFiles(flow::Actions* actions) {
  std::vector<StepFile> files;
  for (flow::Action& action : *actions) {
    auto* const file = std::get_if<flow::WriteFile>(&action);
    if (file == nullptr) continue;
    files.push_back(
        {std::string(file->flow), std::move(file->path), std::move(file->bytes), file->mode});
  }
  if (files.empty()) return files;
  std::erase_if(*actions, [](const flow::Action& action) {
    return std::holds_alternative<flow::WriteFile>(action);
  });
  return files;
}

}  // namespace sluice::flow_engine
