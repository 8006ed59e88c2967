// Plays a run to its end for a test. The test gives the answers of the tasks, and the clock jumps
// from one event to the next: nothing waits, and the same answers give the same run.
//
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flow/run.h"
#include "json/value.h"

namespace sluice::flow {

// Everything that a run did.
struct Played {
  bool responded = false;
  Respond response;
  bool over = false;  // false: it does not end
  Ended ended;
  json::Value model;
  json::Value calls = json::Value::EmptyArray();  // of functions: task, route, headers and body
  json::Value sends = json::Value::EmptyArray();  // to ext: route, headers and body
  std::vector<std::string> log;
  uint64_t took_ms = 0;
};

// The answer of a function, and its time.
struct PlayedAnswer {
  TaskResult result;  // of any call
  uint64_t after_ms = 0;
  bool never = false;
};

class Player {
 public:
  using Answer = std::function<PlayedAnswer(const Call& call, uint64_t now_ms)>;
  static constexpr uint64_t kBeginMs = 1'700'000'000'000;

  // `files` may be nullptr. All of it outlives the player.
  Player(std::shared_ptr<const FlowSet> flows, const Files* files, Answer answer,
         uint64_t begin_ms = kBeginMs)
      : answer_(std::move(answer)),
        begin_ms_(begin_ms),
        files_(files),
        run_(std::move(flows), files),
        now_ms_(begin_ms) {}

  // Is given the run before each step, and may put another in its place.
  void BeforeStep(std::function<void(Run* run)> hook) { before_step_ = std::move(hook); }

  // Cancels it at that time, if it is given. Once.
  Played Play(const Start& start, uint64_t cancel_at_ms = 0);

  // "=body.a" and "=headers.b" in the texts of a value stand for parts of the call.
  static json::Value Filled(const json::Value& value, const Call& call);

 private:
  static constexpr int kMostSteps = 20'000;

  void Step(const Event& event);
  void Act(Call& call);
  void Act(const SubflowBegan& /*began*/) {}
  void Act(const SubflowEnded& /*ended*/) {}
  void Act(Abandon& abandon);
  void Act(Send& send);
  void Act(Respond& respond);
  void Act(const WriteFile& file);
  void Act(LogLine& line) { played_.log.push_back(std::move(line.message)); }
  void Act(Ended& ended) { played_.ended = std::move(ended); }

  const Answer answer_;
  const uint64_t begin_ms_;
  std::function<void(Run* run)> before_step_;
  const Files* const files_;
  Run run_;
  uint64_t now_ms_;
  uint64_t sequence_ = 0;
  std::map<std::pair<uint64_t, uint64_t>, TaskResult> replies_;  // by time, then by order
  Played played_;
};

// Answers by name: {body, status, headers, stack, after, never}, or a list of them that are given
// in turn, and then the last again and again.
class CannedAnswers {
 public:
  explicit CannedAnswers(json::Value answers) : answers_(std::move(answers)) {}

  bool Has(std::string_view name) const { return answers_.Find(name) != nullptr; }
  // The next one as it is written. It must have one.
  json::Value Next(const std::string& name);
  static PlayedAnswer ToAnswer(const json::Value& written, const Call& call);

 private:
  const json::Value answers_;
  std::map<std::string, size_t> turns_;
};

}  // namespace sluice::flow
