#include "flow/files.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/file.h"

namespace sluice::flow {
namespace {

namespace fs = std::filesystem;

// The path with links followed, as far as files exist; empty on an error.
fs::path RealPath(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  return error ? fs::path() : real;
}

// Whether the path, or a directory of it, is a link to something that does not exist: a write would
// create the target of the link, which may be outside.
bool HasDanglingLink(fs::path real) {
  std::error_code ignored;
  for (; real.has_relative_path(); real = real.parent_path()) {
    if (fs::is_symlink(fs::symlink_status(real, ignored))) return true;
  }
  return false;
}

// Opening a pipe or a device could block.
bool IsSpecialFile(const std::string& real) {
  std::error_code ignored;
  const fs::file_status status = fs::status(real, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool IsInside(const fs::path& path, const fs::path& directory) {
  const fs::path relative = path.lexically_relative(directory);
  return !relative.empty() && relative != "." && *relative.begin() != "..";
}

Status Unwritable(std::string_view path, std::string_view why) {
  return Error(Code::kIo, "flow.file_unwritable", "can't write {}: {}", path, why);
}

}  // namespace

DirectoryFiles::DirectoryFiles(std::vector<std::string> allowed, std::string resources)
    : resources_(std::move(resources)) {
  for (const std::string& directory : allowed) allowed_.push_back(RealPath(directory).string());
  if (!resources_.empty()) resources_ = RealPath(resources_).string();
}

Result<std::string> DirectoryFiles::Resolve(Area area, std::string_view path) const {
  while (path.starts_with('/')) path.remove_prefix(1);
  if (area == Area::kResource) {
    const fs::path real = RealPath(fs::path(resources_) / path);
    if (!resources_.empty() && IsInside(real, resources_)) return real.string();
    return Fail(Code::kForbidden, "flow.file_outside", "'{}' is not among the app's resources",
                path);
  }
  if (allowed_.empty()) {
    return Fail(Code::kForbidden, "flow.file_outside",
                "'/{}' can't be used: no directories are allowed for file(); the server's setting "
                "flows.directories names them",
                path);
  }
  const fs::path real = RealPath(fs::path("/") / path);
  for (const std::string& directory : allowed_) {
    if (directory.empty() || !IsInside(real, directory)) continue;
    if (!HasDanglingLink(real)) return real.string();
  }
  return Fail(Code::kForbidden, "flow.file_outside",
              "'/{}' is in none of the directories that flows may use", path);
}

Status DirectoryFiles::Check(Area area, std::string_view path) const {
  const auto real = Resolve(area, path);
  return real ? OkStatus() : real.error();
}

Result<std::string> DirectoryFiles::Read(Area area, std::string_view path) const {
  ASSIGN_OR_RETURN(const std::string real, Resolve(area, path));
  if (IsSpecialFile(real)) {
    return Fail(Code::kIo, "file.unreadable", "can't read {}: it is not a file", path);
  }
  return ReadFile(real, kMaxBytes);
}

Status DirectoryFiles::Write(std::string_view path, std::string_view bytes, Mode mode) const {
  ASSIGN_OR_RETURN(const std::string real, Resolve(Area::kFile, path));
  if (IsSpecialFile(real)) return Unwritable(path, "it is not a file");
  std::error_code error;
  fs::create_directories(fs::path(real).parent_path(), error);
  if (error) return Unwritable(path, error.message());
  std::ofstream out(real, mode == Mode::kAppend ? std::ios::binary | std::ios::app
                                                : std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? OkStatus() : Unwritable(path, "the system refused it");
}

Status DirectoryFiles::Remove(std::string_view path) const {
  ASSIGN_OR_RETURN(const std::string real, Resolve(Area::kFile, path));
  std::error_code error;
  fs::remove(real, error);
  return error ? Unwritable(path, error.message()) : OkStatus();
}

}  // namespace sluice::flow
