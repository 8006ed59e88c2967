// stream.read, stream.open, stream.save: functions that read streams by pieces, make one of a file,
// and write one to a file.
#pragma once

#include <map>
#include <string>

#include "flow_engine/bundle.h"
#include "flow_engine/task.h"

namespace sluice::flow_engine {

// `files` says where files may be; it outlives the functions.
std::map<std::string, TaskMaker> StreamTasks(const BundleFiles& files);

}  // namespace sluice::flow_engine
