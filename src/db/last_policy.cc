#include "db/last_policy.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::db {
namespace {

// The rows of types have their text as the JSON printer makes it.
std::string Identity(const KeyspaceName& keyspace, std::span<const TypeDefinition> types) {
  std::vector<std::pair<std::string, std::string>> sorted;
  for (const TypeDefinition& type : types) {
    const auto parsed = json::Parse(type.text);
    sorted.emplace_back(type.name, parsed ? json::ToText(*parsed) : type.text);
  }
  std::ranges::sort(sorted);
  std::string identity;
  AppendString(&identity, keyspace.ToString());
  for (const auto& [name, text] : sorted) {
    AppendString(&identity, name);
    AppendString(&identity, text);
  }
  return identity;
}

}  // namespace

Result<std::shared_ptr<const DocumentPolicy>> LastPolicy::Compile(
    const KeyspaceName& keyspace, std::span<const TypeDefinition> types) const {
  if (compiler_ == nullptr) {
    return Fail(Code::kUnsupported, "type.unsupported",
                "this server was started without document types");
  }
  std::string identity = Identity(keyspace, types);
  {
    const auto last = last_.Lock();
    if (last->first == identity) return last->second;
  }
  ASSIGN_OR_RETURN(auto policy, compiler_->Compile(keyspace, types));
  Entry replaced(std::move(identity), policy);  // ends without the lock, which is a leaf
  std::swap(*last_.Lock(), replaced);
  return policy;
}

}  // namespace sluice::db
