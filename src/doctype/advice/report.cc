#include "doctype/advice/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/quantity.h"
#include "doctype/advice/lint.h"
#include "json/print.h"

namespace sluice::doctype {
namespace {

size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string Padded(const std::string& text, size_t width, bool right) {
  const std::string blanks(width - std::min(width, WidthOf(text)), ' ');
  return right ? blanks + text : text + blanks;
}

// Control characters of keys and values must not drive a terminal.
std::string Printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string Bar(double share, size_t width) {
  const double clamped = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<size_t>(std::lround(clamped * static_cast<double>(width)));
  return std::string(full, '#') + std::string(width - full, '.');
}

std::string Table(const std::vector<std::string>& titles,
                  const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const std::string& title : titles) widths.push_back(WidthOf(title));
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells, bool numbers) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool right = numbers && !cells[i].empty() && cells[i][0] >= '0' && cells[i][0] <= '9';
      text += Padded(cells[i], widths[i], right) + "  ";
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  };
  line(titles, false);
  for (const auto& row : rows) line(row, true);
  return out;
}

std::string ToText(const LintReport& report) {
  std::string out =
      report.sampled()
          ? fmt::format(
                "{} of {} documents (sample), {} bytes in the sample, {} findings; bytes "
                "saved are scaled to all documents\n",
                report.documents, report.documents_there, report.bytes, report.findings.size())
          : fmt::format("{} documents, {} bytes, {} findings\n", report.documents, report.bytes,
                        report.findings.size());
  if (report.findings.empty()) return out;
  constexpr size_t kBar = 10;
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : report.findings) {
    rows.push_back({finding.rule, Printable(finding.path), fmt::format("{}", finding.documents),
                    Bar(finding.share, kBar), fmt::format("{:.1f}%", finding.share * 100),
                    fmt::format("{}", finding.bytes_saved), std::string(RiskName(finding.risk))});
  }
  out +=
      "\n" + Table({"RULE", "PATH", "DOCUMENTS", "SHARE", "", "BYTES SAVED", "RISK"}, rows) + "\n";
  for (const Finding& finding : report.findings) {
    out += fmt::format("{} {}\n    {}\n", finding.rule, Printable(finding.path), finding.message);
    if (!finding.example.empty()) {
      out += fmt::format("    example: {}\n", Printable(finding.example));
    }
    if (!finding.migration.is_missing()) {
      out += fmt::format("    migration: {}\n", json::ToText(finding.migration));
    }
    if (!finding.script.empty()) {
      out += fmt::format("    migration in JavaScript: {}\n", Printable(finding.script));
    }
    if (!finding.instead.empty()) {
      out += fmt::format("    instead of a migration: {}\n", Printable(finding.instead));
    }
  }
  return out;
}

json::Value ToJson(const LintReport& report) {
  json::Value findings = json::Value::EmptyArray();
  for (const Finding& finding : report.findings) {
    json::Value row =
        json::Value::Object({{"rule", finding.rule},
                             {"path", finding.path},
                             {"documents", static_cast<int64_t>(finding.documents)},
                             {"share", finding.share},
                             {"bytes_saved", static_cast<int64_t>(finding.bytes_saved)},
                             {"risk", RiskName(finding.risk)},
                             {"message", finding.message},
                             {"example", finding.example}});
    if (!finding.migration.is_missing()) row.Set("migration", finding.migration);
    if (!finding.script.empty()) row.Set("script", finding.script);
    if (!finding.instead.empty()) row.Set("instead", finding.instead);
    findings.Append(std::move(row));
  }
  return json::Value::Object({{"documents", static_cast<int64_t>(report.documents)},
                              {"of", static_cast<int64_t>(report.documents_there)},
                              {"sampled", report.sampled()},
                              {"bytes", static_cast<int64_t>(report.bytes)},
                              {"findings", findings}});
}

}  // namespace sluice::doctype
