#include "doctype/migrations.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>

#include "base/clock.h"
#include "doctype/script_steps.h"
#include "doctype/stamps.h"
#include "json/parse.h"

namespace sluice::doctype {
namespace {

constexpr size_t kFar = std::numeric_limits<size_t>::max();

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "1.0 -> 2.0"; both empty if the name is something else.
std::pair<std::string, std::string> VersionsOf(std::string_view name) {
  constexpr std::string_view kArrow = "->";
  const size_t arrow = name.find(kArrow);
  if (arrow == std::string_view::npos) return {};
  const std::string_view from = Trimmed(name.substr(0, arrow));
  const std::string_view to = Trimmed(name.substr(arrow + kArrow.size()));
  if (from.empty() || to.empty() || from == to) return {};
  return {std::string(from), std::string(to)};
}

// The place of a step's name, in quotes.
Place PlaceOf(const MigrationSource& source, std::string_view name) {
  for (const char quote : {'\'', '"', '`'}) {
    const size_t at = source.code.find(fmt::format("{}{}{}", quote, name, quote));
    if (at == std::string::npos) continue;
    Place place{source.file, 1, 1};
    for (const char c : source.code.substr(0, at)) {
      place.line += c == '\n';
      place.column = c == '\n' ? 1 : place.column + 1;
    }
    return place;
  }
  return {source.file, 1, 1};
}

// How many steps each version is away from the current one.
std::map<std::string, size_t> Distances(const std::vector<Migrations::Step>& steps,
                                        const std::string& current) {
  std::map<std::string, size_t> distances;
  for (const auto& step : steps) {
    distances.emplace(step.from, kFar);
    distances.emplace(step.to, kFar);
  }
  distances[current] = 0;
  std::deque<std::string> queue = {current};
  while (!queue.empty()) {
    const std::string version = std::move(queue.front());
    queue.pop_front();
    for (const auto& step : steps) {
      if (step.to != version || distances[step.from] != kFar) continue;
      distances[step.from] = distances[version] + 1;
      queue.push_back(step.from);
    }
  }
  return distances;
}

bool Reaches(const std::vector<Migrations::Step>& steps, const std::string& from,
             const std::string& to) {
  return Distances(steps, to).contains(from) && Distances(steps, to)[from] != kFar;
}

bool IsForward(const std::map<std::string, size_t>& distances, const std::string& from,
               const std::string& to) {
  const size_t far = distances.at(from);
  return far != kFar && distances.at(to) + 1 == far;
}

}  // namespace

std::shared_ptr<const Migrations> Migrations::Compile(std::shared_ptr<const Type> type,
                                                      Problems* problems) {
  const size_t before = problems->errors.size();
  std::shared_ptr<Migrations> made(new Migrations(std::move(type)));
  for (const MigrationSource& source : made->type().migrations) {
    if (source.file.empty()) {
      made->AddSteps(source);
    } else {
      made->AddFile(source, problems);
    }
  }
  if (problems->errors.size() == before) made->CheckChain(problems);
  if (problems->errors.size() == before) made->FindUnversioned(problems);
  return problems->errors.size() == before ? made : nullptr;
}

void Migrations::AddSteps(const MigrationSource& source) {
  steps_.push_back({source.from, source.to, source.place, "", 0, &source.steps});
  if (source.back.empty()) return;
  steps_.push_back({source.to, source.from, source.place, "", 0, &source.back});
}

void Migrations::AddFile(const MigrationSource& source, Problems* problems) {
  const SystemClock clock;
  script::Outcome outcome;
  files_.push_back(ScriptSteps::ProgramOf(source.file, source.code));
  const auto steps = ScriptSteps::Start(files_.back(), {}, clock, &outcome);
  if (steps != nullptr) outcome = steps->List();
  if (!outcome.ok()) {
    const auto line = static_cast<uint32_t>(std::max(outcome.place.line, 0));
    const auto column = static_cast<uint32_t>(std::max(outcome.place.column, 0));
    return problems->AddError(
        Error(Code::kInvalidArgument, "migration.bad_file", "{}", outcome.message)
            .At({source.file, line, column}));
  }
  const auto names = json::Parse(outcome.value);
  for (const json::Value& pair : names->items()) {
    const std::string name(pair[0].AsString());
    const auto [from, to] = VersionsOf(name);
    if (from.empty() || !pair[1].AsBool()) {
      problems->AddError(Error(Code::kInvalidArgument, "migration.bad_name",
                               "'{}': expected a function called like '1.0 -> 2.0'", name)
                             .At(PlaceOf(source, name)));
      continue;
    }
    if (MeansNoVersion(from) || MeansNoVersion(to)) {
      problems->AddError(
          Error(Code::kInvalidArgument, "migration.bad_name",
                "'{}': '{}' is not a version; say 'unversioned: \"1.0\"' in the type "
                "for the version of documents that have none",
                name, MeansNoVersion(from) ? from : to)
              .At(PlaceOf(source, name)));
      continue;
    }
    steps_.push_back({from, to, PlaceOf(source, name), name, files_.size() - 1, nullptr});
  }
}

void Migrations::CheckChain(Problems* problems) const {
  const auto add = [&](std::string_view id, const Step& step, const std::string& message) {
    problems->AddError(Status(Code::kInvalidArgument, id, message).At(step.place));
  };
  const auto distances = Distances(steps_, type_->schema);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    for (size_t j = 0; j < i; ++j) {
      if (steps_[j].from != step.from || steps_[j].to != step.to) continue;
      add("migration.duplicate", step, fmt::format("step '{}' appears twice", step.Name()));
    }
    for (const std::string& version : {step.from, step.to}) {
      if (distances.at(version) != kFar) continue;
      add("migration.no_step", step,
          fmt::format("step '{}': no step leads from '{}' on to the current version '{}'",
                      step.Name(), version, type_->schema));
    }
    if (distances.at(step.from) == kFar || distances.at(step.to) == kFar) continue;
    if (IsForward(distances, step.from, step.to)) {
      const bool other = std::ranges::any_of(steps_, [&](const Step& rest) {
        return rest.from == step.from && rest.to != step.to && rest.place.line < step.place.line &&
               IsForward(distances, rest.from, rest.to);
      });
      if (other) {
        add("migration.ambiguous", step,
            fmt::format("step '{}': another step leads from '{}', too", step.Name(), step.from));
      }
      continue;
    }
    if (IsForward(distances, step.to, step.from) &&
        std::ranges::any_of(steps_, [&](const Step& rest) {
          return rest.from == step.to && rest.to == step.from;
        })) {
      continue;  // a way back
    }
    const bool circle = Reaches(steps_, step.to, step.from);
    add(circle ? "migration.cycle" : "migration.ambiguous", step,
        circle
            ? fmt::format("step '{}' closes a circle of versions", step.Name())
            : fmt::format("step '{}': another step leads from '{}', too", step.Name(), step.from));
  }
}

