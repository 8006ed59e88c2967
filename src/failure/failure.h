// A failed event: the event, the error, and the number of attempts. Its owner handles the event,
// for example a function.
//
// Each has two rows in the failure family (docs/formats/failures.md): one with the fields that
// lists show, and one with the event's data, which may be large. The rows do not hold the time of
// the next retry: that is a timer of RetryOwner, whose reference is the failure's stamp. A failure
// without a timer is dead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/types.h"

namespace sluice::failure {

// Why an attempt failed.
struct Problem {
  std::string kind;     // its class, one of a few that the owner has: "exception", "timeout"
  std::string type;     // of the error in the user's language, "TypeError"; may be empty
  std::string message;  // may be cut, see kMaxMessageBytes
  std::string stack;
  uint32_t line = 0;  // in the user's text; 0 for "not known"
  uint32_t column = 0;

  bool operator==(const Problem&) const = default;
};

// An owner's failures sort by their ids, and so by their first times.
struct FailureId {
  uint64_t stamp = 0;     // of the database, Database::NewCas
  db::ShardId shard = 0;  // of the commit that made the failure: its rows and its retry are there

  auto operator<=>(const FailureId&) const = default;
};
// As users see it: "1700000000000000000", and in a shard other than 0 "1700000000000000000-3".
std::string ToText(const FailureId& id);
Result<FailureId> ParseFailureId(std::string_view text);  // failure.bad_id

struct Failure {
  FailureId id;
  std::string key;    // events of one key are handled in one lane
  std::string event;  // the owner's description of the event, without its data, for lists
  Problem problem;    // of the last attempt
  uint32_t attempts = 1;
  uint32_t edits = 0;  // of the data, by people
  uint64_t first_ms = 0;
  uint64_t last_ms = 0;
  uint64_t payload_bytes = 0;

  bool operator==(const Failure&) const = default;
};

inline constexpr size_t kMaxMessageBytes = 4096;
inline constexpr size_t kMaxStackBytes = 8192;
// As it is kept: texts that are too long end with "…".
Problem Shortened(Problem problem);

// The approximate size on disk.
size_t StoredBytes(const Failure& failure);

// Keys within the shard. Owners' names have no zero byte. OwnerPrefix begins all keys of an owner,
// ListPrefix those of the rows that lists show.
std::string OwnerPrefix(std::string_view owner);
std::string ListPrefix(std::string_view owner);
std::string FailureKey(std::string_view owner, uint64_t stamp);
std::string PayloadKey(std::string_view owner, uint64_t stamp);
Result<std::string_view> OwnerOf(std::string_view key);

std::string EncodeFailure(const Failure& failure);
std::string EncodePayload(std::string_view payload);
// The row does not say its shard: the decoded id has shard 0.
Result<Failure> DecodeFailure(std::string_view key, std::string_view stored);
Result<std::string> DecodePayload(std::string_view stored);

// The owner of the timers that say when an owner's failures are tried again; their callback and,
// from the failure's stamp, their reference. A timer is in the shard of its failure.
std::string RetryOwner(std::string_view owner);
inline constexpr std::string_view kRetryPrefix = "retry:";
inline constexpr std::string_view kRetryCallback = "retry";
std::string RetryReference(uint64_t stamp);
Result<uint64_t> StampOfReference(std::string_view reference);

}  // namespace sluice::failure
