// \d: the keyspaces, and the fields and indexes of one.
#include <algorithm>

#include "base/back_quoted.h"
#include "cli/keyspace_name.h"
#include "cli/program.h"
#include "cli/sql_shell.h"
#include "json/print.h"

namespace sluice::cli {
namespace {

// The fields of INFER's answer as rows, nested ones with their path.
void AddFields(const json::Value& shape, const std::string& path, json::Value* rows) {
  for (const json::Field& field : shape["properties"].fields()) {
    const std::string name = path + std::string(field.name());
    std::string types;
    if (field.value["type"].is_string()) types = field.value["type"].AsString();
    for (const json::Value& type : field.value["type"].items()) {
      types += fmt::format("{}{}", types.empty() ? "" : ", ", type.AsString());
    }
    const json::Value& share = field.value["%docs"];
    rows->Append(json::Value::Object(
        {{"field", name},
         {"type", types},
         {"documents", fmt::format("{:.0f} %", share.is_number() ? share.ToDouble() : 0)},
         {"example", field.value["samples"][0]}}));
    AddFields(field.value, name + ".", rows);
  }
}

std::string QuotedKeyspace(const KeyspaceName& name) {
  return fmt::format("{}.{}.{}", BackQuoted(name.bucket), BackQuoted(name.scope),
                     BackQuoted(name.collection));
}

}  // namespace

Result<json::Value> SqlShell::Keyspaces() {
  ASSIGN_OR_RETURN(const json::Value answer, api_->CallJson({.path = "/v1/buckets"}));
  json::Value rows = json::Value::EmptyArray();
  for (const json::Value& bucket : answer["buckets"].items()) {
    for (const json::Value& scope : bucket["scopes"].items()) {
      for (const json::Value& collection : scope["collections"].items()) {
        json::Value row = json::Value::Object({{"keyspace", collection["keyspace"]}});
        row.Set("indexes", static_cast<int64_t>(collection["indexes"].size()));
        row.Set("definitions", collection["indexes"]);
        rows.Append(std::move(row));
      }
    }
  }
  return rows;
}

const std::vector<std::string>& SqlShell::KeyspaceNames() {
  if (names_known_) return names_;
  names_.clear();
  const auto rows = Keyspaces();
  if (!rows) return names_;  // completion does without
  names_known_ = true;
  for (const json::Value& row : rows->items()) {
    if (row["keyspace"].is_string()) names_.emplace_back(row["keyspace"].AsString());
  }
  return names_;
}

Status SqlShell::Describe(const std::string& argument) {
  if (!argument.empty()) return DescribeKeyspace(argument);
  ASSIGN_OR_RETURN(const json::Value rows, Keyspaces());
  json::Value shown = json::Value::EmptyArray();
  for (json::Value row : rows.items()) {
    row.Remove("definitions");
    shown.Append(std::move(row));
  }
  output_->Rows(shown, {{"KEYSPACE", "keyspace"}, {"INDEXES", "indexes"}});
  return OkStatus();
}

// A short name is looked up in the context first.
Status SqlShell::DescribeKeyspace(const std::string& argument) {
  const std::string& context = session_->settings().context;
  std::string wanted = argument;
  std::erase(wanted, '`');
  ASSIGN_OR_RETURN(const json::Value rows, Keyspaces());
  const auto find = [&](const std::string& name) {
    return std::ranges::find_if(
        rows.items(), [&](const json::Value& row) { return row["keyspace"] == json::Value(name); });
  };
  auto found = context.empty() ? rows.items().end() : find(context + "." + wanted);
  if (found == rows.items().end()) found = find(wanted);
  if (found == rows.items().end()) {
    return Error(Code::kNotFound, "cli.no_such_keyspace",
                 "there is no keyspace '{}': \\d lists them", wanted);
  }
  const std::string full((*found)["keyspace"].AsString());
  ASSIGN_OR_RETURN(const KeyspaceName name, KeyspaceName::Parse(full));
  ASSIGN_OR_RETURN(const json::Value inferred, session_->Fetch("INFER " + QuotedKeyspace(name)));
  json::Value fields = json::Value::EmptyArray();
  for (const json::Value& flavor : inferred[0].items()) AddFields(flavor, "", &fields);
  if (output_->json()) {
    output_->Object(json::Value::Object(
        {{"keyspace", full}, {"indexes", (*found)["definitions"]}, {"fields", fields}}));
    return OkStatus();
  }
  output_->Rows(
      fields,
      {{"FIELD", "field"}, {"TYPE", "type"}, {"DOCUMENTS", "documents"}, {"EXAMPLE", "example"}});
  if ((*found)["definitions"].size() > 0) {
    output_->Line("");
    output_->Rows((*found)["definitions"],
                  {{"INDEX", "name"}, {"STATE", "state"}, {"PARTS", "parts"}});
  }
  return OkStatus();
}

}  // namespace sluice::cli
