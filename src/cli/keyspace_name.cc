#include "cli/keyspace_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace sluice::cli {
namespace {

constexpr size_t kMaxNameBytes = 100;

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '%';
}

}  // namespace

Status CheckKeyspacePart(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, IsNameCharacter)) {
    return OkStatus();
  }
  return Error(Code::kInvalidArgument, "cli.invalid_name",
               "{} '{}': expected 1 to {} letters, digits, '_', '-' or '%'", what, name,
               kMaxNameBytes);
}

Status CheckKeyspace(std::string_view text) {
  const auto name = KeyspaceName::Parse(text);
  return name ? OkStatus() : name.error();
}

Result<KeyspaceName> KeyspaceName::Parse(std::string_view text, Wildcards wildcards) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t dot = std::min(text.find('.', from), text.size());
    parts.emplace_back(text.substr(from, dot - from));
    from = dot + 1;
  }
  if (parts.size() != 1 && parts.size() != 3) {
    return Fail(Code::kInvalidArgument, "cli.invalid_name",
                "expected a keyspace such as shop or shop.inventory.items, found '{}'", text);
  }
  KeyspaceName name;
  name.bucket = parts[0];
  if (parts.size() == 3) {
    name.scope = parts[1];
    name.collection = parts[2];
  }
  RETURN_IF_ERROR(CheckKeyspacePart("bucket", name.bucket));
  const auto all = [&](const std::string& part) {
    return wildcards == Wildcards::kAllowed && part == "*";
  };
  if (!all(name.scope)) RETURN_IF_ERROR(CheckKeyspacePart("scope", name.scope));
  if (!all(name.collection)) RETURN_IF_ERROR(CheckKeyspacePart("collection", name.collection));
  return name;
}

}  // namespace sluice::cli
