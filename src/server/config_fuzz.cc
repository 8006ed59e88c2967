// Any bytes as a configuration file: a value or a problem for each setting, and what is printed
// from a good file reads back to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "server/config.h"
#include "server/config_print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice::server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ConfigSources sources{.file = "fuzz.yaml"};
  const ConfigResult first = LoadConfigText(sources, text);
  if (!first.problems.empty()) return 0;
  const ConfigResult second = LoadConfigText(sources, ConfigAsYaml(first.loaded));
  CHECK(second.problems.empty());
  for (const auto& [name, value] : first.loaded.values) {
    CHECK(second.loaded.values.at(name).text == value.text);
  }
  return 0;
}
