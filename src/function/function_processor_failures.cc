// A function's events that fail: kept, and tried again.
#include <charconv>

#include "base/log.h"
#include "function/function_processor.h"

namespace sluice::function {
namespace {

std::string_view KindOf(script::Ended ended) {
  switch (ended) {
    case script::Ended::kTimedOut:
      return kTimeout;
    case script::Ended::kOutOfMemory:
      return kMemory;
    default:
      return kException;
  }
}

// The first place of a stack that is in the function's own text ("name.js:LINE:COLUMN"). The frames
// above it are the library's.
SourcePlace PlaceInStack(std::string_view stack, const std::string& file) {
  SourcePlace place{.line = 0, .column = 0};
  const size_t found = stack.find(file + ":");
  if (found == std::string_view::npos) return place;
  const std::string_view rest = stack.substr(found + file.size() + 1);
  const char* const end = rest.data() + rest.size();
  const auto line = std::from_chars(rest.data(), end, place.line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') return place;
  std::from_chars(line.ptr + 1, end, place.column);
  return place;
}

}  // namespace

failure::Problem FunctionProcessor::ProblemOf(const script::Outcome& outcome) const {
  failure::Problem problem;
  problem.kind = KindOf(outcome.ended);
  problem.type = outcome.type;
  problem.message = outcome.message;
  problem.stack = outcome.stack;
  SourcePlace place = PlaceInStack(outcome.stack, context_.definition->name + ".js");
  if (place.line == 0 && outcome.stack.empty()) {
    place = {.line = static_cast<uint32_t>(outcome.place.line),
             .column = static_cast<uint32_t>(outcome.place.column)};
  }
  if (place.line == 0) return problem;
  place = context_.prepared.source->columns.ToUser(place);
  problem.line = place.line;
  problem.column = place.column;
  return problem;
}

std::optional<uint64_t> FunctionProcessor::NextTryMs(const failure::Problem& problem,
                                                     uint32_t attempts) {
  const auto delay_ms =
      failure::DelayMs(context_.definition->settings.retry, problem, attempts, random_);
  if (!delay_ms) return std::nullopt;
  return context_.services.clock.WallMs() + *delay_ms;
}

Status FunctionProcessor::Keep(const std::string& key, FailedEvent event,
                               failure::Problem problem) {
  failure::Failure failure;
  failure.id = effects_->failures().NewId();
  failure.key = key;
  failure.event = std::move(event.text);
  failure.first_ms = failure.last_ms = context_.services.clock.WallMs();
  const std::optional<uint64_t> next_ms = NextTryMs(problem, failure.attempts);
  failure.problem = failure::Shortened(std::move(problem));
  return effects_->failures().Add(std::move(failure), event.payload, next_ms);
}

// A failure may have been dropped or tried since its timer was handed out; then there is none.
Status FunctionProcessor::RunRetry(const Event& event) {
  ASSIGN_OR_RETURN(std::optional<failure::WriteSet::Taken> taken,
                   effects_->failures().Take(*event.timer));
  if (!taken) return OkStatus();
  std::string what;
  ASSIGN_OR_RETURN(std::optional<failure::Problem> problem, TryAgain(*taken, &what));
  if (!problem) {
    ++effects_->counts().retry_success;
    return effects_->failures().Remove(taken->failure);
  }
  failure::Failure& failure = taken->failure;
  ++effects_->counts().retry_failure;
  ++failure.attempts;
  failure.last_ms = context_.services.clock.WallMs();
  Log(fmt::format("attempt {} of {}", failure.attempts, what), *problem);
  const std::optional<uint64_t> next_ms = NextTryMs(*problem, failure.attempts);
  failure.problem = failure::Shortened(std::move(*problem));
  return effects_->failures().Update(failure, next_ms);
}

FunctionProcessor::Attempted FunctionProcessor::TryAgain(const failure::WriteSet::Taken& taken,
                                                         std::string* what) {
  *what = fmt::format("'{}'", taken.failure.key);
  const Result<EventAgain> again =
      AgainOf(context_.services.database, taken.failure, taken.payload);
  if (!again) {
    if (again.error().code() == Code::kIo) return Unexpected(again.error());
    failure::Problem problem;
    problem.kind = again.error().code() == Code::kNotFound ? kMissing : kUnreadable;
    problem.message = again.error().ToString();
    return problem;
  }
  if (const auto* timer = std::get_if<timer::Timer>(&*again)) {
    *what = fmt::format("timer '{}'", taken.failure.key);
    return Try(*timer);
  }
  const Event& event = std::get<Event>(*again);
  *what = fmt::format("{} of document '{}'", HandlerOf(event), event.key);
  return Try(event);
}

void FunctionProcessor::FailuresCommitted() {
  if (earliest_retry_ms_) {
    context_.timers.Created(failure::RetryOwner(context_.failures.owner()), shard_,
                            *earliest_retry_ms_);
  }
  const failure::SizeChange& change = effects_->failures().change();
  if (change.failures == 0 && change.bytes == 0) return;
  const Result<uint64_t> trimmed = context_.failures.Committed(change);
  if (trimmed) {
    context_.statistics.failures_trimmed += *trimmed;
    return;
  }
  log::Warn("a function's oldest failures can't be dropped",
            {{"function", context_.definition->name}, {"error", trimmed.error().ToString()}});
}

}  // namespace sluice::function
