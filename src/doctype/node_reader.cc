#include "doctype/node_reader.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "base/quantity.h"
#include "doctype/stamps.h"

namespace sluice::doctype {

std::string PathBelow(const std::string& where, std::string_view key) {
  return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
}

void NodeReader::Problem(const yaml::Node& node, const std::string& where,
                         const std::string& message) {
  Problem(node, where, Error(Code::kInvalidArgument, "type.invalid", "{}", message));
}

void NodeReader::Problem(const yaml::Node& node, const std::string& where, const Status& status) {
  const std::string context = where.empty() ? "type" : where;
  problems_->AddError(status.Prefixed(context).At(PlaceOf(node)));
}

void NodeReader::ForEach(const yaml::Node& node, const std::string& where,
                         std::initializer_list<std::string> known, const Visitor& visit) {
  if (!node.is_map()) {
    return Problem(node, where, fmt::format("expected a map, found {}", yaml::KindName(node.kind)));
  }
  const std::vector<std::string> names(known);
  for (const yaml::Entry& entry : node.entries) {
    const std::string path = PathBelow(where, entry.key);
    if (names.empty() || std::ranges::count(names, entry.key) > 0) {
      visit(entry, path);
    } else {
      problems_->AddError(Error(Code::kInvalidArgument, "type.unknown_key", "{}: no such key{}",
                                path, DidYouMean(entry.key, names))
                              .At({file_, entry.line, entry.column}));
    }
  }
}

std::optional<std::string> NodeReader::Text(const yaml::Node& node, const std::string& where) {
  if (node.is_scalar() && !node.text.empty()) return node.text;
  const std::string_view found = node.is_scalar() ? "an empty one" : yaml::KindName(node.kind);
  Problem(node, where, fmt::format("expected a text, found {}", found));
  return std::nullopt;
}

std::optional<std::string> NodeReader::Version(const yaml::Node& node, const std::string& where) {
  const auto text = Text(node, where);
  if (!text || !MeansNoVersion(*text)) return text;
  Problem(
      node, where,
      fmt::format("'{}' is not a version; say 'unversioned: \"1.0\"' in the type for the version "
                  "of documents that have none",
                  *text));
  return std::nullopt;
}

std::optional<uint64_t> NodeReader::Number(const yaml::Node& node, const std::string& where,
                                           uint64_t least) {
  constexpr uint64_t kMost = 1'000'000'000'000;
  uint64_t number = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto [rest, error] = std::from_chars(node.text.data(), end, number);
  if (node.is_scalar() && error == std::errc() && rest == end && number >= least &&
      number <= kMost) {
    return number;
  }
  Problem(node, where,
          fmt::format(
              "expected a whole number from {} to {}, found {}", least, kMost,
              node.is_scalar() ? "'" + node.text + "'" : std::string(yaml::KindName(node.kind))));
  return std::nullopt;
}

std::optional<uint64_t> NodeReader::DurationMs(const yaml::Node& node, const std::string& where) {
  const auto text = Text(node, where);
  if (!text) return std::nullopt;
  const auto duration = ParseDurationMs(*text);
  if (duration && *duration > 0) return *duration;
  if (duration) {
    Problem(node, where, "expected more than 0");
  } else {
    Problem(node, where, duration.error().message());
  }
  return std::nullopt;
}

std::optional<uint64_t> NodeReader::SizeBytes(const yaml::Node& node, const std::string& where) {
  const auto text = Text(node, where);
  if (!text) return std::nullopt;
  const auto size = ParseSizeBytes(*text);
  if (size && *size > 0) return *size;
  if (size) {
    Problem(node, where, "expected more than 0");
  } else {
    Problem(node, where, size.error().message());
  }
  return std::nullopt;
}

std::optional<size_t> NodeReader::Choice(const yaml::Node& node, const std::string& where,
                                         const std::vector<std::string>& choices) {
  const auto text = Text(node, where);
  if (!text) return std::nullopt;
  const auto found = std::ranges::find(choices, *text);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  Problem(node, where,
          fmt::format("expected one of {}; found '{}'{}", fmt::join(choices, ", "), *text,
                      DidYouMean(*text, choices)));
  return std::nullopt;
}

}  // namespace sluice::doctype
