#include "server/config.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "server/settings.h"
#include "yaml/yaml.h"

namespace sluice::server {
namespace {

std::vector<std::string> SectionNames() {
  std::vector<std::string> names;
  for (const SectionHelp& section : Sections()) names.emplace_back(section.name);
  return names;
}

std::vector<std::string> KeysOf(std::string_view section) {
  std::vector<std::string> keys;
  for (const Setting& setting : Settings()) {
    if (setting.section() == section) keys.emplace_back(setting.key());
  }
  return keys;
}

// Collects values and problems, source by source; a later source overrides an earlier one.
class Loader {
 public:
  Loader() {
    for (const Setting& setting : Settings()) Set(setting, setting.fallback, Origin::kDefault, "");
  }

  void LoadDefaults(const std::map<std::string, std::string>& values) {
    LoadNamed(values, Origin::kMode);
  }
  void LoadFlags(const std::map<std::string, std::string>& values) {
    LoadNamed(values, Origin::kFlag);
  }
  void LoadYaml(const yaml::Node& root, const std::string& file);
  void LoadEnvironment(const std::vector<std::pair<std::string, std::string>>& variables);
  void AddProblem(Status problem) { result_.problems.push_back(std::move(problem)); }
  ConfigResult Finish();

 private:
  void LoadNamed(const std::map<std::string, std::string>& values, Origin origin) {
    for (const auto& [name, text] : values) {
      const Setting* setting = FindSetting(name);
      Set(*setting, text, origin, origin == Origin::kFlag ? setting->Flag() : "--dev");
    }
  }

  void LoadSection(std::string_view section, const yaml::Node& node, const std::string& file);
  void LoadKey(const Setting& setting, const yaml::Entry& entry, const std::string& file);
  void Set(const Setting& setting, std::string_view text, Origin origin, std::string source,
           const Place& place = {});

  ConfigResult result_;
};

void Loader::Set(const Setting& setting, std::string_view text, Origin origin, std::string source,
                 const Place& place) {
  auto canonical = SetValue(setting, text, &result_.loaded.config);
  if (!canonical) {
    Status problem = canonical.error();
    if (origin == Origin::kEnvironment || origin == Origin::kFlag) {
      problem = problem.Prefixed(source);
    }
    AddProblem(origin == Origin::kFile ? problem.At(place) : problem);
    return;
  }
  result_.loaded.values.insert_or_assign(
      std::string(setting.name), ConfigValue{std::move(*canonical), origin, std::move(source)});
}

void Loader::LoadYaml(const yaml::Node& root, const std::string& file) {
  if (root.is_null()) return;
  if (!root.is_map()) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value",
                     "expected a map of sections, found {}", yaml::KindName(root.kind))
                   .At({file, root.line, root.column}));
    return;
  }
  const std::vector<std::string> sections = SectionNames();
  for (const yaml::Entry& entry : root.entries) {
    if (KeysOf(entry.key).empty()) {
      AddProblem(Error(Code::kInvalidArgument, "config.unknown_key", "unknown section '{}'{}",
                       entry.key, DidYouMean(entry.key, sections))
                     .At({file, entry.line, entry.column}));
    } else {
      LoadSection(entry.key, entry.value, file);
    }
  }
}

void Loader::LoadSection(std::string_view section, const yaml::Node& node,
                         const std::string& file) {
  if (node.is_null()) return;
  if (!node.is_map()) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value",
                     "{}: expected a map of settings, found {}", section, yaml::KindName(node.kind))
                   .At({file, node.line, node.column}));
    return;
  }
  for (const yaml::Entry& entry : node.entries) {
    const Setting* setting = FindSetting(fmt::format("{}.{}", section, entry.key));
    if (setting == nullptr) {
      AddProblem(Error(Code::kInvalidArgument, "config.unknown_key",
                       "unknown setting '{}' in section '{}'{}", entry.key, section,
                       DidYouMean(entry.key, KeysOf(section)))
                     .At({file, entry.line, entry.column}));
    } else {
      LoadKey(*setting, entry, file);
    }
  }
}

