// The statement and the server it runs on: users, versions, names; and ending a statement.
#include <algorithm>
#include <array>

#include <openssl/evp.h>

#include "json/print.h"
#include "query/functions/arguments.h"
#include "query/functions/function.h"
#include "query/functions/text.h"

#ifndef SLUICE_VERSION
#error "SLUICE_VERSION must be defined"
#endif

namespace sluice::query {
namespace {

// 16 bytes as 8-4-4-4-12 hex digits, marked with the version of the UUID.
std::string UuidText(std::array<uint8_t, 16> bytes, int version) {
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0f) | (version << 4));
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    fmt::format_to(std::back_inserter(out), "{:02x}", bytes[i]);
  }
  return out;
}

Value Uuid(FunctionContext& context, Args) {
  std::array<uint8_t, 16> bytes{};
  for (size_t half = 0; half < 16; half += 8) {
    uint64_t chance = context.Random();
    for (size_t i = 0; i < 8; ++i, chance >>= 8) bytes[half + i] = static_cast<uint8_t>(chance);
  }
  return UuidText(bytes, 4);
}

Value Version(FunctionContext&, Args) { return SLUICE_VERSION; }

Value CurrentUser(FunctionContext& context, Args) {
  return context.user().empty() ? Value(nullptr) : Value(context.user());
}

Value CurrentUsers(FunctionContext& context, Args) {
  if (context.user().empty()) return Value::EmptyArray();
  return Value::Array({context.user()});
}

Value NodeName(FunctionContext& context, Args) { return context.node_name(); }

// Made from the name, so that it is the same after a restart. An empty name is this node's; there
// are no others.
Value NodeUuid(FunctionContext& context, Args args) {
  if (!AllStrings(args)) return nullptr;
  const std::string_view name = context.node_name();
  if (!TextOf(args, 0).empty() && TextOf(args, 0) != name) return nullptr;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(name.data(), name.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<uint8_t, 16> bytes{};
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  return UuidText(bytes, 5);
}

Value Abort(FunctionContext& context, Args args) {
  const std::string reason = args[0]->is_string()    ? std::string(args[0]->AsString())
                             : args[0]->is_missing() ? "missing"
                                                     : json::ToText(*args[0]);
  context.Fail(QueryError(QueryCode::kAborted, "Abort: {}", reason));
  return nullptr;
}

// FINDERR(number or part of an id): the errors of queries, NULL when none is meant.
Value FindErr(FunctionContext&, Args args) {
  const auto number = WholeNumber(*args[0]);
  if (!number && !args[0]->is_string()) return nullptr;
  std::vector<Value> found;
  for (const QueryErrorInfo& error : QueryErrors()) {
    const bool meant = number ? *number == static_cast<int>(error.number)
                              : error.id.find(ToLowerAscii(TextOf(args, 0))) != error.id.npos;
    if (!meant) continue;
    found.push_back(
        Value::Object({{"code", static_cast<int>(error.number)}, {"symbol", error.id}}));
  }
  return found.empty() ? Value(nullptr) : Value::Array(std::move(found));
}

constexpr ScalarFunction kMetaFunctions[] = {
    {"uuid", 0, 0, Uuid, Unknowns::kPropagate, Volatility::kVolatile},
    {"version", 0, 0, Version},
    {"ds_version", 0, 0, Version},
    {"min_version", 0, 0, Version},
    {"current_user", 0, 0, CurrentUser, Unknowns::kPropagate, Volatility::kStatement},
    {"current_users", 0, 0, CurrentUsers, Unknowns::kPropagate, Volatility::kStatement},
    {"node_name", 0, 0, NodeName, Unknowns::kPropagate, Volatility::kStatement},
    {"node_uuid", 1, 1, NodeUuid, Unknowns::kPropagate, Volatility::kStatement},
    {"abort", 1, 1, Abort, Unknowns::kSeen, Volatility::kVolatile},
    {"finderr", 1, 1, FindErr},
};

}  // namespace

FunctionFamily MetaFunctions() { return {kMetaFunctions, {}}; }

}  // namespace sluice::query
