// The natives of library/flows.js.
#include "function/handler.h"
#include "json/parse.h"
#include "queue/flow_request.h"

namespace sluice::function {

std::vector<script::Native> Handler::FlowNatives() {
  return {{"flowStart", [this](script::Call& call) { StartFlow(call); }}};
}

// The flow's id and its input as JSON. Answers with the run's id.
void Handler::StartFlow(script::Call& call) {
  auto input = json::Parse(call.String(1));
  if (!input) return call.Throw("EventingError", "startFlow: " + input.error().message());
  std::string run;
  auto row = queue::MakeFlowRequest(services_.database, call.String(0), std::move(*input), &run);
  if (!row) return call.Throw("EventingError", "startFlow: " + row.error().message());
  transaction_->AddRow(std::move(*row));
  call.Return(std::string_view(run));
}

}  // namespace sluice::function