void Loader::LoadKey(const Setting& setting, const yaml::Entry& entry, const std::string& file) {
  const yaml::Node& node = entry.value;
  const Place place = {file, node.line, node.column};
  if (!node.is_scalar()) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value", "{}: expected {}, found {}",
                     setting.name, Expected(setting), yaml::KindName(node.kind))
                   .At(place));
    return;
  }
  Set(setting, node.text, Origin::kFile, fmt::format("{}:{}:{}", file, node.line, node.column),
      place);
}

void Loader::LoadEnvironment(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> known;
  for (const Setting& setting : Settings()) known.push_back(setting.Environment());
  for (const auto& [name, text] : variables) {
    if (!name.starts_with("SLUICE_") || IsClientVariable(name)) continue;
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) {
      AddProblem(Error(Code::kInvalidArgument, "config.unknown_key",
                       "unknown environment variable {}{}", name, DidYouMean(name, known)));
    } else {
      Set(Settings()[static_cast<size_t>(found - known.begin())], text, Origin::kEnvironment, name);
    }
  }
}

ConfigResult Loader::Finish() {
  const Config& config = result_.loaded.config;
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value",
                     "tls.certificate and tls.key: expected both or neither, found only {}",
                     config.tls_key.empty() ? "tls.certificate" : "tls.key"));
  }
  if (config.data_directory.empty()) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value",
                     "data.directory: expected a path, found nothing"));
  }
  if (config.http_max_bodies_bytes < config.http_max_body_bytes) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value",
                     "http.max_bodies: expected at least http.max_body, which is {}, found {}",
                     FormatSizeBytes(config.http_max_body_bytes),
                     FormatSizeBytes(config.http_max_bodies_bytes)));
  }
  if (config.functions_max_documents > config.storage_max_commit_writes) {
    AddProblem(Error(Code::kInvalidArgument, "config.invalid_value",
                     "functions.max_documents: expected at most storage.max_commit_writes, which "
                     "is {}, as an invocation is one commit; found {}",
                     config.storage_max_commit_writes, config.functions_max_documents));
  }
  return std::move(result_);
}

ConfigResult Load(const ConfigSources& sources, Result<yaml::Node> file) {
  Loader loader;
  loader.LoadDefaults(sources.defaults);
  if (file) {
    loader.LoadYaml(*file, sources.file);
  } else {
    loader.AddProblem(file.error());
  }
  loader.LoadEnvironment(sources.environment);
  loader.LoadFlags(sources.flags);
  return loader.Finish();
}

}  // namespace

ConfigResult LoadConfig(const ConfigSources& sources) {
  return Load(sources, sources.file.empty() ? yaml::Node() : yaml::ParseFile(sources.file));
}

ConfigResult LoadConfigText(const ConfigSources& sources, std::string_view yaml) {
  return Load(sources, yaml::Parse(yaml, sources.file));
}

Result<Address> ParseAddress(std::string_view text) {
  const auto fail = [&] {
    return Fail(Code::kInvalidArgument, "config.invalid_value",
                "expected an address such as 127.0.0.1:8091, found '{}'", text);
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return fail();  // an IPv6 address without brackets: where does the port begin?
  }
  Address address{std::string(host), 0};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (host.empty() || !whole || host.find_first_of("[]/ ") != std::string_view::npos) return fail();
  return address;
}

bool IsLoopback(const Address& address) {
  in_addr v4;
  in6_addr v6;
  if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, address.host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return address.host == "localhost";
}

bool IsClientVariable(std::string_view name) {
  return name == "SLUICE_SERVER" || name == "SLUICE_USER" || name == "SLUICE_PASSWORD" ||
         name == "SLUICE_TOKEN" || name == "SLUICE_CA_FILE";
}

std::vector<std::pair<std::string, std::string>> ReadEnvironment() {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (const char* equals = std::strchr(*entry, '=')) {
      pairs.emplace_back(std::string(*entry, static_cast<size_t>(equals - *entry)), equals + 1);
    }
  }
  return pairs;
}

}  // namespace sluice::server
