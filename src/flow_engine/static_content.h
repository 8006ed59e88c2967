// Static content of an app: files below a folder of its resources, or of a directory that the
// server's configuration allows (flows.directories).
//
//   static-content:
//     folder: 'classpath:/public'            # or file:/var/www
//     no-cache-pages: ['/', '/index.html']
//     filter:
//       path: ['/admin/*']
//       exclusion: ['*.css']
//       service: 'page.guard'
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::flow_engine {

inline constexpr std::string_view kDefaultStaticFolder = "classpath:/public";

struct StaticContent {
  std::string folder = std::string(kDefaultStaticFolder);  // without a slash at the end
  Place folder_place;                                      // in rest.yaml
  std::vector<std::string> no_cache;                       // paths
  std::vector<std::string> filter_paths;                   // texts, with `*` at one end or none
  std::vector<std::string> filter_exclusions;
  std::string filter_service;  // a route; empty for none

  bool IsFiltered(std::string_view path) const;
  bool IsCached(std::string_view path) const;
};

struct StaticFile {
  std::string content_type;
  std::string etag;             // in quotes
  std::string_view bytes = {};  // of the app's
  std::string path = {};        // of a file on disk, instead
  uint64_t size = 0;
};

struct App;

// The file that a GET of a path answers: that file, index.html of a folder, or NAME.html for a name
// without a dot. None when there is no such file inside the folder. Reads the disk for `file:`.
std::optional<StaticFile> FindStatic(const App& app, std::string_view path);

}  // namespace sluice::flow_engine
