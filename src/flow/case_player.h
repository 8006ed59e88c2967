// Plays the cases of tests/flows: a synchronous driver of runs with canned functions and a clock
// that jumps. For tests only.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/builtin.h"
#include "flow/compile.h"
#include "flow/run.h"
#include "flow/run_codec.h"
#include "flow/text_form.h"
#include "json/number.h"
#include "json/parse.h"
#include "json/print.h"
#include "yaml/yaml.h"

namespace sluice::flow {

// Plain scalars that look like JSON are that; everything else is text.
inline json::Value ToValue(const yaml::Node& node) {
  if (node.is_null()) return nullptr;
  if (node.is_list()) {
    json::Value list = json::Value::EmptyArray();
    for (const yaml::Node& item : node.items) list.Append(ToValue(item));
    return list;
  }
  if (node.is_map()) {
    json::Value map = json::Value::EmptyObject();
    for (const yaml::Entry& entry : node.entries) map.Set(entry.key, ToValue(entry.value));
    return map;
  }
  if (node.quoted) return json::Value(node.text);
  if (node.text == "true") return true;
  if (node.text == "false") return false;
  if (!node.text.empty() && json::NumberLength(node.text) == node.text.size()) {
    return json::NumberFromLiteral(node.text);
  }
  return json::Value(node.text);
}

inline std::string Shown(const json::Value& value) {
  return json::ToText(value, {.indent = 1, .order = json::PrintOptions::Order::kSorted});
}

// What a run did.
struct Played {
  bool responded = false;
  Respond response;
  Ended ended;
  json::Value model;
  json::Value calls = json::Value::EmptyArray();
  json::Value sends = json::Value::EmptyArray();
  std::vector<std::string> log;
  uint64_t took_ms = 0;
};

class CasePlayer {
 public:
  enum class Storing : uint8_t { kNever, kEveryStep };

  CasePlayer(std::shared_ptr<const FlowSet> flows, const Files* files, json::Value routes,
             Storing storing)
      : flows_(std::move(flows)),
        files_(files),
        routes_(std::move(routes)),
        storing_(storing),
        run_(flows_, files_) {}

  Played Play(const Start& start, uint64_t cancel_at_ms = 0) {
    Step(start);
    for (int i = 0; i < kMostSteps && !run_.ended(); ++i) {
      uint64_t next = run_.next_due_ms().value_or(~0ull);
      if (!replies_.empty()) next = std::min(next, replies_.begin()->first.first);
      if (cancel_at_ms > 0 && next >= kBegin + cancel_at_ms) {
        now_ms_ = kBegin + cancel_at_ms;
        Step(Cancel{});
        break;
      }
      now_ms_ = std::max(now_ms_, next);
      if (replies_.empty() || replies_.begin()->first.first > next) {
        Step(Tick{});
        continue;
      }
      const TaskResult result = replies_.begin()->second;
      replies_.erase(replies_.begin());
      Step(result);
    }
    EXPECT_TRUE(run_.ended()) << "the run does not end";
    played_.model = run_.model();
    played_.took_ms = now_ms_ - kBegin;
    return played_;
  }

 private:
  static constexpr int kMostSteps = 20'000;
  static constexpr uint64_t kBegin = 1'700'000'000'000;

  void Step(const Event& event) {
    if (storing_ == Storing::kEveryStep) StoreAndLoad();
    Actions actions;
    run_.Step(event, now_ms_, &actions);
    for (Action& action : actions) {
      std::visit([&](auto& each) { Act(each); }, action);
    }
  }

  // The run goes on from what its JSON text says.
  void StoreAndLoad() {
    const std::string text = json::ToText(EncodeRun(run_));
    const auto parsed = json::Parse(text, {.max_bytes = 1 << 30});
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    auto decoded = DecodeRun(*parsed, flows_, files_);
    ASSERT_TRUE(decoded) << decoded.error().ToString();
    EXPECT_EQ(json::ToText(EncodeRun(*decoded)), text);
    run_ = *std::move(decoded);
  }

