// A failed event as the list of failures keeps it: a text that lists show, and the data that the
// handler saw (docs/formats/failures.md).
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "db/database.h"
#include "failure/failure.h"
#include "function/event.h"
#include "json/value.h"
#include "timer/timer.h"

namespace sluice::function {

// Classes of failures (failure::Problem::kind). kMissing: the timer's callback, or the document of
// an event without data, does not exist. kUnreadable: the document's migration fails. kCommit: the
// writes of the handler can't be committed.
inline constexpr std::string_view kException = "exception";
inline constexpr std::string_view kTimeout = "timeout";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kMissing = "missing";
inline constexpr std::string_view kUnreadable = "unreadable";
inline constexpr std::string_view kCommit = "commit";
inline constexpr std::string_view kProblemKinds[] = {kException, kTimeout,    kMemory,
                                                     kMissing,   kUnreadable, kCommit};

// The list keeps at most so many bytes of an event's data. Of a larger event, and of one whose
// document can't be read, it keeps only the names; a retry reads the document as it is then.
inline constexpr size_t kMaxKeptEventBytes = 64 << 10;

struct FailedEvent {
  std::string text;  // JSON
  std::string payload;
};
FailedEvent KeptEvent(const Event& event, const db::KeyspaceName& keyspace);
FailedEvent KeptEvent(const timer::Timer& timer);

// An event that runs again. Only the fields that a handler sees are set.
using EventAgain = std::variant<Event, timer::Timer>;
// Error failure.document_gone (kNotFound) when the document has to be read and does not exist.
Result<EventAgain> AgainOf(const db::Database& database, const failure::Failure& failure,
                           std::string_view payload);

// The form that REST shows: in a list, and of one event with its data.
json::Value PrintEvent(const failure::Failure& failure);
Result<json::Value> PrintEvent(const failure::Failure& failure, std::string_view payload);

// Puts another document, or another context of a timer, into the event.
Status EditEvent(const json::Value& changes, failure::Failure* failure, std::string* payload);

}  // namespace sluice::function
