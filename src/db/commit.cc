#include "db/commit.h"

#include <charconv>

namespace sluice::db {

size_t BytesOf(const Commit& commit) {
  size_t bytes = 256;
  for (const Write& write : commit.writes) {
    bytes += 64 + write.key.size() + write.document.body.size() + write.document.xattrs.size();
    if (write.prepared == nullptr || write.prepared->ahead == nullptr) continue;
    const ReadAhead& ahead = *write.prepared->ahead;
    bytes += sizeof(ahead) + ahead.present->body.size() + ahead.present->xattrs.size();
    if (ahead.settled.body) bytes += ahead.settled.body->size();
  }
  for (const RowWrite& row : commit.rows) {
    bytes += 64 + row.key.size() + (row.value ? row.value->size() : 0);
  }
  return bytes;
}

Write PutWrite(KeyspaceId keyspace, std::string key, Document document, Precondition precondition) {
  Write write;
  write.keyspace = keyspace;
  write.key = std::move(key);
  write.document = std::move(document);
  write.precondition = precondition;
  return write;
}

Write DeleteWrite(KeyspaceId keyspace, std::string key, Precondition precondition) {
  Write write;
  write.kind = Write::Kind::kDelete;
  write.keyspace = keyspace;
  write.key = std::move(key);
  write.precondition = precondition;
  return write;
}

Write TouchWrite(KeyspaceId keyspace, std::string key, uint64_t expiry_ms,
                 Precondition precondition) {
  Write write;
  write.kind = Write::Kind::kMutate;
  write.keyspace = keyspace;
  write.key = std::move(key);
  write.precondition = precondition;
  if (precondition.kind == Precondition::Kind::kNone) write.precondition = Precondition::Present();
  write.intent = Write::Intent::kTouch;
  write.mutation = [expiry_ms](const DocumentView* present) -> Result<Mutated> {
    Mutated mutated;
    mutated.document = present->Copy();
    mutated.document.expiry_ms = expiry_ms;
    return mutated;
  };
  return write;
}

namespace {

Result<int64_t> CounterValue(std::string_view body) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size()) {
    return Fail(Code::kInvalidArgument, "counter.not_number",
                "a counter's document must be a 64-bit integer such as 42, found '{}'",
                body.substr(0, 40));
  }
  return value;
}

Result<Mutated> Count(const CounterOptions& options, const DocumentView* present) {
  Mutated mutated;
  int64_t value = 0;
  if (present == nullptr) {
    if (!options.initial) {
      return Fail(Code::kNotFound, "document.not_found",
                  "there is no such counter, and no initial value was given");
    }
    value = *options.initial;
    mutated.document.expiry_ms = options.expiry_ms;
  } else {
    mutated.document = present->Copy();
    ASSIGN_OR_RETURN(const int64_t before, CounterValue(present->body));
    if (__builtin_add_overflow(before, options.delta, &value)) {
      return Fail(Code::kInvalidArgument, "counter.overflow",
                  "{} plus {} does not fit in a 64-bit integer", before, options.delta);
    }
  }
  mutated.document.body = std::to_string(value);
  mutated.document.datatype = Datatype::kJson;
  mutated.reply = mutated.document.body;
  return mutated;
}

}  // namespace

Write CounterWrite(KeyspaceId keyspace, std::string key, CounterOptions options) {
  Write write;
  write.kind = Write::Kind::kMutate;
  write.keyspace = keyspace;
  write.key = std::move(key);
  write.mutation = [options](const DocumentView* present) { return Count(options, present); };
  return write;
}

}  // namespace sluice::db
