// The text of a mapping's left side.
#include <set>
#include <utility>

#include "base/nearest.h"
#include "flow/expression.h"
#include "flow/json_path.h"
#include "flow/plugin.h"
#include "flow/source_tree.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr int kMaxCallDepth = 8;

std::unexpected<Status> Bad(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "flow.bad_mapping", "'{}' {}", text, why);
}

std::unexpected<Status> BadConstant(std::string_view text, std::string_view why) {
  return Fail(Code::kInvalidArgument, "flow.bad_constant", "invalid constant '{}': {}", text, why);
}

Result<Expression> Constant(Expression made, json::Value value) {
  made.space = Space::kConstant;
  made.constant = std::move(value);
  return made;
}

Result<Expression> TextConstant(Expression made, std::string_view inside) {
  ASSIGN_OR_RETURN(Template text, Template::Parse(inside));
  if (text.constant()) return Constant(std::move(made), inside);
  made.space = Space::kText;
  made.content = std::move(text);
  return made;
}

// The value with all `${...}` in its texts replaced.
Result<json::Value> Resolved(const json::Value& value, const Settings& settings) {
  if (value.is_string()) {
    Problems problems;
    json::Value made(ReplaceVariables(value.AsString(), {}, settings, &problems));
    if (problems.has_errors()) return Unexpected(problems.Sorted().front().status);
    return made;
  }
  if (value.is_array()) {
    json::Value made = json::Value::EmptyArray();
    for (const json::Value& item : value.items()) {
      ASSIGN_OR_RETURN(json::Value each, Resolved(item, settings));
      made.Append(std::move(each));
    }
    return made;
  }
  if (!value.is_object()) return value;
  json::Value made = json::Value::EmptyObject();
  for (const json::Field& field : value.fields()) {
    ASSIGN_OR_RETURN(json::Value each, Resolved(field.value, settings));
    made.Set(field.name(), std::move(each));
  }
  return made;
}

Result<Expression> MapConstant(Expression made, std::string_view inside,
                               const ParseContext& context) {
  if (Trim(inside).empty()) return BadConstant(made.text, "a map needs keys");
  if (inside.find_first_of("=,") == inside.npos) {
    json::Value value = context.settings ? context.settings->Lookup(Trim(inside)) : json::Value();
    if (value.is_missing()) return BadConstant(made.text, "the configuration has no such key");
    ASSIGN_OR_RETURN(value, Resolved(value, *context.settings));
    return Constant(std::move(made), std::move(value));
  }
  std::set<std::string> names;
  bool constant = true;
  json::Value map = json::Value::EmptyObject();
  for (const std::string_view part : SplitArguments(inside)) {
    const size_t equals = part.find('=');
    const std::string name(Trim(part.substr(0, equals)));
    if (name.empty()) return BadConstant(made.text, "a key is empty");
    if (!names.insert(name).second) return BadConstant(made.text, "a key stands twice");
    ASSIGN_OR_RETURN(Template text,
                     Template::Parse(equals == part.npos ? "" : Trim(part.substr(equals + 1))));
    constant = constant && text.constant();
    if (constant) map.Set(name, text.Text({}));
    made.entries.emplace_back(name, std::move(text));
  }
  if (!constant) {
    made.space = Space::kMap;
    return made;
  }
  made.entries.clear();
  return Constant(std::move(made), std::move(map));
}

Result<Expression> FileConstant(Expression made, std::string_view inside, Space space,
                                const ParseContext& context) {
  made.space = space;
  constexpr std::pair<std::string_view, FileForm> kForms[] = {
      {"text:", FileForm::kText}, {"binary:", FileForm::kBinary}, {"json:", FileForm::kJson}};
  inside = Trim(inside);
  for (const auto& [prefix, form] : kForms) {
    if (inside.starts_with(prefix)) {
      made.form = form;
      inside = Trim(inside.substr(prefix.size()));
      break;
    }
  }
  if (inside.empty()) return BadConstant(made.text, "a path is missing");
  ASSIGN_OR_RETURN(made.content, Template::Parse(inside));
  if (made.content.constant() && context.files != nullptr) {
    const auto area = space == Space::kFile ? Files::Area::kFile : Files::Area::kResource;
    RETURN_IF_ERROR(context.files->Check(area, inside));
  }
  return made;
}

