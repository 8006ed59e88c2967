// The properties that the server sets when a document is written:
//
//   type        the type's name
//   schema      the current version, where the document has none
//   version     1, 2, 3, ...: one more than the document had before, or any revision of it
//   created, createdBy     when the document is new; kept afterwards
//   modified, modifiedBy   each time
//   accessed    kept; Touch sets it
//   geo         the client's: a country as two capital letters
//
// The server replaces a client's values of these, except for those that the type lets clients
// write. The rest of the document stays byte for byte the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "doctype/document_text.h"
#include "doctype/type.h"

namespace sluice::doctype {

struct StampInput {
  std::string_view document;                // valid JSON
  std::optional<std::string_view> present;  // the document that it replaces, if any
  uint64_t last_revision = 0;               // the highest version among the kept revisions
  std::string_view actor;                   // the writer: a user or "function:NAME"; may be empty
  uint64_t now_ms = 0;
};

struct Stamped {
  std::string document;
  uint64_t version = 0;           // of the document; 0 if its type counts none
  uint64_t previous_version = 0;  // of the present one, which a revision of it gets
};

// type.not_object, type.repeated_property, type.bad_country.
Result<Stamped> ApplyStamps(const Type& type, const StampInput& input);
// The same with the places of the properties, if the caller has them.
Result<Stamped> ApplyStamps(const Type& type, const StampInput& input, const StampSpans& spans);

// The document with a new time of access, or nothing if the one it has is recent enough: a read
// must not become a write each time.
std::optional<std::string> Touch(const Type& type, std::string_view document, uint64_t now_ms);

// The schema version that a document names; empty if it names none.
std::string SchemaVersion(const Type& type, std::string_view document);
// The same, and `unversioned` for an object that names none. Empty for a document that can't have a
// version.
std::string VersionOr(const Type& type, std::string_view document, std::string_view unversioned);
// A document that can say its version (VersionOr gave one), with this one.
std::string WithVersion(const Type& type, std::string_view document, std::string_view version);
// Whether the text is a word that people write for "no version": "none", "null", ...
bool MeansNoVersion(std::string_view version);

}  // namespace sluice::doctype
