// Takes any text as a handler, and as a constant's literal: the prepared text has the same lines,
// the same statements are found in it, and errors have places in the text.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "function/source/tokenizer.h"
#include "function/source/transpile.h"

namespace sluice::function {
namespace {

// Tokens follow each other without overlap, at the places that they say.
void CheckTokens(std::string_view text) {
  Tokenizer tokenizer(text);
  size_t end = 0;
  SourcePlace place;
  while (true) {
    const Token token = tokenizer.Next();
    if (token.kind == TokenKind::kEnd) break;
    // The error of a bracket without an end has the bracket's place, and comes at the end.
    if (token.kind == TokenKind::kError && token.offset < end) continue;
    CHECK(token.offset >= end && token.end() <= text.size() && !token.text.empty());
    place = PlaceAfter(place, text.substr(end, token.offset - end));
    CHECK(place == token.place);
    place = PlaceAfter(place, token.text);
    end = token.end();
  }
}

void CheckPlaces(std::string_view text, const std::vector<Status>& errors) {
  CHECK(!errors.empty());
  const SourcePlace last = PlaceAfter({}, text);
  for (const Status& error : errors) CHECK(error.place().line <= last.line);
}

void CheckPrepared(std::string_view text, const PreparedSource& source) {
  const SourcePlace end = PlaceAfter({}, text);
  CHECK(PlaceAfter({}, source.text).line == end.line + 1);
  CHECK(source.first_line == 1);
  CHECK(source.facts.entry_points.on_update || source.facts.entry_points.on_delete);
  CHECK(source.columns.ToUser(PlaceAfter(
            {}, std::string_view(source.text).substr(0, source.text.size() - 1))) == end);
  // Calls are JavaScript, with no statement in them.
  const EmbeddedSql again = FindEmbeddedSql(source.text, {});
  CHECK(again.errors.empty() && again.statements.empty());
}

void Run(std::string_view text) {
  CheckTokens(text);
  static_cast<void>(CheckConstant({.alias = "c", .literal = std::string(text)}));
  const auto prepared = Prepare(text, {.headers = {}});
  if (!IsValidUtf8(text)) {
    CHECK(!prepared.has_value());
  } else if (prepared) {
    CheckPrepared(text, *prepared);
  } else {
    CheckPlaces(text, prepared.error());
  }
}

}  // namespace
}  // namespace sluice::function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::function::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
