#include "flow/model_use.h"

#include <variant>

#include "flow/json_path.h"
#include "flow/plugin.h"

namespace sluice::flow {

void ModelUse::ReadKey(const Path& path, const Place& place) {
  const std::string key(path.first_key());
  if (key.empty()) {
    reads_any = true;
  } else {
    read.insert(key);
    read_at.emplace(key, place);
  }
  ReadIn(path, place);
}

void ModelUse::ReadIn(const Path& path, const Place& place) {
  for (const Step& step : path.steps()) {
    if (step.ref) Read(*step.ref, place);
    if (step.text) Read(*step.text, place);
  }
}

void ModelUse::Read(const ModelRef& ref, const Place& place) {
  if (ref.shared) {
    ReadIn(ref.path, place);
  } else {
    ReadKey(ref.path, place);
  }
}

void ModelUse::Read(const Template& text, const Place& place) {
  for (const Template::Piece& piece : text.pieces()) {
    if (piece.ref) Read(*piece.ref, place);
  }
}

void ModelUse::Read(const Conversion& conversion, const Place& place) {
  for (const auto& operand : conversion.operands) {
    if (const auto* ref = std::get_if<ModelRef>(&operand)) Read(*ref, place);
  }
}

void ModelUse::Read(const Expression& expression, const Place& place) {
  if (expression.space == Space::kModel) {
    ReadKey(expression.path, place);
  } else {
    ReadIn(expression.path, place);
  }
  Read(expression.content, place);
  for (const auto& [name, text] : expression.entries) Read(text, place);
  if (expression.conversion) Read(*expression.conversion, place);
  if (expression.search && expression.search->space() == Space::kModel) reads_any = true;
  if (!expression.call) return;
  for (const Expression& argument : expression.call->args) Read(argument, place);
}

void ModelUse::Write(const Path& path, const Place& place) {
  const std::string key(path.first_key());
  if (key.empty()) {
    writes_any = true;
  } else {
    written.emplace(key, place);
  }
  ReadIn(path, place);
}

}  // namespace sluice::flow
