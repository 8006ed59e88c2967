// A document type as it is declared: types/user.yaml of an app directory, or the same as JSON.
// Immutable once it is read; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "doctype/key_pattern.h"
#include "doctype/revision_key.h"
#include "json/path.h"
#include "json/value.h"

namespace sluice::doctype {

// The properties that have a meaning for the server.
enum class Stamp : uint8_t {
  kType,
  kSchema,
  kVersion,
  kCreated,
  kModified,
  kCreatedBy,
  kModifiedBy,
  kAccessed,
  kGeo,
};
inline constexpr size_t kStamps = 9;
// "type", "schema", "version", ...: as they are called in a type file.
std::string_view StampName(Stamp stamp);
std::optional<Stamp> StampOf(std::string_view name);

struct Properties {
  std::string object;               // the root's object that holds them; empty for the root
  std::string names[kStamps] = {};  // empty for unused stamps
  bool writable[kStamps] = {};      // a client may set it
  bool seconds = false;             // times are in seconds, else in milliseconds
  uint64_t accessed_precision_ms = 3'600'000;

  const std::string& name(Stamp stamp) const { return names[static_cast<size_t>(stamp)]; }
  bool uses(Stamp stamp) const { return !name(stamp).empty(); }
  bool is_writable(Stamp stamp) const { return writable[static_cast<size_t>(stamp)]; }
  // The path of a stamp, for messages: "_type" or "meta.type".
  std::string PathOf(Stamp stamp) const;
};

struct SchemaSource {
  std::string version;
  std::string file;  // empty when it stands in the type file
  std::string text;  // of the file
  json::Value schema;
  Place place;
};

// One step of a declarative migration.
struct MigrationStep {
  enum class Kind : uint8_t {
    kRename,
    kMove,
    kSplit,
    kJoin,
    kWrap,
    kUnwrap,
    kDefault,
    kDrop,
    kCast
  };
  Kind kind = Kind::kDrop;
  json::Value arguments;  // as declared
  Place place;
};

// A file with functions, or the steps between two versions.
struct MigrationSource {
  std::string file;  // of JavaScript; empty for steps
  std::string code;  // of the file, once it is read
  std::string from;
  std::string to;
  std::vector<MigrationStep> steps;
  std::vector<MigrationStep> back;  // from `to` to `from`; empty if there is no way back
  Place place;
};

struct Revisions {
  enum class OnDelete : uint8_t { kKeep, kPurge };
  uint64_t keep = 0;        // 0: no limit by number
  uint64_t max_age_ms = 0;  // 0: no limit by age
  RevisionKey key = *RevisionKey::Parse(RevisionKey::kDefault);
  OnDelete on_delete = OnDelete::kKeep;
};

struct ArrayLimit {
  json::Path path;
  uint64_t most = 0;
};

struct Limits {
  uint64_t bytes = 0;  // 0: none of its own
  uint64_t depth = 0;
  std::vector<ArrayLimit> arrays;

  bool any() const { return bytes > 0 || depth > 0 || !arrays.empty(); }
};

enum class Validation : uint8_t { kOff, kWarn, kEnforce, kQuarantine };
enum class ReadMigration : uint8_t { kOff, kTransient, kPersist };
enum class WriteMigration : uint8_t { kOff, kUpgrade };

struct Type {
  std::string name;
  std::string keyspace;           // bucket.scope.collection
  std::optional<KeyPattern> key;  // documents of this type have such keys
  bool by_property = false;       // documents with this name as their type property are of it
  Properties properties;
  std::string schema;  // the current version; empty if documents have none
  // The version of documents that say none. Empty: of stored ones the first version of the chain
  // (Migrations::unversioned), of written ones the current one.
  std::string unversioned;
  Place unversioned_place;
  std::vector<SchemaSource> schemas;
  Validation validate = Validation::kOff;
  std::vector<MigrationSource> migrations;
  ReadMigration on_read = ReadMigration::kTransient;
  WriteMigration on_write = WriteMigration::kUpgrade;
  std::optional<Revisions> revisions;
  Limits limits;
};

}  // namespace sluice::doctype
