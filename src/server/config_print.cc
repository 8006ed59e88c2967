#include "server/config_print.h"

#include <algorithm>

#include "json/print.h"
#include "json/value.h"
#include "server/settings.h"

namespace sluice::server {
namespace {

constexpr std::string_view kPageHead =
    R"(# Configuration

<!-- Made by `sluice config docs`; a test compares. The table is in src/server/settings.cc. -->

`sluice serve` reads settings from one YAML file (`--config FILE`), then from environment variables, then from flags; a later
value replaces an earlier one. Each section of the file is a map:

```yaml
data:
  directory: /var/lib/sluice
listen:
  http: 127.0.0.1:8091
storage:
  durability: sync
```

An unknown section, setting or `SLUICE_...` variable is an error. The error has the line and column, and suggests the nearest
name that exists. The server reports all errors at once. Write durations as `250ms`, `5s`, `10m`, `2h`, `7d`, and sizes as
`512`, `64KiB`, `20MiB`, `1GiB`.

`sluice config print` shows all values and the source of each; it hides the passwords in URLs. `sluice config validate FILE`
checks a file. The variables `SLUICE_SERVER`, `SLUICE_USER`, `SLUICE_PASSWORD`, `SLUICE_TOKEN` and `SLUICE_CA_FILE` are not
settings: the command line client reads them (see [cli.md](cli.md)).
)";

std::string Quoted(std::string_view text) {
  std::string quoted;
  json::AppendQuoted(text, &quoted);  // a JSON string is a YAML string
  return quoted;
}

// The text of a value that may be shown: `http://user:*****@host`, as a log or a ticket may have
// it.
std::string ShownText(const Setting& setting, const ConfigValue& value) {
  const std::string& text = value.text;
  if (setting.type != SettingType::kUrl) return text;
  const size_t start = text.find("://");
  if (start == std::string::npos) return text;
  const size_t end = std::min(text.find_first_of("/?#", start + 3), text.size());
  const size_t at = text.rfind('@', end);
  if (at == std::string::npos || at < start + 3) return text;
  const size_t colon = text.find(':', start + 3);
  const size_t secret = colon < at ? colon + 1 : start + 3;
  return text.substr(0, secret) + "*****" + text.substr(at);
}

const ConfigValue& ValueOf(const LoadedConfig& loaded, const Setting& setting) {
  return loaded.values.find(setting.name)->second;
}

std::string MarkdownRow(const Setting& setting) {
  const std::string fallback =
      setting.fallback.empty() ? "none" : fmt::format("`{}`", setting.fallback);
  return fmt::format("| `{}` | {} | {} | `{}` | `{}` | {} |\n", setting.key(), Expected(setting),
                     fallback, setting.Flag(), setting.Environment(), setting.help);
}

}  // namespace

std::string ConfigAsYaml(const LoadedConfig& loaded) {
  std::string out;
  for (const SectionHelp& section : Sections()) {
    out += fmt::format("{}:\n", section.name);
    for (const Setting& setting : Settings()) {
      if (setting.section() != section.name) continue;
      const ConfigValue& value = ValueOf(loaded, setting);
      const bool number = setting.type == SettingType::kCount;
      out += fmt::format("  {}: {}", setting.key(),
                         number ? value.text : Quoted(ShownText(setting, value)));
      if (!value.source.empty()) out += fmt::format("  # {}", value.source);
      out += '\n';
    }
  }
  return out;
}

std::string ConfigAsJson(const LoadedConfig& loaded) {
  json::Value root = json::Value::EmptyObject();
  for (const SectionHelp& section : Sections()) {
    json::Value object = json::Value::EmptyObject();
    for (const Setting& setting : Settings()) {
      if (setting.section() != section.name) continue;
      const ConfigValue& value = ValueOf(loaded, setting);
      const auto* count = std::get_if<uint64_t Config::*>(&setting.member);
      const bool number = setting.type == SettingType::kCount;
      object.Set(setting.key(), number ? json::Value::Unsigned(loaded.config.*(*count))
                                       : json::Value(ShownText(setting, value)));
    }
    root.Set(section.name, std::move(object));
  }
  return json::ToText(root, {.indent = 2}) + "\n";
}

std::string ConfigAsMarkdown() {
  std::string page(kPageHead);
  for (const SectionHelp& section : Sections()) {
    page += fmt::format("\n## {}\n\n{}\n\n", section.name, section.help);
    page +=
        "| setting | value | default | flag | environment | meaning |\n|---|---|---|---|---|---|\n";
    for (const Setting& setting : Settings()) {
      if (setting.section() == section.name) page += MarkdownRow(setting);
    }
  }
  return page;
}

}  // namespace sluice::server
