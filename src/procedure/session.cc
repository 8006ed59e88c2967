#include "procedure/session.h"

#include <algorithm>

namespace sluice::procedure {

int64_t ResultCodeOf(const Status& status) {
  if (status.id() == "lua.conversion") return kConversion;
  switch (status.code()) {
    case Code::kOk:
      return kOk;
    case Code::kAlreadyExists:
      return kDuplicate;
    case Code::kConflict:
      return kVerify;
    default:
      return kFailed;
  }
}

query::RunRequest Session::Request(lua::Call& call) {
  if (begun && transaction == nullptr) {
    transaction = std::make_unique<db::Transaction>(engine.database());
  }
  query::RunRequest made;
  made.user = request.user;
  made.read_only = request.read_only;
  made.authorize = request.authorize;
  made.system_rows = request.system_rows;
  made.transaction = transaction != nullptr ? transaction.get() : request.transaction;
  made.cancelled = cancelled;
  const uint64_t left = call.RemainingMs();
  if (left != lua::Call::kNoLimit) made.timeout_ms = std::max<uint64_t>(left, 1);
  return made;
}

int64_t Session::Note(const Status& status) {
  last_error = status.ok() ? "" : status.message();
  return ResultCodeOf(status);
}

}  // namespace sluice::procedure
