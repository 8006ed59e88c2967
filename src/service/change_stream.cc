#include "service/change_stream.h"

#include <algorithm>
#include <utility>

#include "service/whole_reads.h"

namespace sluice::service {

ChangeStream::ChangeStream(const ChangeStreamOptions& options) : remaining_(options.limit) {
  position_.keyspace = options.keyspace;
}

Result<std::unique_ptr<ChangeStream>> ChangeStream::Open(db::Database& database,
                                                         ChangeStreamOptions options) {
  std::unique_ptr<ChangeStream> stream(new ChangeStream(options));
  if (options.values) NoteWholeRead(database, options.keyspace);
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

Result<size_t> ChangeStream::Read(size_t most, const Visit& visit) {
  most = std::min<uint64_t>(most, remaining_);
  if (most == 0) return 0;
  ASSIGN_OR_RETURN(const size_t given, reader_->Read(most, [&](const db::Change& change) {
    position_.shards = reader_->places();
    --remaining_;
    return visit(change, position_);
  }));
  position_.shards = reader_->places();
  return given;
}

}  // namespace sluice::service
