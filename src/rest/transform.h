// Writes that compute a document from the present one.
#pragma once

#include <functional>
#include <memory>

#include "db/commit.h"
#include "rest/context.h"
#include "rest/document_http.h"
#include "rest/http_types.h"

namespace sluice::rest {

// May be called more than once, on any thread; `present` is never null.
using Transformation = std::function<Result<db::Mutated>(const db::DocumentView& present)>;

// Applies it to the document, which must be there. A small document is transformed by the
// committer, so that concurrent transformations all succeed; a large one on a worker, so that the
// committer is not held up, and again when somebody else was faster (a bounded number of times).
Task<db::CommitResult> Transform(Context& context, Request& request, Target target,
                                 db::Precondition condition,
                                 std::shared_ptr<const Transformation> transformation);

}  // namespace sluice::rest
