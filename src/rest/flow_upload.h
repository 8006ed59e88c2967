// Uploads: multipart/form-data taken apart, and bodies that are on disk.
#pragma once

#include "base/status.h"
#include "flow_engine/stream.h"
#include "json/value.h"
#include "rest/http_types.h"

namespace sluice::rest {

// Plain fields go to `query`; the first file is `body`, and all are in `parts`. Files of a body
// that is on disk are streams: `stream` instead of `body`. Then this waits for the disk.
Status AddUpload(const Request& request, flow_engine::StreamScope* streams, json::Value* dataset,
                 json::Value* query);
// A body on disk as a whole: `stream` and `size`.
Status AddSpooled(const Request& request, flow_engine::StreamScope* streams, json::Value* dataset);

// A name that comes again makes a list.
Status AddQueryPair(std::string_view name, std::string_view value, json::Value* query);
// Text that is none stays bytes.
json::Value TextOrBytes(std::string_view bytes);

}  // namespace sluice::rest
