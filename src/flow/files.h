// The files that `file(...)` and `classpath(...)` reach. A flow never opens a path itself: it asks
// this, which knows the directories that the configuration allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::flow {

class Files {
 public:
  static constexpr size_t kMaxBytes = 16 << 20;

  enum class Area : uint8_t {
    kFile,      // the allowed directories, by absolute path
    kResource,  // the app's resources, by path below them
  };
  enum class Mode : uint8_t { kReplace, kAppend };

  virtual ~Files() = default;
  // Whether a path lies where it may; error flow.file_outside.
  virtual Status Check(Area area, std::string_view path) const = 0;
  // Errors: flow.file_outside, file.unreadable, file.too_large.
  virtual Result<std::string> Read(Area area, std::string_view path) const = 0;
  // Makes directories on the way. Errors: flow.file_outside, flow.file_unwritable.
  virtual Status Write(std::string_view path, std::string_view bytes, Mode mode) const = 0;
  // No error when there is no such file.
  virtual Status Remove(std::string_view path) const = 0;
};

// Real directories. Links are followed first and the place they lead to must be inside, too. Any
// thread.
class DirectoryFiles final : public Files {
 public:
  // `allowed` are absolute paths; `resources` may be empty when the app has none.
  DirectoryFiles(std::vector<std::string> allowed, std::string resources);

  Status Check(Area area, std::string_view path) const override;
  Result<std::string> Read(Area area, std::string_view path) const override;
  Status Write(std::string_view path, std::string_view bytes, Mode mode) const override;
  Status Remove(std::string_view path) const override;
  // For kFile: the real path, after following links. Error flow.file_outside.
  Result<std::string> RealPathOf(std::string_view path) const { return Resolve(Area::kFile, path); }

 private:
  // The real path, if it is inside.
  Result<std::string> Resolve(Area area, std::string_view path) const;

  std::vector<std::string> allowed_;
  std::string resources_;
};

}  // namespace sluice::flow
