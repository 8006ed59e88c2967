// Shared by the natives that work on documents: the arguments that name a document's place, and the
// form of failures.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"
#include "json/print.h"
#include "script/call.h"

namespace sluice::function {

// Arguments of the natives that name a place: binding, key, scope, collection.
inline constexpr size_t kBinding = 0;
inline constexpr size_t kKey = 1;
inline constexpr size_t kNames = 2;
inline constexpr size_t kAfterPlace = 4;

// Whether a handler gets the failure as a result, not as an exception.
inline bool IsSoft(const Status& status) {
  return status.id() == "document.not_found" || status.id() == "document.exists" ||
         status.id() == "document.cas_mismatch";
}

inline bool IsMismatch(const Status& status) { return status.id() == "document.cas_mismatch"; }

// A CAS in the form that handlers see; empty when the text is no number.
inline std::optional<db::Cas> CasOf(std::string_view text) {
  db::Cas cas = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cas);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return cas;
}

// [error id or empty, stamp]
inline void ReturnStamp(script::Call& call, const Status& status, db::Cas cas) {
  const std::string stamp = std::to_string(cas);
  call.ReturnList({std::string_view(status.ok() ? "" : status.id()), std::string_view(stamp)});
}

}  // namespace sluice::function
