#include "flow_engine/static_content.h"

#include <algorithm>
#include <filesystem>

#include "flow_engine/app.h"
#include "json/crc64.h"

namespace sluice::flow_engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClasspath = "classpath:";
constexpr std::string_view kFile = "file:";

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {".html", "text/html"},        {".htm", "text/html"},       {".css", "text/css"},
    {".js", "text/javascript"},    {".mjs", "text/javascript"}, {".json", "application/json"},
    {".xml", "application/xml"},   {".txt", "text/plain"},      {".md", "text/markdown"},
    {".csv", "text/csv"},          {".svg", "image/svg+xml"},   {".png", "image/png"},
    {".jpg", "image/jpeg"},        {".jpeg", "image/jpeg"},     {".gif", "image/gif"},
    {".webp", "image/webp"},       {".ico", "image/x-icon"},    {".pdf", "application/pdf"},
    {".wasm", "application/wasm"}, {".woff", "font/woff"},      {".woff2", "font/woff2"},
};

std::string TypeOf(std::string_view path) {
  for (const auto& [suffix, type] : kTypes) {
    if (path.ends_with(suffix)) return std::string(type);
  }
  return "application/octet-stream";
}

bool MatchesAny(const std::vector<std::string>& patterns, std::string_view path) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    if (pattern.starts_with('*')) return path.ends_with(pattern.substr(1));
    if (pattern.ends_with('*')) return path.starts_with(pattern.substr(0, pattern.size() - 1));
    return path == pattern;
  });
}

// No way up, nothing hidden, no backslash or NUL.
bool IsPlain(std::string_view path) {
  if (!path.starts_with('/') || path.find_first_of(std::string_view("\\\0", 2)) != path.npos)
    return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    if (path.starts_with('.')) return false;
    path.remove_prefix(std::min(path.find('/'), path.size()));
  }
  return true;
}

std::optional<StaticFile> FromBundle(const App& app, const std::string& path) {
  const std::string* const bytes = app.bundle.Find("resources" + path);
  if (bytes == nullptr) return std::nullopt;
  return StaticFile{.content_type = TypeOf(path),
                    .etag = fmt::format("\"{}-{:x}\"", json::Crc64IsoHex(*bytes), bytes->size()),
                    .bytes = *bytes,
                    .size = bytes->size()};
}

std::optional<StaticFile> FromDisk(const App& app, const std::string& folder,
                                   const std::string& path) {
  const auto real = app.files->PathOf(folder + path);
  if (!real) return std::nullopt;
  // Links inside the folder may not lead out of it, even to other directories that are allowed.
  std::error_code error;
  const fs::path base = fs::weakly_canonical(folder, error);
  if (error || fs::path(*real).lexically_relative(base).string().starts_with(".."))
    return std::nullopt;
  if (!fs::is_regular_file(*real, error)) return std::nullopt;
  const uint64_t size = fs::file_size(*real, error);
  const auto changed = fs::last_write_time(*real, error).time_since_epoch().count();
  if (error) return std::nullopt;
  return StaticFile{.content_type = TypeOf(path),
                    .etag = fmt::format("\"{:x}-{:x}\"", static_cast<uint64_t>(changed), size),
                    .path = *real,
                    .size = size};
}

}  // namespace

bool StaticContent::IsFiltered(std::string_view path) const {
  return !filter_service.empty() && MatchesAny(filter_paths, path) &&
         !MatchesAny(filter_exclusions, path);
}

bool StaticContent::IsCached(std::string_view path) const {
  return std::ranges::find(no_cache, path) == no_cache.end();
}

std::optional<StaticFile> FindStatic(const App& app, std::string_view path) {
  const std::string& folder = app.rest.content.folder;
  if (!IsPlain(path)) return std::nullopt;
  const auto find = [&](const std::string& name) {
    if (folder.starts_with(kClasspath))
      return FromBundle(app, folder.substr(kClasspath.size()) + name);
    return FromDisk(app, folder.substr(kFile.size()), name);
  };
  const std::string text(path);
  if (text.ends_with('/')) return find(text + "index.html");
  if (auto file = find(text)) return file;
  const bool has_dot = text.find('.', text.rfind('/')) != std::string::npos;
  return has_dot ? std::nullopt : find(text + ".html");
}

}  // namespace sluice::flow_engine
