#include "flow/files_of_step.h"

#include <filesystem>
#include <optional>

namespace sluice::flow {
namespace {

std::string PlainPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  return std::filesystem::path(path).lexically_normal().string();
}

}  // namespace

Result<std::string> FilesOfStep::Read(Area area, std::string_view path) const {
  if (area != Area::kFile) return files_.Read(area, path);
  const std::string wanted = PlainPath(path);
  bool written = false;
  bool whole = false;                // nothing of what was there before is left
  std::optional<std::string> bytes;  // of what the step has written
  for (const Action& action : *actions_) {
    const auto* const file = std::get_if<WriteFile>(&action);
    if (file == nullptr || PlainPath(file->path) != wanted) continue;
    written = true;
    if (!file->bytes || file->mode == Mode::kReplace) {
      whole = true;
      bytes = file->bytes;
    } else {
      bytes = bytes.value_or("") + *file->bytes;
    }
  }
  if (!written) return files_.Read(area, path);
  if (!whole) {
    auto before = files_.Read(area, path);
    if (before) return *before + *bytes;
    if (before.error().code() != Code::kNotFound) return before;
  }
  if (bytes) return *bytes;
  return Fail(Code::kNotFound, "file.unreadable", "can't read {}: there is no such file", path);
}

Status FilesOfStep::Write(std::string_view path, std::string_view bytes, Mode mode) const {
  RETURN_IF_ERROR(files_.Check(Area::kFile, path));
  actions_->emplace_back(WriteFile{flow_, std::string(path), std::string(bytes), mode});
  return OkStatus();
}

Status FilesOfStep::Remove(std::string_view path) const {
  RETURN_IF_ERROR(files_.Check(Area::kFile, path));
  actions_->emplace_back(WriteFile{flow_, std::string(path), std::nullopt, Mode::kReplace});
  return OkStatus();
}

Status CarryOut(const WriteFile& file, const Files& files) {
  return file.bytes ? files.Write(file.path, *file.bytes, file.mode) : files.Remove(file.path);
}

}  // namespace sluice::flow
