#include "rest/flow_stream.h"

#include <algorithm>

#include "flow/text_form.h"
#include "rest/flow_dataset.h"
#include "rest/http_types.h"

namespace sluice::rest {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

}  // namespace

std::optional<size_t> SpoolAbove(const flow_engine::App& app, const Request& request,
                                 size_t max_body_bytes) {
  const auto path = PercentDecode(request.path());
  if (!path) return std::nullopt;
  const flow_engine::RestConfig::Match match = app.rest.Find(MethodName(request.method()), *path);
  if (match.endpoint == nullptr) return std::nullopt;
  if (!match.endpoint->relay.empty()) {
    return std::min(max_body_bytes, flow_engine::kRelayMemoryBytes);
  }
  if (FormOfBody(request) == BodyForm::kParsed) return std::nullopt;
  return match.endpoint->streams_uploads ? 0 : max_body_bytes;
}

Task<> SendStream(flow_engine::StreamPtr stream, Request& request, Response& response) {
  uint64_t offset = 0;
  do {
    const Result<Result<std::string>> piece =
        co_await RunBlocking(request.exchange(), [&] { return stream->Read(offset, kPieceBytes); });
    if (!piece || !*piece) {
      co_return response.Abort(piece ? piece->error() : piece.error());
    }
    const Status sent = co_await response.Write(**piece);
    if (!sent.ok()) co_return;
    offset += (*piece)->size();
    if ((*piece)->empty() && offset < stream->size()) {
      co_return response.Abort(
          Error(Code::kIo, "file.unreadable", "a stream ended before its size"));
    }
  } while (offset < stream->size());
}

Task<> SendPiped(flow_engine::AnswerPipe& pipe, Request& request, Response& response) {
  for (;;) {
    const Completion<Result<std::string>> taken(request.exchange());
    pipe.Take([taken](Result<std::string> piece) { taken.Complete(std::move(piece)); });
    const Result<Result<std::string>> piece = co_await taken;
    if (!piece) co_return;
    if (!*piece) co_return response.Abort((*piece).error());
    if ((*piece)->empty()) co_return;
    const Status sent = co_await response.Write(**piece);
    if (!sent.ok()) co_return;
  }
}

}  // namespace sluice::rest
