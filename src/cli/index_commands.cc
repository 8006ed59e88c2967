// index list|create|drop.
#include <memory>

#include "cli/api.h"
#include "cli/app_directory.h"
#include "cli/commands.h"
#include "cli/keyspace_name.h"
#include "cli/wait_note.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

struct IndexOptions {
  std::string keyspace;
  std::string name;
  std::vector<std::string> parts;
};

// "path", "path:desc", "path:each", "path:each:desc".
Result<IndexPartSpec> ParsePart(std::string_view text) {
  IndexPartSpec part;
  const size_t colon = std::min(text.find(':'), text.size());
  part.path = text.substr(0, colon);
  for (std::string_view rest = text.substr(colon); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(':'));
    rest.remove_prefix(word.size());
    if (word == "desc") {
      part.descending = true;
    } else if (word == "each") {
      part.each_element = true;
    } else {
      return Unexpected(UsageError("index part '{}': expected PATH, PATH:desc or PATH:each", text));
    }
  }
  return part;
}

std::string IndexPath(const IndexOptions& options) {
  return "/v1/indexes/" + Segment(options.keyspace) + "/" + Segment(options.name);
}

json::Value RowOf(const json::Value& keyspace, const json::Value& index) {
  return json::Value::Object({{"keyspace", keyspace},
                              {"name", index["name"]},
                              {"state", index["state"]},
                              {"parts", index["parts"]}});
}

Status ListIndexes(const IndexOptions& options, Context& context) {
  ASSIGN_OR_RETURN(Api* const api, context.api());
  ASSIGN_OR_RETURN(const json::Value answer, api->CallJson({.path = "/v1/buckets"}));
  json::Value rows = json::Value::EmptyArray();
  for (const json::Value& bucket : answer["buckets"].items()) {
    for (const json::Value& scope : bucket["scopes"].items()) {
      for (const json::Value& collection : scope["collections"].items()) {
        const json::Value& keyspace = collection["keyspace"];
        if (!options.keyspace.empty() && keyspace != json::Value(options.keyspace)) continue;
        for (const json::Value& index : collection["indexes"].items()) {
          rows.Append(RowOf(keyspace, index));
        }
      }
    }
  }
  context.output.Rows(
      rows, {{"KEYSPACE", "keyspace"}, {"INDEX", "name"}, {"STATE", "state"}, {"PARTS", "parts"}});
  return OkStatus();
}

Status Create(const IndexOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  json::Value parts = json::Value::EmptyArray();
  for (const std::string& text : options.parts) {
    ASSIGN_OR_RETURN(const IndexPartSpec part, ParsePart(text));
    parts.Append(part.ToJson());
  }
  ASSIGN_OR_RETURN(Api* const api, context.api());
  const auto create = [&] {
    const WaitNote note(&context.output, fmt::format("building the index {}", options.name));
    return api->Do({.method = "PUT",
                    .path = IndexPath(options),
                    .headers = {{"Content-Type", "application/json"}},
                    .body = json::ToText(json::Value::Object({{"parts", std::move(parts)}}))});
  };
  RETURN_IF_ERROR(create());
  context.output.Note(fmt::format("index {} on {} created", options.name, options.keyspace));
  return OkStatus();
}

Status Drop(const IndexOptions& options, Context& context) {
  RETURN_IF_ERROR(CheckKeyspace(options.keyspace));
  ASSIGN_OR_RETURN(Api* const api, context.api());
  RETURN_IF_ERROR(api->Do({.method = "DELETE", .path = IndexPath(options)}));
  context.output.Note(fmt::format("index {} on {} dropped", options.name, options.keyspace));
  return OkStatus();
}

}  // namespace

void AddIndexCommands(Program* program) {
  const auto options = std::make_shared<IndexOptions>();
  CLI::App* group = program->AddGroup("index", "Secondary indexes");
  program
      ->AddCommand(group, "list", "List the indexes",
                   [options](Context& context) { return ListIndexes(*options, context); })
      ->add_option("keyspace", options->keyspace, "Only the indexes of this keyspace");
  CLI::App* create =
      program->AddCommand(group, "create", "Create an index and wait until it is built",
                          [options](Context& context) { return Create(*options, context); });
  create->add_option("keyspace", options->keyspace, "Keyspace")->required();
  create->add_option("name", options->name, "Name of the index")->required();
  create
      ->add_option("parts", options->parts,
                   "Paths: name, address.city, price:desc, tags:each (each element)")
      ->required();
  CLI::App* drop = program->AddCommand(group, "drop", "Drop an index", [options](Context& context) {
    return Drop(*options, context);
  });
  drop->add_option("keyspace", options->keyspace, "Keyspace")->required();
  drop->add_option("name", options->name, "Name of the index")->required();
}

}  // namespace sluice::cli
