#include "function/source/transpile.h"

#include <algorithm>

#include "base/utf8.h"

namespace sluice::function {
namespace {

using Errors = std::vector<Status>;

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

void Append(Errors more, std::string_view context, Errors* errors) {
  for (const Status& error : more) {
    errors->push_back(Error(error.code(), error.id(), "{}: {}", context, error.message()));
  }
}

// Text that the handler's author put around the code.
void CheckAround(const std::string& text, std::string_view what, Errors* errors) {
  const TokenList tokens = Tokenize(text);
  Append(ForbiddenConstructs(tokens, DeclaredNames(tokens)), what, errors);
  if (const Status syntax = SyntaxStatus(tokens); !syntax.ok()) Append({syntax}, what, errors);
}

// The text before the handler's first line. It ends with a new line unless it is empty.
std::string Before(const PrepareOptions& options, Errors* errors) {
  std::string text = Lines(options.headers);
  CheckAround(text, "handler_headers", errors);
  for (const ConstantBinding& constant : options.constants) {
    if (Status status = CheckConstant(constant); !status.ok()) {
      errors->push_back(std::move(status));
      continue;
    }
    const TokenList tokens = Tokenize(constant.literal);
    Append(ForbiddenConstructs(tokens, DeclaredNames(tokens)),
           fmt::format("constant binding '{}'", constant.alias), errors);
    // The semicolon is on a line of its own, as a comment may end the literal.
    text += fmt::format("const {} = {}\n;\n", constant.alias, constant.literal);
  }
  return text;
}

Status CheckText(std::string_view code) {
  if (code.size() > kMaxCodeBytes) {
    return Error(Code::kTooLarge, "function.too_large", "the handler has {} bytes; the most is {}",
                 code.size(), kMaxCodeBytes);
  }
  if (!IsValidUtf8(code)) {
    return Error(Code::kInvalidArgument, "function.syntax", "the handler is not valid UTF-8");
  }
  return OkStatus();
}

// The handler's text with a call for each statement.
std::string WithCalls(std::string_view code, SqlConsistency consistency, PreparedSource* source) {
  std::string text;
  size_t copied = 0;
  SourcePlace user;   // of the copied text, in the handler
  SourcePlace place;  // and here
  for (const EmbeddedStatement& statement : source->statements) {
    const std::string_view between = code.substr(copied, statement.offset - copied);
    const std::string call = CallText(statement, consistency);
    text.append(between).append(call);
    place = PlaceAfter(place, between);
    source->columns.Add(place, statement.place.column, /*fixed=*/true);
    place = PlaceAfter(place, call);
    copied = statement.offset + statement.length;
    user = PlaceAfter(statement.place, code.substr(statement.offset, statement.length));
    source->columns.Add(place, user.column, /*fixed=*/false);
  }
  text.append(code.substr(copied));
  // A hashbang is a comment at the very start only.
  if (text.starts_with("#!")) text.replace(0, 2, "//");
  return text;
}

}  // namespace

SourcePlace ColumnMap::ToUser(SourcePlace place) const {
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), place,
      [](const SourcePlace& wanted, const Segment& segment) { return wanted < segment.place; });
  if (after == segments_.begin()) return place;
  const Segment& segment = *std::prev(after);
  if (segment.place.line != place.line) return place;
  const uint32_t beyond = segment.fixed ? 0 : place.column - segment.place.column;
  return {.line = place.line, .column = segment.user + beyond};
}

std::expected<PreparedSource, std::vector<Status>> Prepare(std::string_view code,
                                                           const PrepareOptions& options) {
  Errors errors;
  if (Status status = CheckText(code); !status.ok()) return std::unexpected(Errors{status});
  std::string before = Before(options, &errors);
  const std::string after = Lines(options.footers);
  CheckAround(after, "handler_footers", &errors);
  std::set<std::string> bindings = options.bindings;
  for (const ConstantBinding& constant : options.constants) bindings.insert(constant.alias);

  EmbeddedSql sql = FindEmbeddedSql(code, bindings);
  CheckedProgram program = CheckProgram(code, sql.tokens, bindings, options.kind);
  for (Status& error : sql.errors) program.errors.push_back(std::move(error));
  SortByPlace(&program.errors);
  errors.insert(errors.end(), program.errors.begin(), program.errors.end());
  if (!errors.empty()) return std::unexpected(std::move(errors));

  std::set<std::string> known = DeclaredNames(sql.tokens);
  for (const std::string& around : {before, after}) known.merge(DeclaredNames(Tokenize(around)));
  known.merge(bindings);
  program.facts.warnings = NameWarnings(sql.tokens, known);
  for (Warning& warning : EntryPointWarnings(sql.tokens, program.facts)) {
    program.facts.warnings.push_back(std::move(warning));
  }
  std::ranges::stable_sort(program.facts.warnings, {}, &Warning::place);

  PreparedSource source{.statements = std::move(sql.statements), .facts = std::move(program.facts)};
  source.first_line = 2 - static_cast<int>(PlaceAfter({}, before).line);
  source.handler_offset = before.size();
  source.text = std::move(before) + WithCalls(code, options.consistency, &source) + '\n' + after;
  return source;
}

}  // namespace sluice::function
