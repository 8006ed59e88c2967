// Status and Result: how every fallible call of this project reports failure.
//
// A Status is OK or an error: a Code that callers act on, a stable id that users see and look up in
// docs/errors/, and a message that says what was expected and what was found. It may carry a place
// (file, line, column) and further fields for the error's JSON form. Copies share the immutable
// payload, so a Status is one pointer and passing it between threads is safe.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sluice {

enum class Code : uint8_t {
  kOk,
  kInvalidArgument,  // the caller sent something malformed: it will never work as it is
  kNotFound,
  kAlreadyExists,
  kConflict,  // a precondition (CAS, read set, cursor) no longer holds
  kUnauthenticated,
  kForbidden,
  kTooLarge,
  kOverloaded,  // a bounded resource is full: worth trying again later
  kTimeout,
  kCancelled,
  kUnavailable,  // starting, draining, or a peer that can't be reached
  kUnsupported,
  kNoSpace,
  kIo,
  kCorruption,  // stored bytes are damaged
  kInternal,
};

std::string_view CodeName(Code code);

// The place of an error in a user's text. Lines and columns count from 1; 0 means unknown.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

class [[nodiscard]] Status {
 public:
  Status() = default;

  // `id` is dotted lower case ("document.not_found") and has a line in docs/errors/README.md.
  Status(Code code, std::string_view id, std::string message);

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  const std::string& id() const;
  const std::string& message() const;
  const Place& place() const;
  const std::map<std::string, std::string>& fields() const;

  // Copies with more information. On an OK status they return OK.
  Status At(Place place) const;
  Status With(std::string key, std::string value) const;
  Status Prefixed(std::string_view context) const;

  // "id: message (file:line:column)", for logs and terminals.
  std::string ToString() const;

 private:
  struct Rep {
    Code code;
    std::string id;
    std::string message;
    Place place;
    std::map<std::string, std::string> fields;
  };
  explicit Status(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

  std::shared_ptr<const Rep> rep_;
};

inline Status OkStatus() { return Status(); }

// Error(Code::kNotFound, "document.not_found", "no document '{}' in {}", key, keyspace)
template <typename... Args>
Status Error(Code code, std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, id, fmt::format(format, std::forward<Args>(args)...));
}

template <typename T>
using Result = std::expected<T, Status>;

inline std::unexpected<Status> Unexpected(Status status) {
  return std::unexpected<Status>(std::move(status));
}

// The same as Error, for functions that return a Result.
template <typename... Args>
std::unexpected<Status> Fail(Code code, std::string_view id, fmt::format_string<Args...> format,
                             Args&&... args) {
  return std::unexpected<Status>(
      Status(code, id, fmt::format(format, std::forward<Args>(args)...)));
}

namespace internal {
// Lets the macros below be used in functions that return Status and in ones that return Result.
class Propagated {
 public:
  explicit Propagated(Status status) : status_(std::move(status)) {}
  operator Status() && { return std::move(status_); }  // NOLINT(google-explicit-constructor)
  template <typename T>
  operator Result<T>() && {  // NOLINT(google-explicit-constructor)
    return std::unexpected<Status>(std::move(status_));
  }

 private:
  Status status_;
};
inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
const Status& StatusOf(const Result<T>& result) {
  return result.error();
}
}  // namespace internal

}  // namespace sluice

#define SLUICE_CONCAT_(a, b) a##b
#define SLUICE_CONCAT(a, b) SLUICE_CONCAT_(a, b)

#define RETURN_IF_ERROR(expr)                                           \
  do {                                                                  \
    ::sluice::Status status_of_call = (expr);                           \
    if (!status_of_call.ok()) {                                         \
      return ::sluice::internal::Propagated(std::move(status_of_call)); \
    }                                                                   \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_(SLUICE_CONCAT(result_of_call_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_(result, lhs, expr)                                     \
  auto result = (expr);                                                          \
  if (!result) return ::sluice::internal::Propagated(std::move(result).error()); \
  lhs = std::move(*result)
