#include "function/debug_session.h"

#include "function/source/token_list.h"
#include "json/parse.h"
#include "json/print.h"

namespace sluice::function {
namespace {

using json::Value;

constexpr std::string_view kUrlPrefix = "function:///";
constexpr std::string_view kScriptParsed = R"({"method":"Debugger.scriptParsed")";
constexpr int kServerError = -32000;  // of JSON-RPC

// Whether a text begins with directives, one of which is 'use strict'.
bool IsStrict(std::string_view text) {
  for (const Token& token : Tokenize(text)) {
    if (token.text == "'use strict'" || token.text == "\"use strict\"") return true;
    if (token.kind != TokenKind::kString && token.text != ";") return false;
  }
  return false;
}

std::string ShownText(const Definition& definition) {
  std::string text = definition.code + "\n";
  for (const std::string& line : definition.settings.handler_footers) text += line + "\n";
  return text;
}

}  // namespace

std::shared_ptr<const js::Program> ProgramForDebugger(const Definition& definition,
                                                      const PreparedSource& source) {
  js::Source script{.name = definition.name + ".js"};
  script.preamble = source.text.substr(0, source.handler_offset);
  if (IsStrict(script.preamble)) script.text = "'use strict';";
  script.text += std::string_view(source.text).substr(source.handler_offset);
  return std::make_shared<const js::Program>(std::move(script));
}

DebugSession::DebugSession(const Definition& definition)
    : url_(std::string(kUrlPrefix) + definition.name + ".js"),
      text_(ShownText(definition)),
      inspector_(std::make_shared<js::Inspector>(std::string(kUrlPrefix))) {}

uint64_t DebugSession::Connect(js::Inspector::Client client) {
  const std::function<void(std::string)> send = client.send;
  client.send = [self = shared_from_this(), send](std::string message) {
    if (message.starts_with(kScriptParsed)) self->NoteScript(message);
    send(std::move(message));
  };
  const uint64_t number = inspector_->Connect(std::move(client));
  if (number == 0) return 0;
  send_.Set(send);
  return number;
}

bool DebugSession::Receive(uint64_t client, std::string message) {
  // Most messages are not looked into.
  if (message.find("ScriptSource") != std::string::npos) {
    if (std::string answer = AnswerTo(message); !answer.empty()) {
      send_.Copy()(std::move(answer));
      return true;
    }
  }
  return inspector_->Receive(client, std::move(message));
}

void DebugSession::NoteScript(std::string_view message) {
  const Result<Value> parsed = json::Parse(message);
  if (!parsed || (*parsed)["params"]["url"] != Value(url_)) return;
  script_.Set(std::string((*parsed)["params"]["scriptId"].AsString()));
}

std::string DebugSession::AnswerTo(std::string_view message) const {
  const Result<Value> parsed = json::Parse(message);
  if (!parsed || !parsed->is_object() || !(*parsed)["id"].is_int()) return "";
  Value answer = Value::Object({{"id", (*parsed)["id"]}});
  const Value& method = (*parsed)["method"];
  if (method == Value("Debugger.setScriptSource")) {
    answer.Set("error", Value::Object({{"code", kServerError},
                                       {"message",
                                        "the code of a function is changed by storing it "
                                        "and deploying it again"}}));
    return json::ToText(answer);
  }
  const std::string script = script_.Copy();
  const bool ours = !script.empty() && (*parsed)["params"]["scriptId"] == Value(script);
  if (method != Value("Debugger.getScriptSource") || !ours) return "";
  answer.Set("result", Value::Object({{"scriptSource", text_}}));
  return json::ToText(answer);
}

}  // namespace sluice::function
