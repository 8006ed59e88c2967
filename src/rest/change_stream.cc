#include "rest/change_stream.h"

#include <algorithm>
#include <utility>

#include "json/print.h"
#include "rest/document_http.h"
#include "rest/http_types.h"
#include "service/whole_reads.h"

namespace sluice::rest {

ChangeStream::ChangeStream(const ChangeStreamOptions& options)
    : values_(options.values), remaining_(options.limit) {
  position_.keyspace = options.keyspace;
}

Result<std::unique_ptr<ChangeStream>> ChangeStream::Open(db::Database& database,
                                                         ChangeStreamOptions options) {
  std::unique_ptr<ChangeStream> stream(new ChangeStream(options));
  if (options.values) service::NoteWholeRead(database, options.keyspace);
  RETURN_IF_ERROR(stream->Start(database, options));
  return stream;
}

Status ChangeStream::Start(db::Database& database, ChangeStreamOptions& options) {
  if (!options.since) {
    ASSIGN_OR_RETURN(reader_,
                     follow::KeyspaceReader::Open(database, options.keyspace, options.from));
  } else if (options.since->keyspace == options.keyspace &&
             options.since->shards.size() == database.shard_count()) {
    ASSIGN_OR_RETURN(reader_, follow::KeyspaceReader::OpenAt(database, options.keyspace,
                                                             std::move(options.since->shards)));
  } else {
    return Error(Code::kNotFound, "feed.history_gone",
                 "the collection is not the one that this event came from: it was dropped");
  }
  position_.shards = reader_->places();
  return OkStatus();
}

Result<size_t> ChangeStream::Read(Budget budget, std::string* out) {
  const size_t most = std::min<uint64_t>(budget.rows, remaining_);
  if (most == 0 || out->size() >= budget.bytes) return 0;
  const auto visit = [&](const db::Change& change) {
    position_.shards = reader_->places();
    AppendChange(change, out);
    --remaining_;
    return out->size() < budget.bytes;
  };
  ASSIGN_OR_RETURN(const size_t given, reader_->Read(most, visit));
  position_.shards = reader_->places();
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
