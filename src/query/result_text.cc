#include "query/result_text.h"

#include "json/print.h"

namespace sluice::query {

void AppendResult(const json::Value& value, std::string* out, int indent) {
  json::Print(value, out, {.indent = indent, .numbers = json::PrintOptions::Numbers::kPlain});
}

std::string ResultText(const json::Value& value) {
  std::string text;
  AppendResult(value, &text);
  return text;
}

}  // namespace sluice::query