Result<Expression> NumberConstant(Expression made, std::string_view name, std::string_view inside) {
  if (name == "int" || name == "long") {
    const auto number = ParseWholeNumber(inside);
    if (!number) return BadConstant(made.text, "a whole number is expected");
    return Constant(std::move(made), *number);
  }
  const auto number = ParseNumber(inside);
  if (!number) return BadConstant(made.text, "a number is expected");
  return Constant(std::move(made), *number);
}

// `name(inside)`, or nothing when the text is no constant.
Result<std::optional<Expression>> ParseConstant(std::string_view text,
                                                const ParseContext& context) {
  const size_t open = text.find('(');
  if (open == text.npos) return std::nullopt;
  const std::string_view name = text.substr(0, open);
  constexpr std::string_view kNames[] = {"text",    "int", "long", "float",    "double",
                                         "boolean", "map", "file", "classpath"};
  bool known = false;
  for (const std::string_view each : kNames) known = known || each == name;
  if (!known) return std::nullopt;
  Expression made;
  made.text = std::string(text);
  if (text.back() != ')') return BadConstant(text, "missing close bracket");
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  if (name == "text") return TextConstant(std::move(made), inside);
  if (name == "map") return MapConstant(std::move(made), inside, context);
  if (name == "file") return FileConstant(std::move(made), inside, Space::kFile, context);
  if (name == "classpath") return FileConstant(std::move(made), inside, Space::kResource, context);
  if (name != "boolean") return NumberConstant(std::move(made), name, inside);
  const bool yes = EqualsIgnoringCase(Trim(inside), "true");
  if (!yes && !EqualsIgnoringCase(Trim(inside), "false")) {
    return BadConstant(text, "true or false is expected");
  }
  return Constant(std::move(made), yes);
}

Result<Expression> ParseCall(std::string_view text, const ParseContext& context) {
  const size_t open = text.find('(');
  if (open == text.npos || text.back() != ')') {
    return Bad(text, "must be a call: f:name(arguments)");
  }
  if (context.depth >= kMaxCallDepth) return Bad(text, "has too many calls inside each other");
  const std::string name(Trim(text.substr(2, open - 2)));
  const Plugin* plugin = FindPlugin(name);
  if (plugin == nullptr) {
    return Fail(Code::kInvalidArgument, "flow.unknown_plugin", "there is no function 'f:{}'{}",
                name, DidYouMean(name, PluginNames()));
  }
  PluginCall call;
  call.plugin = plugin;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  ParseContext below = context;
  ++below.depth;
  if (!Trim(inside).empty()) {
    for (const std::string_view part : SplitArguments(inside)) {
      ASSIGN_OR_RETURN(Expression argument, ParseExpression(part, below));
      call.args.push_back(std::move(argument));
    }
  }
  if (call.args.size() < plugin->least || call.args.size() > plugin->most) {
    const std::string wanted = plugin->least == plugin->most ? fmt::format("{}", plugin->least)
                               : plugin->most == kManyArguments
                                   ? fmt::format("at least {}", plugin->least)
                                   : fmt::format("{} to {}", plugin->least, plugin->most);
    return Bad(text,
               fmt::format("has {} arguments, f:{} takes {}", call.args.size(), name, wanted));
  }
  if (plugin->prepare != nullptr) {
    ASSIGN_OR_RETURN(call.prepared, plugin->prepare(call.args));
  }
  Expression made;
  made.text = std::string(text);
  made.space = Space::kCall;
  made.call = std::make_shared<const PluginCall>(std::move(call));
  return made;
}

Result<Expression> ParseModel(std::string_view text) {
  Expression made;
  made.text = std::string(text);
  if (text.starts_with('!')) {
    made.negated = true;
    text.remove_prefix(1);
  }
  const size_t colon = text.find(':');
  if (colon != text.npos) {
    ASSIGN_OR_RETURN(Conversion conversion, Conversion::Parse(text.substr(colon + 1)));
    made.conversion = std::make_shared<const Conversion>(std::move(conversion));
    text = Trim(text.substr(0, colon));
  }
  ASSIGN_OR_RETURN(ModelRef ref, ModelRef::Parse(text));
  made.space = ref.shared ? Space::kShared : Space::kModel;
  made.path = std::move(ref.path);
  made.item = std::move(ref.item);
  return made;
}

