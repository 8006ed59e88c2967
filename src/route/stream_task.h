// stream.read, stream.open, stream.save: functions that read streams by pieces, make one of a file,
// and write one to a file.
#pragma once

#include <map>
#include <string>

#include "route/bundle.h"
#include "route/task.h"

namespace sluice::route {

inline constexpr uint64_t kDefaultPieceBytes = 64 << 10;
inline constexpr uint64_t kMaxPieceBytes = 1 << 20;

// `files` says where files may be; it outlives the functions.
std::map<std::string, TaskMaker> StreamTasks(const BundleFiles& files);

}  // namespace sluice::route
