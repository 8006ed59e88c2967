// What a keyspace's document types do to its documents. This module knows no types: the one that
// does gives a compiler to Database::Open, and each keyspace with types has a policy in the
// catalog, which is swapped as a whole when they change.
//
// A write is prepared on the writer's thread, and there also settled over what it seems to replace.
// If something else is in that place when it comes to be committed, the committer settles it again,
// so that Settle is short: it neither waits nor runs scripts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "db/document.h"
#include "db/types.h"

namespace sluice::db {

// A document type as it is stored with its keyspace. Only a PolicyCompiler reads the text.
struct TypeDefinition {
  std::string name;
  std::string text;  // JSON

  bool operator==(const TypeDefinition&) const = default;
};

// How many earlier versions of a document are kept, and for how long; 0 for no such limit.
struct RevisionLimits {
  uint64_t keep = 0;
  uint64_t max_age_ms = 0;
};

// Told of a document that can't be put into the form in which its type has it read. True: it is
// left out, and reading goes on. Where there is none, such a document is an error.
using OnUnreadable = std::function<bool(std::string_view key, const Status& why)>;

// Immutable; any thread.
class DocumentPolicy {
 public:
  virtual ~DocumentPolicy() = default;

  // Not OK: nobody knows what the types are, so nothing is written, deleted or expires.
  virtual Status CheckUsable() const { return OkStatus(); }
  // Whether Prepare or AsRead may run scripts: who must not wait calls them elsewhere.
  virtual bool RunsScripts() const = 0;

  struct WriteContext {
    std::string_view key;
    std::string_view actor;  // who writes; may be empty
    uint64_t now_ms = 0;
  };

  // What a write replaces.
  struct Replaced {
    const DocumentView* present = nullptr;  // null: there is nothing
    uint64_t last_revision = 0;             // the highest that is kept of the document
  };
  struct Settled {
    std::optional<std::string> body;  // what is stored instead of what Prepare left
    // What it replaces becomes this revision; 0: none.
    uint64_t revision = 0;
    const RevisionLimits* limits = nullptr;  // null: none are kept of such documents
    bool purge = false;                      // all that are there go
  };
  struct Prepared {
    std::optional<std::string> body;  // what takes the place of the document that was given
    // Not OK: the document is not what its type asks for. It is stored all the same, or `diverted`:
    // this body is stored in `quarantine()` instead.
    Status violation;
    std::optional<std::string> diverted;
    Settled settled;  // over what it was told, as Settle does it
  };
  // An error refuses the write. May take as long as a script may.
  virtual Result<Prepared> Prepare(const WriteContext& context, const DocumentView& document,
                                   const Replaced& replaced) const = 0;
  // Where diverted documents go. The keyspace is there if the administrator left it alone.
  virtual const KeyspaceName& quarantine() const = 0;

  // `body` is what Prepare left.
  virtual Result<Settled> Settle(const WriteContext& context, std::string_view body,
                                 const Replaced& replaced) const = 0;
  // The same for a document that is deleted or expires; there is no body.
  virtual Settled SettleDelete(std::string_view key, const DocumentView& present,
                               uint64_t last_revision) const = 0;

  // Revisions have keys by which they can be read, and nobody writes.
  struct RevisionName {
    std::string_view key;
    uint64_t version = 0;
  };
  virtual std::optional<RevisionName> RevisionOf(std::string_view key) const = 0;
  // Of a document's revisions; null if none are kept.
  virtual const RevisionLimits* LimitsOf(std::string_view key,
                                         const DocumentView* document) const = 0;
  virtual std::string RevisionKey(std::string_view key, const DocumentView* document,
                                  uint64_t version) const = 0;
  virtual bool KeepsRevisions() const = 0;

  // Documents may be read in another form than the stored one. Equal texts: in the same form; an
  // empty one: as they are stored.
  virtual const std::string& read_form() const = 0;
  // Whether AsRead would not give this document as it is. Short.
  virtual bool ReadsOtherwise(std::string_view key, const DocumentView& document) const = 0;
  // The body as readers see it; nothing if that is the stored one. May take as long as a script
  // may. `version` asks for another version of the type's schema than the present one.
  virtual Result<std::optional<std::string>> AsRead(std::string_view key,
                                                    const DocumentView& document,
                                                    std::string_view version = {}) const = 0;
  // What AsRead would give, if that is known from before. Short.
  virtual std::optional<std::string> Remembered(std::string_view key,
                                                const DocumentView& document) const = 0;
  // Whether what AsRead gives is to be stored, once it is read.
  virtual bool Persists(std::string_view key, const DocumentView& document) const = 0;

  // Documents may say when they were last read. False: none of this keyspace does.
  virtual bool NotesAccess() const = 0;
  // The stored body with `now_ms` as that time; nothing if what it says is recent enough. Short.
  virtual std::optional<std::string> Accessed(std::string_view key, const DocumentView& document,
                                              uint64_t now_ms) const = 0;
  // Whether the server sets this field of the root (or some of what is in it) by itself.
  virtual bool IsStamp(std::string_view field) const = 0;
};

// Any thread.
class PolicyCompiler {
 public:
  virtual ~PolicyCompiler() = default;
  // Takes some milliseconds.
  virtual Result<std::shared_ptr<const DocumentPolicy>> Compile(
      const KeyspaceName& keyspace, std::span<const TypeDefinition> types) const = 0;
};

}  // namespace sluice::db
