#include "function/trial/problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "function/trial/path.h"

namespace sluice::function::trial {
namespace {

using json::Value;

void Missing(const Value& expected, const std::string& where, Problems* problems) {
  problems->push_back({where, fmt::format("expected {}, found none", Short(expected))});
}
void Unwanted(const Value& got, const std::string& where, Problems* problems) {
  problems->push_back({where, fmt::format("expected nothing, got {}", Short(got))});
}

// The other lines, such as a stack, are in the log.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void Compare(const Value& expected, const Value& got, const std::string& where,
             Problems* problems) {
  if (expected == got) return;
  if (expected.is_object() && got.is_object()) {
    for (const json::Field& field : expected.fields()) {
      const std::string below = Below(where, field.name());
      const Value* found = got.Find(field.name());
      if (found == nullptr) {
        Missing(field.value, below, problems);
      } else {
        Compare(field.value, *found, below, problems);
      }
    }
    for (const json::Field& field : got.fields()) {
      if (expected.Find(field.name()) == nullptr) {
        Unwanted(field.value, Below(where, field.name()), problems);
      }
    }
  } else if (expected.is_array() && got.is_array()) {
    for (size_t i = 0; i < std::max(expected.size(), got.size()); ++i) {
      const std::string below = Below(where, i);
      if (i >= got.size()) {
        Missing(expected[i], below, problems);
      } else if (i >= expected.size()) {
        Unwanted(got[i], below, problems);
      } else {
        Compare(expected[i], got[i], below, problems);
      }
    }
  } else {
    problems->push_back({where, fmt::format("expected {}, got {}", Short(expected), Short(got))});
  }
}

void CompareLines(const Value& expected, const std::vector<std::string>& got,
                  const std::string& where, Problems* problems) {
  for (size_t i = 0; i < std::max(expected.size(), got.size()); ++i) {
    const std::string below = Below(where, i);
    if (i >= got.size()) {
      Missing(expected[i], below, problems);
    } else if (i >= expected.size()) {
      problems->push_back({below, "expected nothing, got: " + FirstLine(got[i])});
    } else if (got[i].find(expected[i].AsString()) == std::string::npos) {
      problems->push_back({below, fmt::format("expected a line with {}, got: {}",
                                              Short(expected[i]), FirstLine(got[i]))});
    }
  }
}

}  // namespace sluice::function::trial