  void Act(Call& call) {
    played_.calls.Append(json::Value::Object({{"task", call.task},
                                              {"route", call.route},
                                              {"headers", call.headers},
                                              {"body", call.body}}));
    if (routes_.Find(call.route) == nullptr) return RunBuiltin(call);
    const json::Value reply = ReplyOf(call);
    if (reply["never"] == json::Value(true)) return;
    TaskResult result;
    result.call = call.call;
    result.status = static_cast<int>(WholeNumberOf(reply["status"]).value_or(200));
    result.headers =
        reply.Find("headers") ? Filled(reply["headers"], call) : json::Value::EmptyObject();
    result.body = Filled(reply["body"], call);
    if (reply["stack"].is_string()) result.stack = std::string(reply["stack"].AsString());
    const auto after = static_cast<uint64_t>(WholeNumberOf(reply["after"]).value_or(0));
    replies_.emplace(std::pair(now_ms_ + after, ++sequence_), std::move(result));
  }
  void RunBuiltin(const Call& call) {
    const Builtin builtin = FindBuiltin(call.route);
    ASSERT_NE(builtin, nullptr) << call.route;
    BuiltinAnswer answer = builtin(call.headers, call.body, now_ms_);
    replies_.emplace(std::pair(now_ms_ + answer.delay_ms, ++sequence_),
                     TaskResult{call.call, answer.status, answer.headers, answer.body});
  }
  void Act(const SubflowBegan& /*began*/) {}
  void Act(const SubflowEnded& /*ended*/) {}
  void Act(Abandon& abandon) {
    std::erase_if(replies_, [&](const auto& reply) { return reply.second.call == abandon.call; });
  }
  void Act(Send& send) {
    json::Value shown = json::Value::Object({{"route", send.route}, {"headers", send.headers}});
    shown.Set("body", send.body);
    played_.sends.Append(std::move(shown));
  }
  void Act(Respond& respond) {
    EXPECT_FALSE(std::exchange(played_.responded, true)) << "a second response";
    played_.response = std::move(respond);
  }
  void Act(LogLine& line) { played_.log.push_back(std::move(line.message)); }
  void Act(Ended& ended) { played_.ended = std::move(ended); }

  // The next of a route's replies; the last one again and again.
  json::Value ReplyOf(const Call& call) {
    const json::Value& replies = routes_[call.route];
    if (!replies.is_array()) return replies;
    const size_t turn = turns_[std::string(call.route)]++;
    return replies[std::min(turn, replies.size() - 1)];
  }

  // "=body.a" and "=headers.b" stand for parts of the call.
  static json::Value Filled(const json::Value& value, const Call& call) {
    if (value.is_object()) {
      json::Value made = json::Value::EmptyObject();
      for (const json::Field& field : value.fields()) {
        made.Set(field.name(), Filled(field.value, call));
      }
      return made;
    }
    if (value.is_array()) {
      json::Value made = json::Value::EmptyArray();
      for (const json::Value& item : value.items()) made.Append(Filled(item, call));
      return made;
    }
    if (!value.is_string() || !value.AsString().starts_with('=')) return value;
    const json::Value all = json::Value::Object({{"body", call.body}, {"headers", call.headers}});
    const auto path = Path::Parse(value.AsString().substr(1), Path::Use::kRead);
    return path ? path->Get(all, {}) : value;
  }

  const std::shared_ptr<const FlowSet> flows_;
  const Files* const files_;
  const json::Value routes_;
  const Storing storing_;
  Run run_;
  uint64_t now_ms_ = kBegin;
  uint64_t sequence_ = 0;
  std::map<std::pair<uint64_t, uint64_t>, TaskResult> replies_;
  std::map<std::string, size_t> turns_;
  Played played_;
};

}  // namespace sluice::flow
