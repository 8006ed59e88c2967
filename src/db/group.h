// One group of commits on its way into the journal: validates each commit against the store,
// against the groups that are on their way already, and against the commits of this group so far,
// and turns it into rows. It changes nothing but its batch; the committer appends the batch, and
// only then publishes the state.
//
// Lives on the committer's thread until its outcome is known. Commits given to Add must outlive it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "db/catalog.h"
#include "db/commit.h"
#include "db/hybrid_clock.h"
#include "db/last_writes.h"
#include "db/log.h"
#include "db/revisions.h"
#include "db/shard_state.h"
#include "db/types.h"
#include "storage/store.h"

namespace sluice::db {

class Group {
 public:
  struct Context {
    const storage::Store& store;
    ShardId shard;
    const Catalog& catalog;
    HybridClock& clock;
    LastWrites& last_writes;
    uint64_t now_ms;
    uint64_t tombstone_retention_ms;
    size_t commits;       // how many will be added
    uint16_t shards = 1;  // of the database
    // Groups that are on their way to the journal, newest first. This one is built upon them. They
    // must live until the last call of Add.
    std::span<const Group* const> earlier = {};
  };
  Group(const Context& context, ShardState state, storage::Batch* batch);

  // Adds the commit's rows to the batch if all its conditions hold; if not, leaves no trace.
  CommitResult Add(Commit& commit);
  // The same in two steps, for a commit with parts in several groups. After a Check that gave OK
  // comes one of the other two.
  CommitResult Check(Commit& commit);
  void Accept(const Commit& commit);
  void Reject();

  // Puts the shard's row into the batch and returns the state to publish.
  ShardState Finish();

  const ShardState& state() const { return state_; }
  uint64_t writes() const { return write_count_; }
  // The logged keyspaces that the group changed, sorted.
  std::vector<KeyspaceId> logged() const { return {logged_.begin(), logged_.end()}; }
  // The followers that got cursors, sorted.
  std::vector<std::string> new_followers() const {
    return {new_followers_.begin(), new_followers_.end()};
  }

 private:
  // A document's newest row as this commit sees it; view is null when there is none.
  struct Present {
    const DocumentView* view = nullptr;
    bool live = false;
  };
  // A write that passed its conditions.
  struct Staged {
    const Write* write = nullptr;
    const KeyspaceInfo* keyspace = nullptr;
    std::string row_key;
    DocumentView after;          // a tombstone for deletions
    Present before;              // looked up only if something depends on it
    ReadAhead* ahead = nullptr;  // the writer's view of `before`, if it still holds
    bool skip = false;           // it deletes a document that does not exist
    std::vector<std::pair<const Index*, std::vector<std::string>>> old_entries;
    std::vector<std::pair<const Index*, std::vector<std::string>>> new_entries;
    // The document's revisions: `before` becomes the revision of this number (0: none), these are
    // removed, and this is the new list (an empty one: no revisions are left).
    uint64_t revision = 0;
    std::vector<Revision> removed_revisions;
    std::optional<RevisionList> revisions;
    bool logged = false;
  };

  Status Validate(Commit& commit, CommitResult* result);
  Status CheckReads(const Commit& commit);
  Status CheckRange(const RangeCheck& range);
  Status CheckCursors(const Commit& commit);
  Status CheckRows(const Commit& commit);
  Status Stage(const Commit& commit, Write& write, WriteResult* result);
  Status StagePut(Write& write, Staged* staged, WriteResult* result);
  Status StageMutation(Write& write, Staged* staged, WriteResult* result);
  Status StageDelete(const Write& write, Staged* staged, WriteResult* result);
  Status CheckPrecondition(const Write& write, const Present& present) const;
  void LimitExpiry(const KeyspaceInfo& keyspace, Document* document) const;
  Status StageIndexes(Staged* staged);

  // Document types (group_types.cc).
  Status StageTyped(const Commit& commit, Write& write, Staged* staged, WriteResult* result);
  static bool StillPrepared(const Write& write, const DocumentPolicy& policy, const Staged& staged);
  Status ResolveMutation(Write& write, Staged* staged, WriteResult* result);
  Status Divert(const PreparedWrite& prepared, Write& write, Staged* staged, WriteResult* result);
  Status Settle(const DocumentPolicy::WriteContext& context, Write& write, Staged* staged);
  void TakeSettled(Write& write, Staged* staged);
  Status SettleDelete(const Write& write, Staged* staged);
  Result<RevisionList> Revisions(const Staged& staged);
  void KeepRevision(const DocumentPolicy::Settled& settled, RevisionList* list, Staged* staged);
  const DocumentView* AsRead(const Staged& staged, const DocumentView* document);
  void EmitRevisions(const Staged& staged);

  Status CheckUnique(CommitResult* result);
  Status Claim(const Index& index, const std::string& entry, const Staged& staged);
  Result<std::string> StoredHolder(const Index& index, const std::string& entry,
                                   const std::string& key);

  void EmitDocument(const Staged& staged);
  void EmitLog(const Commit& commit, const Staged& staged, bool last_of_keyspace, uint32_t* n);
  void EmitLogRow(const Change& change);
  void EmitIndexes(const Staged& staged);
  void EmitCursors(const Commit& commit);

  bool ChangedWithin(std::string_view from, std::string_view to, Sequence after) const;
  Result<Present> PresentOf(const Write& write, Staged* staged);
  Result<Present> Lookup(const std::string& row_key);
  Result<std::optional<std::string>> LookupRow(storage::Family family, const std::string& key);
  DocumentView Tombstone(bool expired);
  // The entry of the newest earlier group that has one; null if none has.
  template <typename Map>
  const Map::mapped_type* FindEarlier(Map Group::*map, const typename Map::key_type& key) const {
    for (const Group* group : context_.earlier) {
      const auto found = (group->*map).find(key);
      if (found != (group->*map).end()) return &found->second;
    }
    return nullptr;
  }

  const Context context_;
  ShardState state_;
  storage::Batch* const batch_;
  uint64_t write_count_ = 0;
  std::set<KeyspaceId> logged_;
  std::set<std::string> new_followers_;

  // The group so far.
  std::unordered_map<std::string, DocumentView> documents_;  // by row key
  std::map<std::pair<storage::Family, std::string>, std::optional<std::string>> rows_;
  // The key of the document that has an entry of a unique index since this group; empty: none has.
  std::unordered_map<std::string, std::string> claims_;
  std::deque<Document> made_;  // results of mutations; the views above point into it

  // The commit being added.
  ShardState state_before_;
  size_t made_before_ = 0;
  std::deque<Staged> staged_;
  std::unordered_map<std::string_view, const Staged*> staged_by_key_;  // if it has several writes
  std::unordered_map<std::string, std::string> staged_claims_;         // like claims_
  std::unordered_map<std::string, RevisionList> staged_revisions_;     // by row key of the document
  std::deque<Document> read_forms_;
  bool several_writes_ = false;
  std::deque<storage::PinnedValue> pinned_;
  std::deque<DocumentView> read_;
};

}  // namespace sluice::db
