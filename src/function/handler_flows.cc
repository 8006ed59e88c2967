// The natives of library/flows.js.
#include "base/utf8.h"
#include "function/handler.h"
#include "json/parse.h"
#include "outbox/flow_request.h"

namespace sluice::function {
namespace {

// How many bytes at the end are the beginning of a character.
size_t OpenBytes(std::string_view text) {
  constexpr size_t kLongest = 4;
  for (size_t n = 1; n < kLongest && n <= text.size(); ++n) {
    const auto byte = static_cast<unsigned char>(text[text.size() - n]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > n ? n : 0;
  }
  return 0;
}

}  // namespace

std::vector<script::Native> Handler::FlowNatives() {
  return {{"flowStart", [this](script::Call& call) { StartFlow(call); }},
          {"streamRead", [this](script::Call& call) { ReadStream(call); }}};
}

// The flow's id and its input as JSON. Answers with the run's id.
void Handler::StartFlow(script::Call& call) {
  auto input = json::Parse(call.String(1));
  if (!input) return call.Throw("EventingError", "startFlow: " + input.error().message());
  std::string run;
  auto row = outbox::MakeFlowRequest(services_.database, call.String(0), std::move(*input), &run,
                                     effects_->shard());
  if (!row) return call.Throw("EventingError", "startFlow: " + row.error().message());
  const Status written = CheckWritten(1);
  if (!written.ok()) return call.Throw("EventingError", "startFlow: " + written.message());
  transaction_->AddRow(std::move(*row));
  call.Return(std::string_view(run));
}

// The stream's id, an offset, a size, and whether a text is wanted. Answers with [piece, total].
void Handler::ReadStream(script::Call& call) {
  const auto fail = [&](std::string_view why) {
    call.Throw("EventingError", fmt::format("readStream: {}", why));
  };
  if (streams_ == nullptr) return fail("only tasks of flows have streams");
  const double offset = call.Number(1);
  const double size = call.Number(2);
  constexpr double kMost = 9e15;
  if (!(offset >= 0 && offset < kMost) || !(size >= 1 && size < kMost)) {
    return fail("expected an offset that is not negative, and a size");
  }
  constexpr double kLongestCharacter = 4;
  const bool as_text = call.Boolean(3);
  if (as_text && size < kLongestCharacter) return fail("a text needs a size of at least 4");
  const auto piece = streams_->ReadPiece(call.String(0), static_cast<uint64_t>(offset),
                                         static_cast<uint64_t>(size));
  if (!piece) return fail(piece.error().message());
  const auto total = static_cast<double>(piece->total);
  if (!as_text) return call.ReturnList({script::Bytes{piece->bytes}, total});
  // A character that the piece ends in is whole in the next one.
  std::string_view text = piece->bytes;
  const bool last = static_cast<uint64_t>(offset) + text.size() >= piece->total;
  if (!last) text.remove_suffix(OpenBytes(text));
  if (!IsValidUtf8(text)) return fail("the piece is not UTF-8 text");
  call.ReturnList({text, static_cast<double>(text.size()), total});
}

}  // namespace sluice::function
