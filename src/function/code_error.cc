#include "function/code_error.h"

#include <utility>

#include "function/source/characters.h"

namespace sluice::function {
namespace {

constexpr std::string_view kCode = "handlerCode";
constexpr std::string_view kHeaders = "handlerHeaders";
constexpr std::string_view kFooters = "handlerFooters";

// Of a problem that has no line in the code.
std::string_view AreaOf(const Status& problem) {
  if (problem.message().starts_with("handler_headers")) return kHeaders;
  return problem.message().starts_with("handler_footers") ? kFooters : kCode;
}

Status Located(const Status& error, std::string_view code, SourcePlace place,
               std::string_view area) {
  return error.With("line", std::to_string(place.line))
      .With("column", std::to_string(place.column))
      .With("index", std::to_string(UnitsBefore(code, place)))
      .With("area", std::string(area));
}

}  // namespace

Status CodeError(const Definition& definition, std::span<const Status> problems) {
  std::string all;
  for (const Status& problem : problems) {
    if (!all.empty()) all += "\n";
    if (const Place& place = problem.place(); place.line > 0) {
      all += fmt::format("{}.js:{}:{}: ", definition.name, place.line, place.column);
    }
    all += problem.message();
  }
  const Status& first = problems.front();
  const Place& place = first.place();
  return Located(Error(Code::kInvalidArgument, first.id(), "{}", all), definition.code,
                 {.line = place.line, .column = place.column},
                 place.line > 0 ? kCode : AreaOf(first));
}

Status CodeError(const Definition& definition, const PreparedSource& source,
                 const script::Outcome& failed) {
  const int line = failed.place.line;
  const uint32_t end = PlaceAfter({}, definition.code).line;
  // An end that comes too early is after the last line.
  const bool footers = std::cmp_greater(line, end) && !definition.settings.handler_footers.empty();
  if (line >= 1 && !footers) {
    const SourcePlace place =
        source.columns.ToUser({.line = static_cast<uint32_t>(line),
                               .column = static_cast<uint32_t>(failed.place.column)});
    return Located(Error(Code::kInvalidArgument, "function.compile", "{}.js:{}:{}: {}",
                         definition.name, place.line, place.column, failed.message),
                   definition.code, place, kCode);
  }
  // The lines of headers count from the first, those of footers from the handler's last.
  const int before = footers ? static_cast<int>(end) : source.first_line - 1;
  const SourcePlace place{.line = static_cast<uint32_t>(line - before),
                          .column = static_cast<uint32_t>(failed.place.column)};
  return Located(Error(Code::kInvalidArgument, "function.compile", "{}:{}:{}: {}",
                       footers ? "handler_footers" : "handler_headers", place.line, place.column,
                       failed.message),
                 "", place, footers ? kFooters : kHeaders);
}

}  // namespace sluice::function
