#include "rest/change_stream.h"

#include <algorithm>
#include <utility>

#include "json/print.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "rest/whole_reads.h"

namespace sluice::rest {

ChangeStream::ChangeStream(db::Database& database, const ChangeStreamOptions& options)
    : database_(database), values_(options.values), remaining_(options.limit) {
  position_.keyspace = options.keyspace;
}

Result<std::unique_ptr<ChangeStream>> ChangeStream::Open(db::Database& database,
                                                         ChangeStreamOptions options) {
  std::unique_ptr<ChangeStream> stream(new ChangeStream(database, options));
  // From here on the log has every change, so that what is read now and what follows fit together.
  if (options.values) NoteWholeRead(database, options.keyspace);
  ASSIGN_OR_RETURN(stream->follows_, database.followers().FollowTransiently(options.keyspace));
  RETURN_IF_ERROR(stream->Start(options));
  return stream;
}

Status ChangeStream::Start(const ChangeStreamOptions& options) {
  const uint16_t shards = database_.shard_count();
  if (options.since) {
    if (options.since->keyspace != options.keyspace || options.since->shards.size() != shards) {
      return Error(Code::kNotFound, "feed.history_gone",
                   "the collection is not the one that this event came from: it was dropped");
    }
    position_ = *options.since;
  } else {
    for (uint16_t shard = 0; shard < shards; ++shard) {
      db::CursorState state;
      if (options.from == ChangeStreamOptions::From::kEverything) {
        ASSIGN_OR_RETURN(state, db::Feed::StartAfter(database_, shard, {options.keyspace}, 0));
      } else {
        state.position.sequence = database_.followers().LastSequence(shard);
      }
      position_.shards.push_back(std::move(state));
    }
  }
  for (uint16_t shard = 0; shard < shards; ++shard) {
    feeds_.push_back(std::make_unique<db::Feed>(
        database_, shard, std::vector<db::KeyspaceId>{options.keyspace}, position_.shards[shard]));
  }
  return OkStatus();
}

bool ChangeStream::InLog() const {
  for (size_t shard = 0; shard < position_.shards.size(); ++shard) {
    const db::CursorState& state = position_.shards[shard];
    if (state.backfilling ||
        !database_.followers().LogCovers(position_.keyspace, static_cast<db::ShardId>(shard),
                                         state.position.done())) {
      return false;
    }
  }
  return true;
}

Result<size_t> ChangeStream::Read(Budget budget, std::string* out) {
  size_t given = 0;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    const size_t shard = (next_shard_ + i) % feeds_.size();
    db::Feed& feed = *feeds_[shard];
    const size_t most = std::min<uint64_t>(budget.rows - given, remaining_);
    if (most == 0 || out->size() >= budget.bytes) break;
    const auto visit = [&](const db::Change& change) {
      position_.shards[shard] = feed.state();
      AppendChange(change, out);
      --remaining_;
      return out->size() < budget.bytes;
    };
    ASSIGN_OR_RETURN(const size_t read, feed.Read(most, visit));
    position_.shards[shard] = feed.state();
    given += read;
  }
  next_shard_ = (next_shard_ + 1) % feeds_.size();
  return given;
}

void ChangeStream::AppendChange(const db::Change& change, std::string* out) const {
  std::string data = R"({"key":)";
  json::AppendQuoted(change.key, &data);
  const std::string_view operation = db::OperationName(change.operation);
  fmt::format_to(std::back_inserter(data),
                 R"(,"operation":"{}","cas":"{}","sequence":{},"time":{})", operation, change.cas,
                 change.sequence, change.time_ms);
  if (change.after) {
    if (change.after->expiry_ms != 0) {
      fmt::format_to(std::back_inserter(data), R"(,"expiry":{})", change.after->expiry_ms);
    }
    if (values_ && !change.unreadable.ok()) {
      AppendErrorMember(change.unreadable, &data);
    } else if (values_) {
      AppendValueMember(*change.after, &data);
    }
  }
  data += '}';
  const std::string id = position_.ToText();
  EventStream::Append({.id = id, .event = operation, .data = data}, out);
}

}  // namespace sluice::rest
