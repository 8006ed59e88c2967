// Lists of flows: `flows.yaml` with `flows:` and `location:`, one or several.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "flow/compile.h"
#include "flow/files.h"
#include "flow/problem.h"
#include "flow/settings.h"

namespace sluice::flow {

inline constexpr std::string_view kDefaultFlowList = "classpath:/flows.yaml";
inline constexpr std::string_view kDefaultFlowLocation = "classpath:/flows/";

// The text at a location such as `classpath:/flows/a.yml` or `file:/etc/flows/a.yml`.
using ReadLocation = std::function<Result<std::string>(std::string_view location)>;

// `classpath:` reads the app's resources/ and then the app directory itself, `file:` the
// directories that `files` allows; both arguments must outlive the result. Errors:
// flow.bad_location and those of Files::Read.
ReadLocation AppLocations(const std::string& app_directory, const Files& files);

// The flows of some lists, whose locations are separated by commas, in the order of their names,
// each once. A missing list is a warning.
std::vector<FlowText> ReadFlowLists(std::string_view locations, const ReadLocation& read,
                                    const Settings& settings, Problems* problems);

}  // namespace sluice::flow
