#include "flow/expression.h"

#include <utility>

#include "base/utf8.h"
#include "flow/json_path.h"
#include "flow/mapping.h"
#include "flow/plugin.h"
#include "flow/text_form.h"
#include "json/parse.h"

namespace sluice::flow {
namespace {

const json::Value kMissing;

const json::Value& OrMissing(const json::Value* value) { return value ? *value : kMissing; }

const json::Value& RootOf(Space space, const Scope& scope) {
  switch (space) {
    case Space::kInput:
      return OrMissing(scope.input);
    case Space::kModel:
      return OrMissing(scope.view.model);
    case Space::kShared:
      return OrMissing(scope.view.shared);
    case Space::kError:
      return OrMissing(scope.error);
    case Space::kResult:
      return OrMissing(scope.result);
    case Space::kHeader:
      return OrMissing(scope.header);
    default:
      return kMissing;
  }
}

json::Value FileContent(const Expression& expression, const Scope& scope) {
  if (scope.files == nullptr) return {};
  const auto area = expression.space == Space::kFile ? Files::Area::kFile : Files::Area::kResource;
  const std::string path = expression.content.Text(scope.view);
  const auto bytes = scope.files->Read(area, path);
  if (!bytes) {
    if (bytes.error().code() != Code::kNotFound) {
      scope.complaints->push_back(bytes.error().ToString());
    }
    return {};
  }
  switch (expression.form) {
    case FileForm::kBinary:
      return json::Value::Bytes(*bytes);
    case FileForm::kText:
      if (IsValidUtf8(*bytes)) return json::Value(*bytes);
      scope.complaints->push_back(fmt::format("{} is not UTF-8 text", path));
      return {};
    case FileForm::kJson: {
      auto value = json::Parse(*bytes);
      if (value) return *std::move(value);
      scope.complaints->push_back(fmt::format("{}: {}", path, value.error().ToString()));
      return {};
    }
  }
  return {};
}

Result<json::Value> RunCall(const PluginCall& call, const Scope& scope) {
  json::Value few[4];
  std::vector<json::Value> many;
  json::Value* args = few;
  if (call.args.size() > std::size(few)) {
    many.resize(call.args.size());
    args = many.data();
  }
  for (size_t i = 0; i < call.args.size(); ++i) {
    ASSIGN_OR_RETURN(args[i], Evaluate(call.args[i], scope));
  }
  return call.plugin->run({{args, call.args.size()}, call.prepared.get(), scope.now_ms});
}

json::Value ReadOutput(const Expression& expression, const Scope& scope) {
  if (scope.mapped == nullptr) return {};
  json::Value output = json::Value::Object({{"header", scope.mapped->headers}});
  output.Set("body", scope.mapped->output);
  if (scope.mapped->status != 0) output.Set("status", scope.mapped->status);
  return expression.path.Get(output, scope.view);
}

Result<json::Value> Plain(const Expression& expression, const Scope& scope) {
  switch (expression.space) {
    case Space::kConstant:
      return expression.constant;
    case Space::kText:
      return json::Value(expression.content.Text(scope.view));
    case Space::kMap: {
      json::Value map = json::Value::EmptyObject();
      for (const auto& [name, text] : expression.entries) map.Set(name, text.Text(scope.view));
      return map;
    }
    case Space::kFile:
    case Space::kResource:
      return FileContent(expression, scope);
    case Space::kStatus:
      return json::Value(scope.status);
    case Space::kDatatype:
      return json::Value(TypeNameOf(OrMissing(scope.result)));
    case Space::kOutput:
      return ReadOutput(expression, scope);
    case Space::kCall:
      return RunCall(*expression.call, scope);
    case Space::kJsonPath:
      return expression.search->Search(RootOf(expression.search->space(), scope));
    default:
      break;
  }
  const json::Value& root = RootOf(expression.space, scope);
  const json::Value& found = expression.path.Get(root, scope.view);
  return expression.item && found.is_missing() ? expression.item->Get(scope.view) : found;
}

}  // namespace

Result<json::Value> Evaluate(const Expression& expression, const Scope& scope) {
  if (!expression.conversion && !expression.negated) return Plain(expression, scope);
  ASSIGN_OR_RETURN(json::Value value, Plain(expression, scope));
  if (expression.conversion) {
    value = expression.conversion->Apply(value, scope.view, expression.text, scope.complaints);
  }
  return expression.negated ? json::Value(!IsTrue(value)) : value;
}

}  // namespace sluice::flow
