// A model of a shard, as simple as possible. Tests compare the committer with it. One thread at a
// time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/commit.h"
#include "db/log.h"

namespace sluice::db {

// A commit as data: the test submits it, and the model applies it.
struct PlannedWrite {
  enum class Kind : uint8_t { kPut, kDelete, kCount, kAppend };
  Kind kind = Kind::kPut;
  std::string key;
  std::string body;  // kPut: the document, kAppend: what is added to it; empty removes it
  Precondition precondition;
  Cas stamp = 0;
};
struct PlannedCommit {
  ShardId shard = 0;
  std::vector<PlannedWrite> writes;
  std::vector<ReadCheck> reads;
  std::vector<RangeCheck> ranges;
  std::vector<RowWrite> rows;
  std::vector<CursorMove> moves;
};

inline std::string Appended(const std::string& body, const std::string& text) {
  return body.empty() ? "[" + text + "]" : "[" + body + "," + text + "]";
}

inline Commit ToCommit(const PlannedCommit& plan, KeyspaceId keyspace) {
  Commit commit;
  commit.shard = plan.shard;
  commit.reads = plan.reads;
  commit.ranges = plan.ranges;
  commit.rows = plan.rows;
  commit.cursor_moves = plan.moves;
  for (const PlannedWrite& write : plan.writes) {
    switch (write.kind) {
      case PlannedWrite::Kind::kPut: {
        Document document;
        document.body = write.body;
        document.cas = write.stamp;
        commit.writes.push_back(
            PutWrite(keyspace, write.key, std::move(document), write.precondition));
        break;
      }
      case PlannedWrite::Kind::kDelete:
        commit.writes.push_back(DeleteWrite(keyspace, write.key, write.precondition));
        break;
      case PlannedWrite::Kind::kCount:
        commit.writes.push_back(CounterWrite(keyspace, write.key, {.delta = 2, .initial = 1}));
        break;
      case PlannedWrite::Kind::kAppend: {
        Write append = DeleteWrite(keyspace, write.key, write.precondition);
        append.kind = Write::Kind::kMutate;
        append.mutation = [text = write.body](const DocumentView* present) -> Result<Mutated> {
          Mutated mutated;
          if (present != nullptr) mutated.document = present->Copy();
          mutated.document.body = Appended(mutated.document.body, text);
          mutated.remove = text.empty();
          return mutated;
        };
        commit.writes.push_back(std::move(append));
      }
    }
  }
  return commit;
}

struct ModelDocument {
  std::string body;
  bool live = false;
  Cas cas = 0;
  Sequence sequence = 0;
  bool operator==(const ModelDocument&) const = default;
};

class ShardModel {
 public:
  // Applies the submitted commits, in the order in which the committer answered, and expects the
  // answer that it gave.
  void Apply(const PlannedCommit& plan, const CommitResult& result) {
    ShardModel next = Draft();
    int failed = -1;
    const std::string expected = next.Try(plan, result, &failed);
    EXPECT_EQ(result.status.id(), expected) << result.status.ToString();
    EXPECT_EQ(result.failed_write, failed);
    if (!expected.empty()) {
      EXPECT_TRUE(result.writes.empty());
      return;
    }
    EXPECT_EQ(result.sequence, sequence + 1) << "sequences are dense";
    sequence = next.sequence;
    documents = std::move(next.documents);
    rows = std::move(next.rows);
    cursor = next.cursor;
    changes.insert(changes.end(), next.changes.begin(), next.changes.end());
  }

  Sequence sequence = 0;
  CursorState cursor;
  std::map<std::string, ModelDocument> documents;  // tombstones too
  std::map<std::string, std::string> rows;
  std::vector<std::string> changes;  // as a follower that needs everything must see them

 private:
  ShardModel Draft() const {
    ShardModel draft;
    draft.sequence = sequence + 1;
    draft.cursor = cursor;
    draft.documents = documents;
    draft.rows = rows;
    return draft;
  }

  // The id of the error that is due, or empty.
  std::string Try(const PlannedCommit& plan, const CommitResult& result, int* failed) {
    for (const ReadCheck& read : plan.reads) {
      const auto found = documents.find(read.key);
      if ((found == documents.end() ? 0 : found->second.sequence) != read.sequence) {
        return "transaction.conflict";
      }
    }
    for (const RangeCheck& range : plan.ranges) {
      for (const auto& [key, document] : documents) {
        const bool inside = key >= range.from && (range.to.empty() || key < range.to);
        if (inside && document.sequence > range.snapshot) return "transaction.conflict";
      }
    }
    for (const CursorMove& move : plan.moves) {
      if (move.expected != cursor) return "cursor.moved";
    }
    for (const RowWrite& row : plan.rows) {
      const auto found = rows.find(row.key);
      const auto present =
          found == rows.end() ? std::nullopt : std::optional<std::string>(found->second);
      if (row.expected && *row.expected != present) return "row.changed";
    }
    for (size_t i = 0; i < plan.writes.size(); ++i) {
      const WriteResult* answer = i < result.writes.size() ? &result.writes[i] : nullptr;
      const std::string error = TryWrite(plan.writes[i], answer);
      if (error.empty()) continue;
      *failed = static_cast<int>(i);
      return error;
    }
    for (const RowWrite& row : plan.rows) {
      if (row.value) {
        rows[row.key] = *row.value;
      } else {
        rows.erase(row.key);
      }
    }
    for (const CursorMove& move : plan.moves) cursor = move.next;
    return "";
  }

  std::string TryWrite(const PlannedWrite& write, const WriteResult* answer) {
    const auto found = documents.find(write.key);
    const ModelDocument before = found == documents.end() ? ModelDocument() : found->second;
    using Kind = Precondition::Kind;
    const Kind condition = write.precondition.kind;
    if (condition == Kind::kAbsent && before.live) return "document.exists";
    if ((condition == Kind::kPresent || condition == Kind::kCas) && !before.live) {
      return "document.not_found";
    }
    if (condition == Kind::kCas && before.cas != write.precondition.cas) {
      return "document.cas_mismatch";
    }
    // A commit that fails later on does not tell its stamps: they were newer than all before.
    const Cas unknown = write.stamp != 0 ? write.stamp : UINT64_MAX;
    ModelDocument after{before.body, true, answer == nullptr ? unknown : answer->cas, sequence};
    switch (write.kind) {
      case PlannedWrite::Kind::kPut:
        if (write.stamp != 0 && before.cas >= write.stamp) return "document.cas_behind";
        after.body = write.body;
        break;
      case PlannedWrite::Kind::kDelete:
        after.live = false;
        break;
      case PlannedWrite::Kind::kCount:
        after.body = before.live ? std::to_string(std::stoll(before.body) + 2) : "1";
        if (answer != nullptr) {
          EXPECT_EQ(answer->reply, after.body);
        }
        break;
      case PlannedWrite::Kind::kAppend:
        after.live = !write.body.empty();
        after.body = Appended(before.live ? before.body : "", write.body);
        break;
    }
    if (!after.live && !before.live) return "";  // a deletion of nothing
    if (!after.live) after.body.clear();
    if (answer != nullptr) {
      EXPECT_GT(after.cas, before.cas) << "a CAS only grows";
    }
    documents[write.key] = after;
    Log(write.key, before, after);
    return "";
  }

  void Log(const std::string& key, const ModelDocument& before, const ModelDocument& after) {
    std::string text = !after.live ? "delete" : before.live ? "update" : "insert";
    text += " " + key;
    if (before.live) text += " " + before.body;
    if (after.live) text += " -> " + after.body;
    changes.push_back(std::move(text));
  }
};

}  // namespace sluice::db
