#include "doctype/migration_reader.h"

#include <algorithm>

#include "base/nearest.h"
#include "doctype/steps.h"
#include "doctype/tree.h"

namespace sluice::doctype {
namespace {

const std::vector<std::string>& StepNames() {
  static const std::vector<std::string> names = {"rename", "move",    "split", "join", "wrap",
                                                 "unwrap", "default", "drop",  "cast"};
  return names;
}

void ReadStep(const yaml::Node& node, const std::string& where, NodeReader* reader,
              std::vector<MigrationStep>* steps) {
  if (!node.is_map() || node.entries.size() != 1) {
    return reader->Problem(
        node, where,
        fmt::format("expected one of {} and its arguments", fmt::join(StepNames(), ", ")));
  }
  const yaml::Entry& entry = node.entries.front();
  const auto found = std::ranges::find(StepNames(), entry.key);
  if (found == StepNames().end()) {
    return reader->Problem(
        node, where,
        fmt::format("there is no step '{}'{}", entry.key, DidYouMean(entry.key, StepNames())));
  }
  MigrationStep step;
  step.kind = static_cast<MigrationStep::Kind>(found - StepNames().begin());
  step.arguments = ValueOf(entry.value);
  step.place = reader->PlaceOf(node);
  const Status checked = CheckStep(step);
  if (!checked.ok()) return reader->Problem(node, PathBelow(where, entry.key), checked);
  steps->push_back(std::move(step));
}

void ReadSteps(const yaml::Node& node, const std::string& where, NodeReader* reader,
               std::vector<MigrationStep>* steps) {
  if (!node.is_list() || node.items.empty()) {
    return reader->Problem(
        node, where,
        std::string(node.is_list() ? "expected at least one step" : "expected a list of steps"));
  }
  for (const yaml::Node& item : node.items) ReadStep(item, where, reader, steps);
}

void ReadFile(const yaml::Node& node, const std::string& where, const FileReader& files,
              NodeReader* reader, std::vector<MigrationSource>* sources) {
  const auto file = reader->Text(node, where);
  if (!file) return;
  auto text = files(*file);
  if (!text) return reader->Problem(node, where, text.error());
  if (text->empty()) return reader->Problem(node, where, fmt::format("'{}' is empty", *file));
  MigrationSource source;
  source.file = *file;
  source.code = std::move(*text);
  source.place = {*file, 1, 1};
  sources->push_back(std::move(source));
}

void ReadEntry(const yaml::Node& node, const std::string& where, NodeReader* reader,
               std::vector<MigrationSource>* sources) {
  MigrationSource source;
  source.place = reader->PlaceOf(node);
  bool has_steps = false;
  bool told = false;  // of a key that can't be used
  reader->ForEach(node, where, {"file", "code", "from", "to", "steps", "back"},
                  [&](const yaml::Entry& entry, const std::string& path) {
                    if (entry.key == "steps" || entry.key == "back") {
                      has_steps |= entry.key == "steps";
                      auto* const steps = entry.key == "steps" ? &source.steps : &source.back;
                      return ReadSteps(entry.value, path, reader, steps);
                    }
                    std::string& to = entry.key == "file"   ? source.file
                                      : entry.key == "code" ? source.code
                                      : entry.key == "from" ? source.from
                                                            : source.to;
                    const bool version = entry.key == "from" || entry.key == "to";
                    auto text = version ? reader->Version(entry.value, path)
                                        : reader->Text(entry.value, path);
                    told |= !text;
                    to = std::move(text).value_or("");
                  });
  if (!node.is_map() || told) return;
  const bool is_code = !source.file.empty() && !source.code.empty();
  const bool is_steps = !source.from.empty() && !source.to.empty() && has_steps;
  if (is_code == is_steps) {
    return reader->Problem(node, where, std::string("expected a file, or from, to and steps"));
  }
  if (is_steps && source.from == source.to) {
    return reader->Problem(node, where, fmt::format("from and to are both '{}'", source.to));
  }
  if (is_code) source.place = {source.file, 1, 1};
  sources->push_back(std::move(source));
}

}  // namespace

std::string_view StepName(MigrationStep::Kind kind) {
  return StepNames()[static_cast<size_t>(kind)];
}

std::vector<MigrationSource> ReadMigrations(const yaml::Node& node, const std::string& where,
                                            const FileReader& files, NodeReader* reader) {
  std::vector<MigrationSource> sources;
  if (!node.is_list()) {
    ReadFile(node, where, files, reader, &sources);
    return sources;
  }
  for (const yaml::Node& item : node.items) {
    if (item.is_scalar()) {
      ReadFile(item, where, files, reader, &sources);
    } else {
      ReadEntry(item, where, reader, &sources);
    }
  }
  return sources;
}

}  // namespace sluice::doctype
