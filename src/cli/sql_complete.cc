#include "cli/sql_complete.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <span>

#include "cli/keyspace_name.h"
#include "cli/sql_shell.h"
#include "cli/sql_words.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kCommands[] = {"\\?", "\\c", "\\d", "\\h",
                                          "\\i", "\\o", "\\q", "\\timing"};
constexpr std::string_view kFormats[] = {"json", "lines", "table"};

bool IsCompletedCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_.`-%").contains(c);
}

std::string_view LastWord(std::string_view text) {
  size_t from = text.size();
  while (from > 0 && IsCompletedCharacter(text[from - 1])) --from;
  return text.substr(from);
}

bool BeginsWith(std::string_view word, std::string_view typed) {
  return LowerCase(word.substr(0, typed.size())) == LowerCase(typed);
}

// SELECT for SEL, select for sel.
std::string InCaseOf(std::string_view typed, std::string_view word) {
  std::string text(word.substr(typed.size()));
  if (!typed.empty() && std::islower(static_cast<unsigned char>(typed.back()))) {
    text = LowerCase(text);
  }
  return std::string(typed) + text;
}

void AddWords(std::string_view typed, std::span<const std::string_view> words,
              std::string_view after, std::set<std::string>* found) {
  for (const std::string_view word : words) {
    if (BeginsWith(word, typed)) found->insert(InCaseOf(typed, word) + std::string(after));
  }
}

void AddKeyspaces(std::string_view typed, const std::vector<std::string>& keyspaces,
                  std::string_view context, std::set<std::string>* found) {
  const std::string prefix = std::string(context) + ".";
  for (const std::string& name : keyspaces) {
    if (name.starts_with(typed)) found->insert(name);
    if (context.empty() || !name.starts_with(prefix)) continue;
    const std::string inside = name.substr(prefix.size());
    if (inside.starts_with(typed)) found->insert(inside);
  }
}

}  // namespace

std::vector<std::string> SqlCompletions(std::string_view before_cursor,
                                        const std::vector<std::string>& keyspaces,
                                        std::string_view context) {
  std::set<std::string> found;
  const std::string_view typed = LastWord(before_cursor);
  if (before_cursor.starts_with('\\') && !before_cursor.contains(' ')) {
    for (const std::string_view command : kCommands) {
      if (command.starts_with(before_cursor)) found.emplace(command);
    }
  } else if (before_cursor.starts_with("\\o ")) {
    AddWords(typed, kFormats, "", &found);
  } else if (before_cursor.starts_with("\\h ")) {
    AddWords(typed, SqlKeywords(), "", &found);
  } else {
    AddKeyspaces(typed, keyspaces, context, &found);
    if (!before_cursor.starts_with('\\') && !typed.empty()) {
      AddWords(typed, SqlKeywords(), "", &found);
      AddWords(typed, SqlFunctions(), "(", &found);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> SqlShell::Complete(std::string_view before_cursor) {
  return SqlCompletions(before_cursor, KeyspaceNames(), session_->settings().context);
}

Status CheckSqlContext(std::string_view text) {
  if (text.empty()) return OkStatus();
  const size_t dot = std::min(text.find('.'), text.size());
  RETURN_IF_ERROR(CheckKeyspacePart("bucket", text.substr(0, dot)));
  return dot == text.size() ? OkStatus() : CheckKeyspacePart("scope", text.substr(dot + 1));
}

}  // namespace sluice::cli
