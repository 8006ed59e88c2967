#include "flow_engine/bundle.h"

#include <algorithm>

#include "base/base64.h"

namespace sluice::flow_engine {
namespace {

constexpr std::string_view kDirectories[] = {"flows/", "tasks/", "resources/"};
constexpr std::string_view kNames[] = {"sluice.yaml", "rest.yaml", "flows.yaml",
                                       "preload-override.yaml"};

Status Invalid(std::string_view what) {
  return Error(Code::kInvalidArgument, "bundle.invalid", "{}", what);
}

bool IsText(std::string_view bytes) {
  return std::ranges::all_of(
      bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\0'; });
}

// No way out of the directory.
bool IsPlainPath(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.size() > 1000) return false;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return true;
}

}  // namespace

const std::string* Bundle::Find(std::string_view path) const {
  const auto found = files.find(path);
  return found == files.end() ? nullptr : &found->second;
}

json::Value ToJson(const Bundle& bundle) {
  json::Value files = json::Value::EmptyObject();
  for (const auto& [path, bytes] : bundle.files) {
    files.Set(path, IsText(bytes) ? json::Value(bytes)
                                  : json::Value::Object({{"base64", ToBase64(bytes)}}));
  }
  return json::Value::Object({{"files", std::move(files)}});
}

Result<Bundle> BundleFromJson(const json::Value& value) {
  if (!value["files"].is_object()) {
    return Unexpected(Invalid("expected an object 'files': a text for each path"));
  }
  Bundle bundle;
  size_t bytes = 0;
  for (const json::Field& field : value["files"].fields()) {
    const std::string path(field.name());
    if (!IsPlainPath(path) || !IsBundled(path)) {
      return Unexpected(Invalid(fmt::format("'{}' is not a file of an app's flows", path)));
    }
    if (field.value.is_string()) {
      bundle.files[path] = field.value.AsString();
    } else if (field.value["base64"].is_string()) {
      ASSIGN_OR_RETURN(bundle.files[path], FromBase64(field.value["base64"].AsString()));
    } else {
      return Unexpected(Invalid(fmt::format("'{}': expected a text or base64", path)));
    }
    bytes += path.size() + bundle.files[path].size();
  }
  if (bytes > kMaxBundleBytes) {
    return Unexpected(Error(Code::kTooLarge, "bundle.too_large",
                            "the files have {} bytes; at most {} are allowed", bytes,
                            kMaxBundleBytes));
  }
  return bundle;
}

bool IsBundled(std::string_view path) {
  return std::ranges::find(kNames, path) != std::end(kNames) ||
         std::ranges::any_of(kDirectories,
                             [&](std::string_view prefix) { return path.starts_with(prefix); });
}

Status BundleFiles::Check(Area area, std::string_view path) const {
  return area == Area::kResource ? OkStatus() : directories_.Check(area, path);
}

Result<std::string> BundleFiles::Read(Area area, std::string_view path) const {
  if (area == Area::kFile) return directories_.Read(area, path);
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string* const found = bundle_.Find("resources/" + std::string(path));
  if (found == nullptr) {
    return Fail(Code::kNotFound, "file.unreadable", "there is no file 'resources/{}'", path);
  }
  return *found;
}

Status BundleFiles::Write(std::string_view path, std::string_view bytes, Mode mode) const {
  return directories_.Write(path, bytes, mode);
}
Status BundleFiles::Remove(std::string_view path) const { return directories_.Remove(path); }

}  // namespace sluice::flow_engine
