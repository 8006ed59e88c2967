#include "cli/function_spec.h"

#include <charconv>
#include <set>

#include "base/file.h"
#include "cli/keyspace_name.h"
#include "cli/yaml_visitor.h"
#include "json/parse.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
using json::Value;

constexpr size_t kMaxCodeBytes = 1 << 20;
constexpr size_t kMaxExportedBytes = 4 << 20;

// A scalar as JSON: it is text if it is in quotes, or looks like neither a number nor a boolean.
Value JsonOfYaml(const yaml::Node& node) {
  if (node.is_list()) {
    Value list = Value::EmptyArray();
    for (const yaml::Node& item : node.items) list.Append(JsonOfYaml(item));
    return list;
  }
  if (node.is_null()) return Value(nullptr);
  if (node.quoted) return Value(node.text);
  if (node.text == "true" || node.text == "false") return Value(node.text == "true");
  int64_t number = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [rest, error] = std::from_chars(node.text.data(), end, number);
  return error == std::errc() && rest == end ? Value(number) : Value(node.text);
}

class FunctionReader {
 public:
  FunctionReader(const std::string& file, FunctionSpec* spec, std::vector<Status>* problems)
      : yaml_(file, problems), spec_(spec) {}

  void Read(const yaml::Node& root, const std::string& code) {
    Value settings = Value::EmptyObject();
    yaml_.ForEach(root, "the function", {"source", "metadata", "bindings", "settings", "deploy"},
                  [&](const yaml::Entry& entry) { ReadPart(entry, &settings); });
    if (!source_given_) yaml_.AddProblem(root.line, root.column, "source: expected a keyspace");
    if (metadata_.bucket.empty()) metadata_.bucket = source_.bucket;
    SetKeyspace("source", source_);
    SetKeyspace("metadata", metadata_);
    depcfg_.Set("buckets", buckets_);
    depcfg_.Set("curl", urls_);
    depcfg_.Set("constants", constants_);
    settings.Set("deployment_status", spec_->deploy);
    settings.Set("processing_status", spec_->deploy);
    // A misspelt setting is an error here, unlike in an export of Couchbase.
    spec_->definition = Value::Object({{"appname", spec_->name},
                                       {"appcode", code},
                                       {"enforce_schema", true},
                                       {"depcfg", depcfg_},
                                       {"settings", settings}});
  }

 private:
  void ReadPart(const yaml::Entry& entry, Value* settings) {
    if (entry.key == "source" || entry.key == "metadata") {
      Note("depcfg", entry);
      source_given_ |= entry.key == "source";
      if (entry.key == "source") {
        ReadKeyspace(entry, &source_, Wildcards::kAllowed);
      } else {
        ReadKeyspace(entry, &metadata_);
      }
    } else if (entry.key == "bindings") {
      yaml_.ForEach(entry.value, "bindings", {},
                    [&](const yaml::Entry& binding) { ReadBinding(binding); });
    } else if (entry.key == "settings") {
      yaml_.ForEach(entry.value, "settings", {}, [&](const yaml::Entry& setting) {
        Note("settings." + setting.key, setting);
        settings->Set(setting.key, JsonOfYaml(setting.value));
      });
    } else {
      yaml_.ReadBool(entry, &spec_->deploy);
    }
  }

  void ReadKeyspace(const yaml::Entry& entry, KeyspaceName* keyspace,
                    Wildcards wildcards = Wildcards::kRefused) {
    const auto parsed = KeyspaceName::Parse(yaml_.ReadText(entry), wildcards);
    if (parsed) {
      *keyspace = *parsed;
    } else {
      yaml_.AddProblem(entry.value.line, entry.value.column,
                       fmt::format("{}: {}", entry.key, parsed.error().message()));
    }
  }

  void ReadBinding(const yaml::Entry& entry) {
    const yaml::Node& value = entry.value;
    if (value.Find("keyspace") != nullptr) return ReadBucket(entry);
    if (value.Find("url") != nullptr) return ReadUrl(entry);
    if (value.Find("constant") != nullptr) return ReadConstant(entry);
    yaml_.AddProblem(
        entry.line, entry.column,
        fmt::format("binding {}: expected a map with keyspace, url or constant", entry.key));
  }

  void ReadBucket(const yaml::Entry& entry) {
    Note(fmt::format("depcfg.buckets[{}]", buckets_.size()), entry);
    KeyspaceName keyspace;
    std::string access = "r";
    yaml_.ForEach(entry.value, "binding " + entry.key, {"keyspace", "access"},
                  [&](const yaml::Entry& part) {
                    if (part.key == "keyspace") {
                      ReadKeyspace(part, &keyspace, Wildcards::kAllowed);
                    } else {
                      access = yaml_.ReadText(part);
                    }
                  });
    buckets_.Append(Value::Object({{"alias", entry.key},
                                   {"bucket_name", keyspace.bucket},
                                   {"scope_name", keyspace.scope},
                                   {"collection_name", keyspace.collection},
                                   {"access", access}}));
  }

  void ReadUrl(const yaml::Entry& entry) {
    Note(fmt::format("depcfg.curl[{}]", urls_.size()), entry);
    Value url = Value::Object({{"hostname", ""},
                               {"value", entry.key},
                               {"auth_type", "no-auth"},
                               {"username", ""},
                               {"password", ""},
                               {"bearer_key", ""},
                               {"allow_cookies", false},
                               {"validate_ssl_certificate", true}});
    yaml_.ForEach(
        entry.value, "binding " + entry.key,
        {"url", "auth", "username", "password", "bearer_key", "cookies", "verify_certificate"},
        [&](const yaml::Entry& part) {
          bool flag = false;
          if (part.key == "cookies" || part.key == "verify_certificate") {
            yaml_.ReadBool(part, &flag);
            url.Set(part.key == "cookies" ? "allow_cookies" : "validate_ssl_certificate", flag);
            return;
          }
          const std::string_view name = part.key == "url"    ? "hostname"
                                        : part.key == "auth" ? "auth_type"
                                                             : std::string_view(part.key);
          url.Set(name, yaml_.ReadText(part));
        });
    urls_.Append(std::move(url));
  }

