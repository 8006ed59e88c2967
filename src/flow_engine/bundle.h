// The files of an app directory that flows are made of, as they are sent to a server and stored
// there: sluice.yaml, rest.yaml, flows.yaml, preload-override.yaml, flows/, tasks/, resources/.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/files.h"
#include "json/value.h"

namespace sluice::flow_engine {

inline constexpr size_t kMaxBundleBytes = 32ull << 20;

struct Bundle {
  std::map<std::string, std::string, std::less<>> files;  // by path below the app directory

  bool empty() const { return files.empty(); }
  const std::string* Find(std::string_view path) const;
  bool operator==(const Bundle&) const = default;
};

// {"files": {"path": "text" | {"base64": "..."}}}. Errors: bundle.invalid.
json::Value ToJson(const Bundle& bundle);
Result<Bundle> BundleFromJson(const json::Value& value);

// Whether a path of an app directory belongs into its bundle.
bool IsBundled(std::string_view path);

// `classpath()` reads the bundle's resources/; `file()` is confined to directories.
class BundleFiles final : public flow::Files {
 public:
  BundleFiles(const Bundle& bundle, const std::vector<std::string>& directories)
      : bundle_(bundle), directories_(directories, "") {}
  Status Check(Area area, std::string_view path) const override;
  Result<std::string> Read(Area area, std::string_view path) const override;
  Status Write(std::string_view path, std::string_view bytes, Mode mode) const override;
  Status Remove(std::string_view path) const override;
  // Where a path of `file()` really is. Error flow.file_outside.
  Result<std::string> PathOf(std::string_view path) const { return directories_.RealPathOf(path); }

 private:
  const Bundle& bundle_;
  const flow::DirectoryFiles directories_;
};

}  // namespace sluice::flow_engine
