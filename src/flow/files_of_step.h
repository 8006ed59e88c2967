// Files as the mappings of one step see them. What a step writes is an action of it (WriteFile),
// carried out when the step is taken; mappings that come later in the same step read it all the
// same.
//
// Thread: one.
#pragma once

#include <string>
#include <string_view>

#include "flow/files.h"
#include "flow/run.h"

namespace sluice::flow {

class FilesOfStep final : public Files {
 public:
  // `flow` is whose mappings write. All of it outlives this.
  FilesOfStep(const Files& files, std::string_view flow, Actions* actions)
      : files_(files), flow_(flow), actions_(actions) {}

  Status Check(Area area, std::string_view path) const override { return files_.Check(area, path); }
  Result<std::string> Read(Area area, std::string_view path) const override;
  Status Write(std::string_view path, std::string_view bytes, Mode mode) const override;
  Status Remove(std::string_view path) const override;

 private:
  const Files& files_;
  const std::string_view flow_;
  Actions* const actions_;
};

// Does what a step asked for.
Status CarryOut(const WriteFile& file, const Files& files);

}  // namespace sluice::flow
