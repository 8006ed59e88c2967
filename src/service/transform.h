// Writes that compute a document from the present one.
#pragma once

#include <functional>
#include <memory>

#include "db/commit.h"
#include "db/database.h"
#include "net/task.h"
#include "service/documents.h"

namespace sluice::service {

// May be called more than once, on any thread; `present` is never null.
using Transformation = std::function<Result<db::Mutated>(const db::DocumentView& present)>;

// Applies it to the document, which must be there. A small document is transformed by the
// committer, so that concurrent transformations all succeed; a large one on a worker, so that the
// committer is not held up, and again when somebody else was faster (a bounded number of times).
net::Task<db::CommitResult> Transform(db::Database& database, Caller caller, Target target,
                                      db::Precondition condition,
                                      std::shared_ptr<const Transformation> transformation);

}  // namespace sluice::service