// The parts of a request whose keys are found in any case.
bool AnyCase(std::string_view key) {
  return key == "header" || key == "cookie" || key == "query" || key == "path_parameter";
}

// `name`, `name.path` or `name[0]`; false when the text does not start with the name.
Result<bool> ParseDataset(std::string_view text, std::string_view name, Space space,
                          Expression* made) {
  if (!text.starts_with(name)) return false;
  std::string_view rest = text.substr(name.size());
  if (!rest.empty() && rest.front() != '.' && rest.front() != '[') return false;
  made->space = space;
  made->text = std::string(text);
  if (rest.empty()) return true;
  if (space == Space::kStatus || space == Space::kDatatype) {
    return Bad(text, fmt::format("has no parts; use '{}'", name));
  }
  if (rest.front() == '.') rest.remove_prefix(1);
  ASSIGN_OR_RETURN(made->path, Path::Parse(rest, Path::Use::kRead));
  if (space == Space::kHeader) made->path.IgnoreCaseAt(0);
  if (space == Space::kInput && AnyCase(made->path.first_key())) made->path.IgnoreCaseAt(1);
  return true;
}

// `output.body.x`, `output.header.x` or `output.status`: the answer as far as it is made.
Result<bool> ParseOutput(std::string_view text, Expression* made) {
  ASSIGN_OR_RETURN(const bool is, ParseDataset(text, "output", Space::kOutput, made));
  if (!is) return false;
  const std::string_view part = made->path.empty() ? "" : made->path.first_key();
  if (part == "header") made->path.IgnoreCaseAt(1);
  if (part == "body" || part == "header" || part == "status") return true;
  return Bad(text, "- an output has status, header and body only");
}

}  // namespace

std::vector<std::string_view> SplitArguments(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth <= 0)) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

Result<Expression> ParseExpression(std::string_view text, const ParseContext& context) {
  text = Trim(text);
  if (text.empty()) return Bad(text, "is empty");
  if (text.starts_with("f:")) return ParseCall(text, context);
  if (text.starts_with('$')) {
    ASSIGN_OR_RETURN(JsonPath search, JsonPath::Parse(text, context.side));
    Expression made;
    made.text = std::string(text);
    made.space = Space::kJsonPath;
    made.search = std::make_shared<const JsonPath>(std::move(search));
    return made;
  }
  ASSIGN_OR_RETURN(std::optional<Expression> constant, ParseConstant(text, context));
  if (constant) return *std::move(constant);
  if (text.starts_with("model.") || text.starts_with("!model.")) return ParseModel(text);

  struct Dataset {
    std::string_view name;
    Space space;
    Side side;
  };
  constexpr Dataset kDatasets[] = {{"error", Space::kError, Side::kInput},
                                   {"result", Space::kResult, Side::kOutput},
                                   {"status", Space::kStatus, Side::kOutput},
                                   {"header", Space::kHeader, Side::kOutput},
                                   {"datatype", Space::kDatatype, Side::kOutput}};
  Expression made;
  ASSIGN_OR_RETURN(const bool input, ParseDataset(text, "input", Space::kInput, &made));
  if (input) return made;
  for (const Dataset& dataset : kDatasets) {
    if (dataset.side != context.side) continue;
    ASSIGN_OR_RETURN(const bool is, ParseDataset(text, dataset.name, dataset.space, &made));
    if (is) return made;
  }
  if (context.side == Side::kOutput && context.depth > 0) {
    ASSIGN_OR_RETURN(const bool is, ParseOutput(text, &made));
    if (is) return made;
  }
  return Bad(text, context.side == Side::kInput
                       ? "can't be read by an input mapping: use input, model, error, a constant, "
                         "f: or $"
                       : "can't be read by an output mapping: use input, model, result, status, "
                         "header, datatype, a constant, f: or $");
}

}  // namespace sluice::flow
