// The table of all settings: the YAML reader, the environment, the flags, `sluice config print` and
// docs/reference/config.md are made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/status.h"
#include "server/config.h"

namespace sluice::server {

enum class SettingType : uint8_t { kPath, kAddress, kUrl, kDuration, kSize, kCount, kChoice };

struct Setting {
  std::string_view name;  // "section.key"
  SettingType type = SettingType::kPath;
  std::variant<std::string Config::*, uint64_t Config::*> member = {};
  std::string_view fallback = {};  // default value, as a user would write it
  uint64_t least = 0;              // of numbers, in ms, bytes or pieces
  uint64_t most = UINT64_MAX;
  std::span<const std::string_view> choices = {};  // of kChoice
  std::string_view flag = {};                      // when it is not --section-key
  std::string_view help = {};                      // a sentence

  std::string_view section() const { return name.substr(0, name.find('.')); }
  std::string_view key() const { return name.substr(name.find('.') + 1); }
  std::string Flag() const;         // "--log-level"
  std::string Environment() const;  // "SLUICE_LOG_LEVEL"
};

std::span<const Setting> Settings();
const Setting* FindSetting(std::string_view name);

struct SectionHelp {
  std::string_view name;
  std::string_view help;
};
std::span<const SectionHelp> Sections();

// The form of a value of this setting: "a duration such as 250ms, 5s, ...".
std::string Expected(const Setting& setting);

// Reads `text` as the setting's type into `config` and returns its canonical form. Error
// config.invalid_value, with the expected and the given value.
Result<std::string> SetValue(const Setting& setting, std::string_view text, Config* config);

}  // namespace sluice::server
