// What the document resources share: the keyspace and key of a request, conditions and entity tags,
// a document as a member of a JSON answer, and the answer to a write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/commit.h"
#include "db/document.h"
#include "db/types.h"
#include "json/value.h"
#include "rest/context.h"
#include "rest/http_types.h"
#include "service/documents.h"

namespace sluice::rest {

using service::Target;
// Of routes with {keyspace} and {key}; those that do not read write.
Result<Target> TargetOf(const Context& context, const Request& request);
// On whose behalf a request writes.
std::string ActorOf(const Request& request);
service::Caller CallerOf(Request& request);

// An entity tag is the CAS in quotes.
void AddEntityTag(Response& response, db::Cas cas);
// Whether a list of tags (If-None-Match) has this one; `*` has every one.
bool HasEntityTag(std::string_view list, db::Cas cas);

// If-Match: "cas" is that version, `*` any; If-None-Match: `*` is none. http.bad_precondition when
// they are malformed or both there.
Result<db::Precondition> PreconditionOf(const Request& request);

// The expiry of a write: ?expiry= or X-Sluice-Expiry; 0 when neither is there.
Result<uint64_t> ExpiryOf(const Context& context, const Request& request);

// {"key":...,"cas":"...","expiry":ms?,"flags":n?,"xattrs":{}?,"value":...|"base64":"..."}
// on one line: line breaks between the parts of a JSON body become blanks.
enum class RowValues : uint8_t { kInclude, kOmit };
void AppendDocumentRow(std::string_view key, const db::DocumentView& document, RowValues values,
                       std::string* out);
// ,"value":... or ,"base64":"..."
void AppendValueMember(const db::DocumentView& document, std::string* out);
// What stands in its place if the document can't be read in the version that it is to be read in.
void AppendErrorMember(const Status& error, std::string* out);
void AppendUnreadableRow(std::string_view key, const Status& error, std::string* out);
void AppendOnOneLine(std::string_view json, std::string* out);

// How the answer below is described in OpenAPI.
Content WrittenContent();
// {"cas":"...","sequence":n} with the ETag; `created` answers 201. What was put in quarantine: 202.
enum class Outcome : uint8_t { kDone, kCreated };
void AnswerWrite(Response& response, const db::CommitResult& result, Outcome outcome);
// ,"quarantined":"keyspace/key","violation":{"id":...,"message":...} of a document that does not
// fit its type's schema.
void AppendViolation(const db::WriteResult& written, std::string* out);
// The same as members of an object.
void SetViolation(const db::WriteResult& written, json::Value* view);
// 412 where the request's own condition failed, with the present ETag if there is one.
void AnswerFailedWrite(const Context& context, const Request& request, Response& response,
                       const Status& error, const Target& target, db::Precondition condition);

}  // namespace sluice::rest
