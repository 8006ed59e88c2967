#include "flow/preload.h"

#include <algorithm>
#include <array>
#include <utility>

#include "flow/draft.h"
#include "flow/source_tree.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

class PreloadReader {
 public:
  explicit PreloadReader(const Reading& reading) : reading_(reading) {}

  std::vector<Preload> Read(const yaml::Node& root) {
    std::vector<Preload> entries;
    const yaml::Node* list = root.Find("preload");
    if (IsEmpty(list) || !list->is_list()) {
      Bad(root, "'preload' must be a list of maps with 'original' and 'routes'");
      return entries;
    }
    for (const yaml::Node& item : list->items) entries.push_back(Entry(item));
    return entries;
  }

 private:
  void Bad(const yaml::Node& at, const std::string& why) {
    reading_.Add(at, Error(Code::kInvalidArgument, "preload.invalid", "{}", why));
  }

  Preload Entry(const yaml::Node& node) {
    Preload made;
    made.place = reading_.At(node);
    static const std::array<std::string, 4> kKeys = {"original", "routes", "instances",
                                                     "keep-original"};
    reading_.CheckKeys(node, kKeys, "a preload override");
    const yaml::Node* original = node.Find("original");
    const yaml::Node* routes = node.Find("routes");
    if (IsEmpty(original) || IsEmpty(routes) || !routes->is_list()) {
      Bad(node, "'original' and a list of 'routes' are expected");
      return made;
    }
    made.original = std::string(Trim(reading_.Text(*original, "original")));
    for (const yaml::Node& route : routes->items) {
      made.routes.emplace_back(Trim(reading_.Text(route, "routes")));
    }
    if (const yaml::Node* instances = node.Find("instances"); !IsEmpty(instances)) {
      made.instances = ParseWholeNumber(reading_.Text(*instances, "instances"));
      if (!made.instances || *made.instances < 1 || *made.instances > kMaxInstances) {
        Bad(*instances, fmt::format("'instances' must be a number from 1 to {}", kMaxInstances));
      }
    }
    if (const yaml::Node* keep = node.Find("keep-original"); !IsEmpty(keep)) {
      const std::string text = reading_.Text(*keep, "keep-original");
      if (text != "true" && text != "false") Bad(*keep, "'keep-original' must be true or false");
      made.keep_original = text == "true";
    }
    return made;
  }

  const Reading& reading_;
};

void Merge(Preload entry, std::vector<Preload>* merged) {
  for (Preload& have : *merged) {
    if (have.original != entry.original) continue;
    for (std::string& route : entry.routes) {
      const auto found = std::find(have.routes.begin(), have.routes.end(), route);
      if (found == have.routes.end()) have.routes.push_back(std::move(route));
    }
    if (!have.instances) have.instances = entry.instances;
    have.keep_original = have.keep_original || entry.keep_original;
    return;
  }
  merged->push_back(std::move(entry));
}

}  // namespace

std::vector<Preload> ReadPreloads(const std::vector<FlowText>& texts, const Settings& settings,
                                  Problems* problems) {
  std::vector<Preload> merged;
  const CompileOptions options;
  for (const FlowText& text : texts) {
    const size_t errors_before = problems->errors();
    const auto root = ReadTree(text.text, text.file, settings, problems);
    if (!root) continue;
    const Reading reading{text.file, options, problems};
    std::vector<Preload> entries = PreloadReader(reading).Read(*root);
    if (problems->errors() > errors_before) continue;
    for (Preload& entry : entries) Merge(std::move(entry), &merged);
  }
  return merged;
}

}  // namespace sluice::flow
