#include "flow/flow_list.h"

#include <array>
#include <map>
#include <memory>
#include <utility>

#include "base/nearest.h"
#include "flow/draft.h"
#include "flow/source_tree.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr std::string_view kClasspath = "classpath:";
constexpr std::string_view kFile = "file:";

bool IsFlowName(std::string_view name) { return name.ends_with(".yml") || name.ends_with(".yaml"); }

// a.yml for a.yaml and the other way round.
std::string OtherName(const std::string& name) {
  const std::string base = name.substr(0, name.rfind('.'));
  return base + (name.ends_with(".yml") ? ".yaml" : ".yml");
}

class ListReader {
 public:
  ListReader(const ReadLocation& read, const Settings& settings, Problems* problems)
      : read_(read), settings_(settings), problems_(problems) {}

  void ReadList(const std::string& location) {
    const auto text = read_(location);
    if (!text) {
      problems_->AddWarning(Error(Code::kNotFound, "flow.no_list", "flow list {} is not read: {}",
                                  location, text.error().message())
                                .At({location, 0, 0}));
      return;
    }
    const auto root = ReadTree(*text, location, settings_, problems_);
    if (!root) return;
    const Reading reading{location, options_, problems_};
    const yaml::Node* flows = root->Find("flows");
    if (flows == nullptr || !flows->is_list()) {
      reading.Add(*root, Error(Code::kInvalidArgument, "flow.bad_list",
                               "a flow list must have 'flows', a list of file names"));
      return;
    }
    static const std::array<std::string, 2> kKeys = {"flows", "location"};
    reading.CheckKeys(*root, kKeys, "a flow list");
    const yaml::Node* where = root->Find("location");
    std::string folder =
        IsEmpty(where) ? std::string(kDefaultFlowLocation) : reading.Text(*where, "location");
    if (!folder.ends_with('/')) folder += '/';
    for (const yaml::Node& item : flows->items) Add(item, folder, reading);
  }

  std::vector<FlowText> ReadFlows() {
    std::vector<FlowText> texts;
    for (const auto& [location, place] : flows_) {
      auto text = read_(location);
      if (!text) {
        if (auto other = read_(OtherName(location))) text = std::move(other);
      }
      if (text) {
        texts.push_back({location, *std::move(text)});
      } else {
        problems_->AddError(Error(Code::kNotFound, "flow.no_file", "{} can't be read: {}", location,
                                  text.error().message())
                                .At(place));
      }
    }
    return texts;
  }

 private:
  void Add(const yaml::Node& item, const std::string& folder, const Reading& reading) {
    const std::string name(Trim(reading.Text(item, "flows")));
    if (name.empty()) return;
    if (!IsFlowName(name)) {
      reading.Add(item,
                  Error(Code::kInvalidArgument, "flow.bad_list",
                        "Ignored {} because it does not have .yml or .yaml file extension", name));
      return;
    }
    flows_.emplace(folder + name, reading.At(item));
  }

  const ReadLocation& read_;
  const Settings& settings_;
  Problems* const problems_;
  const CompileOptions options_;
  std::map<std::string, Place> flows_;
};

}  // namespace

ReadLocation AppLocations(const std::string& app_directory, const Files& files) {
  auto resources =
      std::make_shared<DirectoryFiles>(std::vector<std::string>{}, app_directory + "/resources");
  auto app = std::make_shared<DirectoryFiles>(std::vector<std::string>{}, app_directory);
  return [resources, app, &files](std::string_view location) -> Result<std::string> {
    if (location.starts_with(kFile)) {
      return files.Read(Files::Area::kFile, location.substr(kFile.size()));
    }
    if (!location.starts_with(kClasspath)) {
      return Fail(Code::kInvalidArgument, "flow.bad_location",
                  "'{}' must start with classpath: or file:", location);
    }
    const std::string_view path = location.substr(kClasspath.size());
    auto text = resources->Read(Files::Area::kResource, path);
    return text ? text : app->Read(Files::Area::kResource, path);
  };
}

std::vector<FlowText> ReadFlowLists(std::string_view locations, const ReadLocation& read,
                                    const Settings& settings, Problems* problems) {
  ListReader reader(read, settings, problems);
  for (const std::string_view each : SplitArguments(locations)) {
    const std::string location(Trim(each));
    if (!location.empty()) reader.ReadList(location);
  }
  return reader.ReadFlows();
}

}  // namespace sluice::flow