void Migrations::FindUnversioned(Problems* problems) {
  const auto distances = Distances(steps_, type_->schema);
  unversioned_ = type_->unversioned;
  if (!unversioned_.empty()) {
    if (distances.contains(unversioned_)) return;
    return problems->AddError(Error(Code::kInvalidArgument, "migration.unknown_version",
                                    "unversioned: type '{}' has no schema version '{}', only {}",
                                    type_->name, unversioned_, fmt::join(Versions(), ", "))
                                  .At(type_->unversioned_place));
  }
  const Step* other = nullptr;
  for (const Step& step : steps_) {
    if (!IsForward(distances, step.from, step.to)) continue;
    const bool led_to = std::ranges::any_of(steps_, [&](const Step& each) {
      return each.to == step.from && IsForward(distances, each.from, each.to);
    });
    if (led_to) continue;
    if (!unversioned_.empty()) other = &step;
    if (unversioned_.empty() || distances.at(step.from) > distances.at(unversioned_)) {
      unversioned_ = step.from;
    }
  }
  if (other == nullptr) return;
  problems->AddWarning(Error(Code::kInvalidArgument, "migration.several_firsts",
                             "no step leads to '{}', nor to another version: documents without a "
                             "version count as '{}' unless the type has 'unversioned'",
                             other->from, unversioned_)
                           .At(other->place));
}

std::vector<std::string> Migrations::Versions() const {
  std::vector<std::string> versions;
  for (const auto& [version, distance] : Distances(steps_, type_->schema)) {
    versions.push_back(version);
  }
  return versions;
}

Result<std::vector<size_t>> Migrations::Plan(std::string_view from, std::string_view to) const {
  const std::string target(to);
  std::string at(from);
  const auto distances = Distances(steps_, target);
  const auto start = distances.find(at);
  if (start == distances.end()) {
    return Fail(Code::kInvalidArgument, "migration.unknown_version",
                "type '{}' has no schema version '{}', only {}", type_->name, from,
                fmt::join(Versions(), ", "));
  }
  if (start->second == kFar) {
    return Fail(Code::kInvalidArgument, "migration.no_way_back",
                "no step of type '{}' leads from version '{}' to '{}'", type_->name, from, to);
  }
  std::vector<size_t> plan;
  while (at != target) {
    const auto next = std::ranges::find_if(steps_, [&](const Step& step) {
      return step.from == at && IsForward(distances, step.from, step.to);
    });
    plan.push_back(static_cast<size_t>(next - steps_.begin()));
    at = next->to;
  }
  return plan;
}

}  // namespace sluice::doctype
