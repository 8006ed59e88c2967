// CHECK: an invariant of our own code, on in release builds too. It must not be reachable from
// input; wrong input is reported with a Status.
#pragma once

namespace sluice::internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace sluice::internal

#define CHECK(condition)                                \
  (__builtin_expect(static_cast<bool>(condition), true) \
       ? static_cast<void>(0)                           \
       : ::sluice::internal::CheckFailed(__FILE__, __LINE__, #condition))
