// The values that a flow's text may look up while it is loaded: `${NAME:default}` and
// `map(config.key)`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "json/value.h"

namespace sluice::flow {

class Settings {
 public:
  virtual ~Settings() = default;
  // A variable of the process's environment.
  virtual std::optional<std::string> Environment(std::string_view name) const = 0;
  // The value of the app's configuration at a dotted key, or missing. Texts may contain `${...}`
  // themselves.
  virtual json::Value Lookup(std::string_view key) const = 0;
};

// The value at a dotted key. The configuration may have nested maps, keys with dots, or both.
json::Value ValueAt(const json::Value& config, std::string_view key);

// Settings that are given, for tests and for apps without configuration.
class FixedSettings final : public Settings {
 public:
  FixedSettings() = default;
  FixedSettings(std::map<std::string, std::string, std::less<>> environment, json::Value config)
      : environment_(std::move(environment)), config_(std::move(config)) {}

  std::optional<std::string> Environment(std::string_view name) const override;
  json::Value Lookup(std::string_view key) const override;

 private:
  std::map<std::string, std::string, std::less<>> environment_;
  json::Value config_;
};

}  // namespace sluice::flow
