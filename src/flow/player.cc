#include "flow/player.h"

#include <algorithm>

#include "base/check.h"
#include "flow/files_of_step.h"
#include "flow/path.h"
#include "flow/text_form.h"

namespace sluice::flow {

using json::Value;

Played Player::Play(const Start& start, uint64_t cancel_at_ms) {
  Step(start);
  for (int i = 0; i < kMostSteps && !run_.ended(); ++i) {
    uint64_t next = run_.next_due_ms().value_or(UINT64_MAX);
    if (!replies_.empty()) next = std::min(next, replies_.begin()->first.first);
    if (cancel_at_ms > 0 && next >= begin_ms_ + cancel_at_ms) {
      now_ms_ = begin_ms_ + cancel_at_ms;
      Step(Cancel{});
      break;
    }
    if (next == UINT64_MAX) break;
    now_ms_ = std::max(now_ms_, next);
    if (replies_.empty() || replies_.begin()->first.first > next) {
      Step(Tick{});
      continue;
    }
    const TaskResult result = std::move(replies_.begin()->second);
    replies_.erase(replies_.begin());
    Step(result);
  }
  played_.over = run_.ended();
  played_.model = run_.model();
  played_.took_ms = now_ms_ - begin_ms_;
  return std::move(played_);
}

void Player::Step(const Event& event) {
  if (before_step_) before_step_(&run_);
  Actions actions;
  run_.Step(event, now_ms_, &actions);
  for (Action& action : actions) {
    std::visit([&](auto& each) { Act(each); }, action);
  }
}

void Player::Act(Call& call) {
  played_.calls.Append(Value::Object({{"task", call.task},
                                      {"route", call.route},
                                      {"headers", call.headers},
                                      {"body", call.body}}));
  PlayedAnswer answer = answer_(call, now_ms_);
  if (answer.never) return;
  answer.result.call = call.call;
  replies_.emplace(std::pair(now_ms_ + answer.after_ms, ++sequence_), std::move(answer.result));
}

void Player::Act(Abandon& abandon) {
  std::erase_if(replies_, [&](const auto& reply) { return reply.second.call == abandon.call; });
}

void Player::Act(Send& send) {
  Value shown = Value::Object({{"route", send.route}, {"headers", send.headers}});
  shown.Set("body", send.body);
  played_.sends.Append(std::move(shown));
}

void Player::Act(const WriteFile& file) {
  const Status done = CarryOut(file, *files_);
  if (!done.ok()) played_.log.push_back(done.ToString());
}

void Player::Act(Respond& respond) {
  CHECK(!std::exchange(played_.responded, true));  // once
  played_.response = std::move(respond);
}

Value Player::Filled(const Value& value, const Call& call) {
  if (value.is_object()) {
    Value made = Value::EmptyObject();
    for (const json::Field& field : value.fields()) {
      made.Set(field.name(), Filled(field.value, call));
    }
    return made;
  }
  if (value.is_array()) {
    Value made = Value::EmptyArray();
    for (const Value& item : value.items()) made.Append(Filled(item, call));
    return made;
  }
  if (!value.is_string() || !value.AsString().starts_with('=')) return value;
  const Value all = Value::Object({{"body", call.body}, {"headers", call.headers}});
  const auto path = Path::Parse(value.AsString().substr(1), Path::Use::kRead);
  return path ? path->Get(all, {}) : value;
}

Value CannedAnswers::Next(const std::string& name) {
  const Value& answers = answers_[name];
  if (!answers.is_array() || answers.size() == 0) return answers;
  const size_t turn = turns_[name]++;
  return answers[std::min(turn, answers.size() - 1)];
}

PlayedAnswer CannedAnswers::ToAnswer(const Value& written, const Call& call) {
  PlayedAnswer answer;
  answer.never = written["never"] == Value(true);
  answer.after_ms = static_cast<uint64_t>(WholeNumberOf(written["after"]).value_or(0));
  TaskResult& result = answer.result;
  result.status = static_cast<int>(WholeNumberOf(written["status"]).value_or(200));
  result.headers = written.Find("headers") == nullptr ? Value::EmptyObject()
                                                      : Player::Filled(written["headers"], call);
  result.body = Player::Filled(written["body"], call);
  if (written["stack"].is_string()) result.stack = std::string(written["stack"].AsString());
  return answer;
}

}  // namespace sluice::flow
