// The REST resources: one file each, one function that adds its routes. The context must outlive
// the router.
#pragma once

#include "base/status.h"
#include "rest/context.h"
#include "rest/http_types.h"

namespace sluice::rest {

// All of the below and the index at `/`. /openapi.json is added last of all, by server/, when other
// modules have added theirs (openapi.h).
Status AddRestRoutes(Router& router, Context& context);

Status AddBucketRoutes(Router& router, Context& context);      // buckets.cc
Status AddCollectionRoutes(Router& router, Context& context);  // collections.cc
Status AddIndexRoutes(Router& router, Context& context);       // indexes.cc
Status AddTypeRoutes(Router& router, Context& context);        // types.cc
Status AddHistoryRoutes(Router& router, Context& context);     // history.cc
Status AddDocumentRoutes(Router& router, Context& context);    // documents.cc
Status AddMutationRoutes(Router& router, Context& context);    // mutations.cc
Status AddScanRoutes(Router& router, Context& context);        // scan.cc
Status AddBatchRoutes(Router& router, Context& context);       // batch.cc
Status AddImportRoutes(Router& router, Context& context);      // import.cc
Status AddFeedRoutes(Router& router, Context& context);        // feed.cc
Status AddUserRoutes(Router& router, Context& context);        // users.cc
Status AddTokenRoutes(Router& router, Context& context);       // tokens.cc
Status AddOperationRoutes(Router& router, Context& context);   // operations.cc
Status AddHealthRoutes(Router& router, Context& context);      // health.cc

}  // namespace sluice::rest
