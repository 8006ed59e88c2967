#include "flow/source_tree.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "flow/text_form.h"

namespace sluice::flow {
namespace {

constexpr size_t kMaxReferences = 16;         // of `${a}` to `${b}` to ...
constexpr size_t kMaxReplaced = 1000;         // references of one value, those of others included
constexpr size_t kMaxScalarBytes = 64 << 10;  // of one value, after replacing

class Replacer {
 public:
  Replacer(const Place& place, const Settings& settings, Problems* problems)
      : place_(place), settings_(settings), problems_(problems) {}

  std::string Replace(std::string_view text) {
    std::string out;
    while (true) {
      const size_t start = text.find("${");
      const size_t end = start == text.npos ? text.npos : text.find('}', start);
      if (end == text.npos) break;
      if (replaced_ > kMaxReplaced) return {};
      if (++replaced_ > kMaxReplaced) {
        problems_->AddError(Error(Code::kTooLarge, "flow.too_large",
                                  "a value has more than {} ${{...}}, those of others included",
                                  kMaxReplaced)
                                .At(place_));
        return {};
      }
      out.append(text.substr(0, start));
      out.append(ValueOf(text.substr(start + 2, end - start - 2)));
      text.remove_prefix(end + 1);
      if (out.size() > kMaxScalarBytes) {
        problems_->AddError(Error(Code::kTooLarge, "flow.too_large",
                                  "a value has more than {} bytes once its ${{...}} are replaced",
                                  kMaxScalarBytes)
                                .At(place_));
        return {};
      }
    }
    return out.append(text);
  }

 private:
  std::string ValueOf(std::string_view reference) {
    const size_t colon = reference.find(':');
    const std::string name(Trim(reference.substr(0, colon)));
    if (auto value = settings_.Environment(name)) return *std::move(value);
    if (std::find(open_.begin(), open_.end(), name) != open_.end() ||
        open_.size() >= kMaxReferences) {
      problems_->AddError(
          Error(Code::kInvalidArgument, "flow.setting_loop", "Config loop for '{}' detected", name)
              .At(place_));
      return {};
    }
    const json::Value value = settings_.Lookup(name);
    if (!value.is_missing() && !value.is_null()) {
      open_.push_back(name);
      std::string text = Replace(TextOf(value));
      open_.pop_back();
      return text;
    }
    if (colon != reference.npos) return std::string(reference.substr(colon + 1));
    problems_->AddWarning(Error(Code::kNotFound, "flow.unknown_setting",
                                "'{}' is neither in the environment nor in the configuration, and "
                                "has no default; it is read as nothing",
                                name)
                              .At(place_));
    return {};
  }

  const Place& place_;
  const Settings& settings_;
  Problems* const problems_;
  std::vector<std::string> open_;
  size_t replaced_ = 0;
};

class TreeMaker {
 public:
  TreeMaker(const std::string& file, const Settings& settings, Problems* problems)
      : file_(file), settings_(settings), problems_(problems) {}

  yaml::Node Make(const yaml::Node& node) {
    yaml::Node made;
    made.kind = node.kind;
    made.line = node.line;
    made.column = node.column;
    made.quoted = node.quoted;
    if (node.is_scalar()) {
      const Place place{file_, node.line, node.column};
      made.text = ReplaceVariables(node.text, place, settings_, problems_);
      if (made.text.empty() && !node.text.empty()) made.kind = yaml::Node::Kind::kNull;
      if (!IsValidUtf8(made.text)) {
        problems_->AddError(Error(Code::kInvalidArgument, "flow.bad_value",
                                  "a value is not UTF-8 once its ${{...}} are replaced")
                                .At(place));
        made.text.clear();
      }
    }
    for (const yaml::Node& item : node.items) made.items.push_back(Make(item));
    for (const yaml::Entry& entry : node.entries) Put(&made, entry.key, entry, Make(entry.value));
    return made;
  }

 private:
  // Puts `value` at a key that may have dots, which name maps in maps.
  void Put(yaml::Node* map, std::string_view key, const yaml::Entry& entry, yaml::Node value) {
    const size_t dot = key.find('.');
    const std::string first(key.substr(0, dot));
    yaml::Entry* found = nullptr;
    for (yaml::Entry& have : map->entries) {
      if (have.key == first) found = &have;
    }
    if (dot == key.npos && found == nullptr) {
      map->entries.push_back({first, entry.line, entry.column, std::move(value)});
    } else if (dot == key.npos) {
      Merge(found, entry, std::move(value));
    } else {
      if (found == nullptr) {
        yaml::Node inner;
        inner.kind = yaml::Node::Kind::kMap;
        inner.line = entry.value.line;
        inner.column = entry.value.column;
        map->entries.push_back({first, entry.line, entry.column, std::move(inner)});
        found = &map->entries.back();
      }
      if (!found->value.is_map()) return Twice(entry);
      Put(&found->value, key.substr(dot + 1), entry, std::move(value));
    }
  }

  void Merge(yaml::Entry* into, const yaml::Entry& entry, yaml::Node value) {
    if (!into->value.is_map() || !value.is_map()) return Twice(entry);
    for (yaml::Entry& inner : value.entries) {
      Put(&into->value, inner.key, inner, std::move(inner.value));
    }
  }

  void Twice(const yaml::Entry& entry) {
    problems_->AddError(Error(Code::kInvalidArgument, "flow.duplicate_key",
                              "'{}' is given twice: a key with dots and nested maps are the same",
                              entry.key)
                            .At({file_, entry.line, entry.column}));
  }

  const std::string& file_;
  const Settings& settings_;
  Problems* const problems_;
};

std::string WithoutTabs(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\t') {
      out += "  ";
    } else {
      out += c;
    }
  }
  return out;
}

// Tabs are read as blanks, which may cause the error. If the unchanged text has an error about a
// tab on the same or a neighbouring line, that is reported instead.
Status OrTab(const Status& error, std::string_view text) {
  const auto parsed = yaml::Parse(text, error.place().file);
  if (parsed || parsed.error().message().find("tab") == std::string::npos) return error;
  const uint32_t line = parsed.error().place().line;
  return line <= error.place().line + 1 && line + 1 >= error.place().line ? parsed.error() : error;
}

}  // namespace

Result<yaml::Node> ReadTree(std::string_view text, const std::string& file,
                            const Settings& settings, Problems* problems) {
  auto parsed = yaml::Parse(WithoutTabs(text), file);
  if (!parsed) {
    problems->AddError(OrTab(parsed.error(), text));
    return parsed;
  }
  return TreeMaker(file, settings, problems).Make(*parsed);
}

std::string ReplaceVariables(std::string_view text, const Place& place, const Settings& settings,
                             Problems* problems) {
  if (text.find("${") == text.npos) return std::string(text);
  return Replacer(place, settings, problems).Replace(text);
}

std::string WrittenKey(const yaml::Entry& entry) {
  std::string key = entry.key;
  for (const yaml::Entry* at = &entry; at->value.entries.size() == 1;) {
    const yaml::Entry& inner = at->value.entries.front();
    if (inner.line != entry.line || inner.column != entry.column) break;
    key += "." + inner.key;
    at = &inner;
  }
  return key;
}

bool IsEmpty(const yaml::Node* node) {
  return node == nullptr || node->is_null() || (node->is_scalar() && node->text.empty()) ||
         (node->is_list() && node->items.empty()) || (node->is_map() && node->entries.empty());
}

}  // namespace sluice::flow
