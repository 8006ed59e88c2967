// Sub-document operations: looking up and changing parts of a document's text. A change keeps every
// other byte of the document, also white space and number literals.
//
// Errors carry the field "spec", the position of the failing spec in its list from 0:
//   path.invalid, json.invalid   the spec's path or value can't be read
//   subdoc.path_invalid          the operation can't work with a path of this kind
//   subdoc.path_not_found        nothing is there, or the parent is missing and create_path is off
//   subdoc.path_exists           insert or arrayAddUnique of what is there already
//   subdoc.path_mismatch         the path leads through, or to, a value of another type
//   subdoc.not_number            a counter on something that is no int64
//   subdoc.out_of_range          a counter would leave the range of int64
//   subdoc.delta_invalid         a counter by 0
//   subdoc.too_many_specs        more than kMaxSubdocSpecs
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sluice::json {

inline constexpr size_t kMaxSubdocSpecs = 16;

struct LookupSpec {
  enum class Op : uint8_t {
    kGet,     // the value's text
    kExists,  // "true", or subdoc.path_not_found
    kCount,   // the number of elements or fields of an array or object
  };
  Op op = Op::kGet;
  std::string path = {};
};

struct LookupResult {
  Status status;
  std::string value;  // JSON text, when status is OK
};

// One result per spec; each succeeds or fails by itself.
Result<std::vector<LookupResult>> Lookup(std::string_view document,
                                         std::span<const LookupSpec> specs);

struct MutateSpec {
  enum class Op : uint8_t {
    kInsert,          // a new field
    kUpsert,          // a field, new or not
    kReplace,         // an existing field or element; with an empty path the document
    kRemove,          // a field or element
    kArrayAppend,     // path is the array's
    kArrayPrepend,    // path is the array's
    kArrayInsert,     // path ends with the position that the new element will have
    kArrayAddUnique,  // appends unless an equal element is there
    kCounter,         // adds delta to an int64; a missing field starts at 0
  };
  Op op = Op::kUpsert;
  std::string path = {};
  std::string value = {};    // JSON text; not for kRemove and kCounter
  int64_t delta = 0;         // for kCounter
  bool create_path = false;  // make missing objects on the way, and the array of an array operation
};

struct MutateResult {
  std::string document;
  std::vector<std::string> values;  // per spec: a counter's new value as JSON text, else empty
};

// Applies the specs in order, each to the outcome of the one before. All or nothing: if a spec
// fails, the error names it and there is no result. The result is validated as a whole.
Result<MutateResult> Mutate(std::string_view document, std::span<const MutateSpec> specs);

}  // namespace sluice::json
