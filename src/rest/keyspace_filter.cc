#include "rest/keyspace_filter.h"

#include <algorithm>

namespace sluice::rest {
namespace {

std::unexpected<Status> BadKeyspace(std::string_view text) {
  return Fail(Code::kInvalidArgument, "http.bad_parameter",
              "expected bucket, bucket.scope or bucket.scope.collection, got '{}'", text);
}

Result<KeyspacePrefix> ParsePrefix(std::string_view text) {
  KeyspacePrefix prefix(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      prefix.back() += text[++i];
    } else if (text[i] == '.') {
      prefix.emplace_back();
    } else {
      prefix.back() += text[i];
    }
  }
  const bool empty = std::ranges::any_of(prefix, [](const auto& part) { return part.empty(); });
  if (empty || prefix.size() > 3) return BadKeyspace(text);
  return prefix;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<std::vector<KeyspacePrefix>> ParseList(std::string_view text) {
  std::vector<KeyspacePrefix> list;
  for (const std::string_view part : Split(text, ',')) {
    ASSIGN_OR_RETURN(KeyspacePrefix prefix, ParsePrefix(part));
    list.push_back(std::move(prefix));
  }
  return list;
}

bool Fits(const KeyspacePrefix& prefix, const db::KeyspaceName& keyspace) {
  const std::string* parts[] = {&keyspace.bucket, &keyspace.scope, &keyspace.collection};
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (prefix[i] != *parts[i]) return false;
  }
  return true;
}

bool FitsAny(const std::vector<KeyspacePrefix>& list, const db::KeyspaceName& keyspace) {
  return std::ranges::any_of(list, [&](const auto& prefix) { return Fits(prefix, keyspace); });
}

}  // namespace

Result<KeyspaceFilter> KeyspaceFilter::Parse(std::string_view include, std::string_view exclude) {
  if (!include.empty() && !exclude.empty()) {
    return Fail(Code::kInvalidArgument, "http.bad_parameter",
                "include and exclude can't be used together");
  }
  KeyspaceFilter filter;
  ASSIGN_OR_RETURN(filter.include_, ParseList(include));
  ASSIGN_OR_RETURN(filter.exclude_, ParseList(exclude));
  return filter;
}

bool KeyspaceFilter::Takes(const db::KeyspaceName& keyspace) const {
  if (!include_.empty()) return FitsAny(include_, keyspace);
  return !FitsAny(exclude_, keyspace);
}

Result<KeyspaceRemap> KeyspaceRemap::Parse(std::string_view text) {
  KeyspaceRemap remap;
  for (const std::string_view pair : Split(text, ',')) {
    const std::vector<std::string_view> sides = Split(pair, ':');
    if (sides.size() != 2) {
      return Fail(Code::kInvalidArgument, "http.bad_parameter",
                  "parameter 'remap': expected FROM:TO, got '{}'", pair);
    }
    ASSIGN_OR_RETURN(KeyspacePrefix from, ParsePrefix(sides[0]));
    ASSIGN_OR_RETURN(KeyspacePrefix to, ParsePrefix(sides[1]));
    if (from.size() != to.size()) return BadKeyspace(pair);
    remap.pairs_.emplace_back(std::move(from), std::move(to));
  }
  return remap;
}

void KeyspaceRemap::Apply(db::KeyspaceName* keyspace) const {
  for (const auto& [from, to] : pairs_) {
    if (!Fits(from, *keyspace)) continue;
    std::string* parts[] = {&keyspace->bucket, &keyspace->scope, &keyspace->collection};
    for (size_t i = 0; i < to.size(); ++i) *parts[i] = to[i];
    return;
  }
}

}  // namespace sluice::rest