  void ReadConstant(const yaml::Entry& entry) {
    Note(fmt::format("depcfg.constants[{}]", constants_.size()), entry);
    yaml_.ForEach(entry.value, "binding " + entry.key, {"constant"}, [&](const yaml::Entry& part) {
      constants_.Append(Value::Object({{"value", entry.key}, {"literal", yaml_.ReadText(part)}}));
    });
  }

  void SetKeyspace(const std::string& what, const KeyspaceName& name) {
    depcfg_.Set(what + "_bucket", name.bucket);
    depcfg_.Set(what + "_scope", name.scope);
    depcfg_.Set(what + "_collection", name.collection);
  }

  void Note(const std::string& part, const yaml::Entry& entry) {
    spec_->places[part] = {yaml_.file(), entry.line, entry.column};
  }

  YamlVisitor yaml_;
  FunctionSpec* const spec_;
  bool source_given_ = false;
  KeyspaceName source_;
  KeyspaceName metadata_;
  Value depcfg_ = Value::EmptyObject();
  Value buckets_ = Value::EmptyArray();
  Value urls_ = Value::EmptyArray();
  Value constants_ = Value::EmptyArray();
};

// One definition, alone or in a list.
Result<Value> ReadExported(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxExportedBytes));
  const Result<Value> parsed = json::Parse(text);
  if (!parsed) {
    const Place& place = parsed.error().place();
    return Unexpected(parsed.error().At({file, place.line, place.column}));
  }
  if (parsed->is_object()) return *parsed;
  if (parsed->is_array() && parsed->size() == 1) return (*parsed)[0];
  return Unexpected(
      Error(Code::kInvalidArgument, "app.invalid",
            "expected the definition of one function, as 'sluice fn export' prints it")
          .At({file, 0, 0}));
}

// Reads "12" up to `end`; 0 when there is no number.
uint32_t TakeNumber(std::string_view* text, std::string_view end) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const auto used = static_cast<size_t>(rest - text->data());
  if (error != std::errc() || !text->substr(used).starts_with(end)) return 0;
  text->remove_prefix(used + end.size());
  return number;
}

// "f.js:2:11: text" or "line 2, column 11: text".
bool TakeCodePlace(const FunctionSpec& function, std::string_view* text, Place* place) {
  std::string_view rest = *text;
  const std::string prefix = function.name + ".js:";
  const bool plain = rest.starts_with("line ");
  if (!plain && !rest.starts_with(prefix)) return false;
  rest.remove_prefix(plain ? 5 : prefix.size());
  place->file = function.code_file;
  place->line = TakeNumber(&rest, plain ? ", column " : ":");
  place->column = place->line == 0 ? 0 : TakeNumber(&rest, ": ");
  if (place->column == 0) return false;
  *text = rest;
  return true;
}

// The part of the definition that a message begins with or, of an unknown setting, quotes.
const Place* FindPart(const FunctionSpec& function, std::string_view message) {
  std::string part(message.substr(0, message.find(':')));
  if (part == "settings") {
    const size_t from = message.find('\'') + 1;
    part += "." + std::string(message.substr(from, message.find('\'', from) - from));
  }
  while (true) {
    if (const auto found = function.places.find(part); found != function.places.end()) {
      return &found->second;
    }
    const size_t dot = part.rfind('.');
    if (dot == std::string::npos) return nullptr;
    part.resize(dot);
  }
}

}  // namespace

FunctionSpec ReadFunction(const fs::path& script, std::vector<Status>* problems) {
  FunctionSpec spec{.name = script.stem().string(), .code_file = script.string()};
  if (script.extension() == ".json") {
    const Result<Value> definition = ReadExported(spec.code_file);
    if (!definition) problems->push_back(definition.error());
    if (definition) spec.definition = *definition;
    return spec;
  }
  const std::string yaml_file = fs::path(script).replace_extension(".yaml").string();
  const auto code = ReadFile(spec.code_file, kMaxCodeBytes);
  const auto root = yaml::ParseFile(yaml_file);
  if (!code) problems->push_back(code.error());
  if (!root) problems->push_back(root.error());
  if (code && root) FunctionReader(yaml_file, &spec, problems).Read(*root, *code);
  return spec;
}

std::vector<FunctionSpec> ReadFunctions(const fs::path& directory, std::vector<Status>* problems) {
  std::set<fs::path> scripts;
  std::set<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(".")) continue;  // editors' own
    (it->path().extension() == ".js" ? scripts : others).insert(it->path());
  }
  std::vector<FunctionSpec> functions;
  for (const fs::path& script : scripts) {
    others.erase(fs::path(script).replace_extension(".yaml"));
    functions.push_back(ReadFunction(script, problems));
  }
  for (const fs::path& other : others) {
    problems->push_back(
        Error(Code::kInvalidArgument, "app.invalid", "expected NAME.js, or NAME.yaml beside one")
            .At({other.string(), 0, 0}));
  }
  return functions;
}

Status Located(const Status& error, const FunctionSpec& function) {
  std::string_view message = error.message();
  Place place;
  if (TakeCodePlace(function, &message, &place)) {
    return Error(error.code(), error.id(), "{}", message).At(place);
  }
  if (const Place* part = FindPart(function, message)) return error.At(*part);
  return error.Prefixed("function " + function.name);
}

}  // namespace sluice::cli
