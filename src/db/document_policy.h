// The interface through which this module applies document types. It knows nothing else of them:
// the module that does (doctype_db) gives a compiler to Database::Open, and each keyspace with
// types has a policy in the catalog, which is replaced as a whole when the types change.
//
// Prepare checks and upgrades a written document. Settle adds the parts that depend on the document
// that it replaces: stamps and the revision. The writer's thread does both, over the document that
// it finds. If another commit replaces that document before the write is committed, the committer
// settles again, and prepares again if the result of Prepare depended on that document. So Settle
// is short: it neither waits nor runs scripts.
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

// Called for a document that can't be migrated to the form in which its type has it read. True: the
// scan leaves it out and goes on. Without such a function the document is an error.
using OnUnreadable = std::function<bool(std::string_view key, const Status& why)>;

// Immutable; any thread.
class DocumentPolicy {
 public:
  virtual ~DocumentPolicy() = default;

  // Not OK: the stored types can't be used, so no document is written or deleted, and none expires.
  virtual Status CheckUsable() const { return OkStatus(); }
  // Whether Prepare or AsRead may run scripts. A thread that must not wait leaves them to another.
  virtual bool RunsScripts() const = 0;

  struct WriteContext {
    std::string_view key;
    std::string_view actor;  // the user who writes; may be empty
    uint64_t now_ms = 0;
  };

  // The document that a write replaces.
  struct Replaced {
    const DocumentView* present = nullptr;  // null: none
    uint64_t last_revision = 0;             // the highest revision of the document that is kept
  };
  struct Settled {
    std::optional<std::string> body;  // the body to store, if it is not the one from Prepare
    // The replaced document becomes this revision; 0: it becomes none.
    uint64_t revision = 0;
    const RevisionLimits* limits = nullptr;  // null: such documents have no revisions
    bool purge = false;                      // all revisions are deleted
  };
  struct Prepared {
    std::optional<std::string> body;  // if it is not the given one
    // Not OK: the document does not fit its type. It is stored nevertheless; or, if there is a
    // `diverted` body, that is stored in `quarantine()` instead.
    Status violation;
    std::optional<std::string> diverted;
    Settled settled;  // the result of Settle, over the given `replaced`
  };
  // An error refuses the write. Takes at most as long as a script may.
  virtual Result<Prepared> Prepare(const WriteContext& context, const DocumentView& document,
                                   const Replaced& replaced) const = 0;
  // The keyspace of diverted documents. It exists unless an administrator has dropped it.
  virtual const KeyspaceName& quarantine() const = 0;

  // `body` is the one from Prepare.
  virtual Result<Settled> Settle(const WriteContext& context, std::string_view body,
                                 const Replaced& replaced) const = 0;
  // The same for a document that is deleted or expires; there is no body.
  virtual Settled SettleDelete(std::string_view key, const DocumentView& present,
                               uint64_t last_revision) const = 0;

  // Revisions can be read by keys of their own. No document can be written under such a key.
  struct RevisionName {
    std::string_view key;
    uint64_t version = 0;
  };
  virtual std::optional<RevisionName> RevisionOf(std::string_view key) const = 0;
  // The limits of a document's revisions; null if it has none.
  virtual const RevisionLimits* LimitsOf(std::string_view key,
                                         const DocumentView* document) const = 0;
  virtual std::string RevisionKey(std::string_view key, const DocumentView* document,
                                  uint64_t version) const = 0;
  virtual bool KeepsRevisions() const = 0;

  // A text that identifies the form in which documents are read, which may differ from the stored
  // one. Policies with equal texts read them in the same form; empty: documents are read as stored.
  virtual const std::string& read_form() const = 0;
  // Whether AsRead would change this document. Short.
  virtual bool ReadsOtherwise(std::string_view key, const DocumentView& document) const = 0;
  // The body as readers see it; nothing if that is the stored one. Takes at most as long as a
  // script may. `version` asks for another version of the type's schema than the current one.
  virtual Result<std::optional<std::string>> AsRead(std::string_view key,
                                                    const DocumentView& document,
                                                    std::string_view version = {}) const = 0;
  // The result of AsRead, if it is cached. Short.
  virtual std::optional<std::string> Remembered(std::string_view key,
                                                const DocumentView& document) const = 0;
  // Whether the result of AsRead is stored after a read.
  virtual bool Persists(std::string_view key, const DocumentView& document) const = 0;

  // Whether documents of this keyspace record when they were last read.
  virtual bool NotesAccess() const = 0;
  // The stored body with `now_ms` as that time; nothing if its time is recent enough. Short.
  virtual std::optional<std::string> Accessed(std::string_view key, const DocumentView& document,
                                              uint64_t now_ms) const = 0;
  // Whether the server itself sets this field of the root, or a field in it.
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
